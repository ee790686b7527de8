import type { Log, LogFilter } from '../../../../specs/index.ts'
import { createHash } from 'node:crypto'
import { ServiceError } from '../../../core/errors.ts'

/** What a filter says about logs, without the blocks. Two spellings of the same selection have the same key. */
export interface LogSelection {
  readonly key: string
  /** Lower case, sorted, without repeats. An empty list stands for any address. */
  readonly addresses: readonly string[]
  /**
   * The alternatives for each position, in the same form. An empty list stands for any topic, but the log must have a
   * topic at this position (as in geth).
   */
  readonly topics: readonly (readonly string[])[]
}

/** The most addresses and topics of a filter together: geth takes 1,000 in a list, and there are five lists. */
const MOST_ALTERNATIVES = 5_000
/** The most characters of a key. A longer one is replaced by its hash, because keys are kept in memory. */
const LONGEST_KEY = 500

/** @throws ServiceError RPC_INVALID_PARAMS the filter has more than 5,000 addresses and topics */
export function selectionOf({ address, topics }: LogFilter): LogSelection {
  const lists = [address, ...(topics ?? [])]
  const alternatives = lists.reduce(
    (sum, list) => sum + (Array.isArray(list) ? list.length : Number(typeof list === 'string')),
    0,
  )
  if (alternatives > MOST_ALTERNATIVES) {
    const reason = `params/0 holds ${alternatives} addresses and topics, the most are ${MOST_ALTERNATIVES}`
    throw new ServiceError('RPC_INVALID_PARAMS', reason, { details: { field: 'params/0' } })
  }
  return createSelection(listOf(address), (topics ?? []).map(listOf))
}

function createSelection(addresses: LogSelection['addresses'], topics: LogSelection['topics']): LogSelection {
  // A position without alternatives counts: `[null]` asks for a topic, `[]` does not.
  const key = addresses.join() + topics.map((one) => `|${one.join()}`).join('')
  return { key: key.length > LONGEST_KEY ? digestOf(key) : key, addresses, topics }
}

const digestOf = (key: string) => createHash('sha256').update(key).digest('base64')

/**
 * @returns a function that tells whether the filter asked for a log. Nodes disagree on wildcards and on logs with fewer
 *   topics, so their answers are filtered again
 */
export function matcherOf({ addresses, topics }: LogSelection): (log: Log) => boolean {
  const [anyAddress, ...anyTopics] = [addresses, ...topics].map((list) => new Set(list))
  return (log) =>
    (anyAddress?.size === 0 || anyAddress?.has(log.address) === true) &&
    log.topics.length >= anyTopics.length &&
    anyTopics.every((alternatives, position) => {
      return alternatives.size === 0 || alternatives.has(log.topics[position] ?? '')
    })
}

/**
 * Divides a selection for a node that takes lists of at most `longest` entries. Only the longest list is divided. Any other
 * list that is too long is left out, because dividing several lists would multiply the number of calls. So the parts
 * together may find more logs than the selection, and {@link matcherOf} removes those.
 */
export function partsOf({ addresses, topics }: LogSelection, longest: number): readonly LogSelection[] {
  const lists = [addresses, ...topics]
  const widest = lists.reduce((best, list, index) => (list.length > (lists[best]?.length ?? 0) ? index : best), 0)
  const short = lists.map((list, index) => (index === widest || list.length <= longest ? list : []))
  const list = lists[widest] ?? []
  return Array.from({ length: Math.max(1, Math.ceil(list.length / longest)) }, (_, part) => {
    const [first = [], ...others] = short.with(widest, list.slice(part * longest, (part + 1) * longest))
    return createSelection(first, others)
  })
}

/**
 * Writes a selection in the form that all nodes read alike: no empty list, no wildcard at the end, a single alternative
 * without a list.
 */
export function toNodeFilter({ addresses, topics }: LogSelection): Record<string, unknown> {
  const last = topics.findLastIndex((alternatives) => alternatives.length > 0)
  return {
    ...(addresses.length > 0 && { address: oneOrList(addresses) }),
    ...(last >= 0 && { topics: topics.slice(0, last + 1).map((one) => (one.length === 0 ? null : oneOrList(one))) }),
  }
}

/**
 * Divides a selection into two, by address, or else by the position with the most alternatives.
 *
 * @returns undefined when it cannot be divided
 */
export function divide({ addresses, topics }: LogSelection): [LogSelection, LogSelection] | undefined {
  if (addresses.length > 1) {
    const [first, second] = halves(addresses)
    return [createSelection(first, topics), createSelection(second, topics)]
  }
  const widest = topics.reduce((best, one, position) => (one.length > (topics[best]?.length ?? 0) ? position : best), 0)
  const alternatives = topics[widest] ?? []
  if (alternatives.length < 2) return undefined
  const [first, second] = halves(alternatives)
  return [
    createSelection(addresses, topics.with(widest, first)),
    createSelection(addresses, topics.with(widest, second)),
  ]
}

function listOf(value: null | undefined | string | readonly string[]): readonly string[] {
  if (value === null || value === undefined) return []
  if (typeof value === 'string') return [value.toLowerCase()]
  return [...new Set(value.map((one) => one.toLowerCase()))].sort()
}

const oneOrList = (list: readonly string[]) => (list.length === 1 ? list[0] : list)

function halves<T>(list: readonly T[]): [readonly T[], readonly T[]] {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}
