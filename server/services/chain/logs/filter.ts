import type { Log, LogFilter } from '../../../../specs/index.ts'
import { createHash } from 'node:crypto'
import { ServiceError } from '../../../core/errors.ts'

/** Which logs, apart from their place in the chain; the same selection has the same key, however it was written. */
export interface LogSelection {
  readonly key: string
  /** Lower case, sorted, without repeats; none: any address. */
  readonly addresses: readonly string[]
  /** By position: alternatives, in the same form; none: any topic, but there must be one (as in geth). */
  readonly topics: readonly (readonly string[])[]
}

/** The most addresses and topics of a filter, in all: what geth takes of each list, 1,000, for all five. */
const MOST_ALTERNATIVES = 5_000
/** A longer key is told by its hash: keys are kept with what is remembered of a selection. */
const LONGEST_KEY = 500

/** @throws ServiceError RPC_INVALID_PARAMS more addresses and topics than are looked for at once */
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
  // A position without alternatives still is one: `[null]` is not `[]`.
  const key = addresses.join() + topics.map((one) => `|${one.join()}`).join('')
  return { key: key.length > LONGEST_KEY ? digestOf(key) : key, addresses, topics }
}

const digestOf = (key: string) => createHash('sha256').update(key).digest('base64')

/** Whether a log is one that was asked for. Nodes disagree on wildcards and on logs with fewer topics. */
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
 * What to ask a node for that takes lists of so many: selections that together hold this one, and more. Only the longest
 * list is divided; others that are too long are left open, since the product of all parts would have no bound. What comes in
 * addition is for {@link matcherOf} to find.
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

/** The part of a filter that nodes agree on: no empty list, no wildcard at the end, one alternative as itself. */
export function toNodeFilter({ addresses, topics }: LogSelection): Record<string, unknown> {
  const last = topics.findLastIndex((alternatives) => alternatives.length > 0)
  return {
    ...(addresses.length > 0 && { address: oneOrList(addresses) }),
    ...(last >= 0 && { topics: topics.slice(0, last + 1).map((one) => (one.length === 0 ? null : oneOrList(one))) }),
  }
}

/**
 * Two selections that together are this one, or undefined when it cannot be divided: by address, else by the position
 * with the most alternatives.
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
