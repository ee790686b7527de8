import { type Answer, describeAnswer, isServed, memberOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault } from '../outcome.ts'
import { describePosition, type Log, logsOf, positionOf } from './logs.ts'
import { quantity } from './values.ts'
import type { WayOfPaging } from '../options.ts'

/** One answer of eth_getLogs holds this many entries at most. */
export const pageLimit = 1000

/** A filter object of eth_getLogs. */
export type Filter = Readonly<Record<string, unknown>>

/** How a request writes the values of the keys. */
export type KeySpelling = 'as in the entry' | 'hex with 0x' | 'hex without 0x'

export interface Paging extends WayOfPaging {
  readonly spelling: KeySpelling
}

export const keySpellings: readonly KeySpelling[] = ['as in the entry', 'hex with 0x', 'hex without 0x']

/** Containers that known services use, the most likely first. */
const containers = ['paging_options', 'second', 'filter']
/** Other names that a container may have. */
const otherContainers = ['pagination_options', 'pagingOptions', 'paginationOptions', 'pagination', 'paging', 'page']
const strangeContainers = ['cursor', 'after', 'next_page_params', 'second.paging_options', 'second.pagination']
const otherThirdKeys = ['transactionHash', 'blockHash', 'transaction_index', 'address', 'limit=1000', 'pageSize=1000']

function ways(places: readonly string[], thirdKeys: readonly (string | undefined)[]): WayOfPaging[] {
  return places.flatMap((container) =>
    thirdKeys.map((thirdKey) => ({ container, ...(thirdKey === undefined ? {} : { thirdKey }) })),
  )
}

/** Every way that is known, the most likely first. */
export const knownWays: readonly Paging[] = [
  ...keySpellings.flatMap((spelling) =>
    ways(containers, [undefined, 'transactionIndex']).map((way) => ({ ...way, spelling })),
  ),
  ...ways([...otherContainers, ...strangeContainers], [undefined, 'transactionIndex']).map((way) => ({
    ...way,
    spelling: 'as in the entry' as const,
  })),
  ...ways(containers, otherThirdKeys).map((way) => ({ ...way, spelling: 'as in the entry' as const })),
]

export function describePaging({ container, thirdKey, spelling }: Paging): string {
  return `${container}${thirdKey === undefined ? '' : `:${thirdKey}`}, ${spelling}`
}

function spelt(value: unknown, number: bigint, spelling: KeySpelling): unknown {
  if (spelling === 'as in the entry') return value
  return spelling === 'hex with 0x' ? quantity(number) : number.toString(16)
}

function thirdOf(last: Log, thirdKey: string): Filter {
  const [name = thirdKey, ...value] = thirdKey.split('=')
  if (value.length > 0) return { [name]: /^\d+$/.test(value.join('=')) ? Number(value.join('=')) : value.join('=') }
  return { [name]: last[name] ?? '0x0' }
}

/** The keys that ask for the entries after this one. */
function keysAfter(last: Log, { thirdKey, spelling }: Paging): Filter {
  const { block, index } = positionOf(last)
  return {
    logIndex: spelt(last['logIndex'], index, spelling),
    blockNumber: spelt(last['blockNumber'], block, spelling),
    ...(thirdKey === undefined ? {} : thirdOf(last, thirdKey)),
  }
}

/** The parameters of eth_getLogs with these keys in this container. */
function paramsWith(filter: Filter, keys: Filter, container: string): readonly unknown[] {
  if (container === 'filter') return [{ ...filter, ...keys }]
  if (container === 'second') return [filter, keys]
  const [first, name] = container.split('.')
  if (first === 'second' && name !== undefined) return [filter, { [name]: keys }]
  return [{ ...filter, [container]: keys }]
}

/** The parameters that ask for the page after an entry. */
export function nextParams(filter: Filter, last: Log, paging: Paging): readonly unknown[] {
  return paramsWith(filter, keysAfter(last, paging), paging.container)
}

/**
 * The same parameters with keys that no entry has, and with one key alone. A target that reads the keys, and insists on having
 * all of them, refuses both or answers something else.
 */
export function unfitParams(filter: Filter, last: Log, { container }: Paging): readonly (readonly unknown[])[] {
  return [{ logIndex: 'no index', blockNumber: 'no number' }, { blockNumber: last['blockNumber'] }].map((keys) =>
    paramsWith(filter, keys, container),
  )
}

/** Asks for the page after an entry. */
export function askPageAfter(t: CheckContext, filter: Filter, last: Log, paging: Paging): Promise<Answer> {
  return t.rpc.call('eth_getLogs', nextParams(filter, last, paging))
}

/** The entries of an answer; undefined when the answer is no list of entries that tell their place. */
export function entriesOf(answer: Answer): Log[] | undefined {
  if (!isServed(answer)) return undefined
  try {
    const entries = logsOf(memberOf(answer, 'result'))
    entries.forEach(positionOf)
    return entries
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** One line on an answer to a page request. */
export function describePage(answer: Answer): string {
  const entries = entriesOf(answer)
  const [first] = entries ?? []
  if (entries === undefined) return describeAnswer(answer)
  return first ? `${entries.length} entries that begin at ${describePosition(positionOf(first))}` : 'an empty list'
}
