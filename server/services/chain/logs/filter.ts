import type { BlockParam } from '../chain.ts'
import type { Log } from '../project/log.ts'

/** The filter object of eth_getLogs, valid against its schema. */
export interface LogFilter {
  readonly fromBlock?: BlockParam
  readonly toBlock?: BlockParam
  readonly blockHash?: string
  readonly address?: null | string | readonly string[]
  readonly topics?: null | readonly (null | string | readonly string[])[]
  readonly paging_options?: { readonly logIndex: string; readonly blockNumber: string }
}

/** Which logs, apart from their place in the chain; the same selection has the same key, however it was written. */
export interface LogSelection {
  readonly key: string
  /** Lower case, sorted, without repeats; none: any address. */
  readonly addresses: readonly string[]
  /** By position: alternatives, in the same form; none: any topic, but there must be one (as in geth). */
  readonly topics: readonly (readonly string[])[]
}

export function selectionOf({ address, topics }: LogFilter): LogSelection {
  return createSelection(listOf(address), (topics ?? []).map(listOf))
}

export function createSelection(addresses: LogSelection['addresses'], topics: LogSelection['topics']): LogSelection {
  // A position without alternatives still is one: `[null]` is not `[]`.
  return { key: addresses.join() + topics.map((one) => `|${one.join()}`).join(''), addresses, topics }
}

/** The part of a filter that nodes agree on: no empty list, no wildcard at the end, one alternative as itself. */
export function toNodeFilter({ addresses, topics }: LogSelection): Record<string, unknown> {
  const last = topics.findLastIndex((alternatives) => alternatives.length > 0)
  return {
    ...(addresses.length > 0 && { address: oneOrList(addresses) }),
    ...(last >= 0 && { topics: topics.slice(0, last + 1).map((one) => (one.length === 0 ? null : oneOrList(one))) }),
  }
}

/** Whether a log is one that was asked for. Nodes disagree on wildcards and on logs with fewer topics. */
export function matches({ addresses, topics }: LogSelection, log: Log): boolean {
  return (
    (addresses.length === 0 || addresses.includes(log.address)) &&
    log.topics.length >= topics.length &&
    topics.every((alternatives, position) => {
      return alternatives.length === 0 || alternatives.includes(log.topics[position] ?? '')
    })
  )
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
