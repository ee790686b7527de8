import { describe, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { isServed, served } from '../expect-rpc.ts'
import { Fault } from '../outcome.ts'
import { comparePositions, describePosition, isBefore, logsOf, positionOf, type Log, type Position } from './logs.ts'
import { quantity } from './quantity.ts'

/** A filter object of eth_getLogs. */
export type Filter = Readonly<Record<string, unknown>>

/** How the values of the keys are written. */
export type KeySpelling = 'as in the entry' | 'hex with 0x' | 'hex without 0x'

/**
 * Where the keys are put and which. The document says that the request is repeated "with pagination options" and does
 * not show where these sit, nor the third of the three parameters that it says are required.
 */
export interface Paging {
  readonly place: 'paging_options of the filter' | 'second parameter' | 'filter'
  readonly thirdKey: boolean
  readonly spelling: KeySpelling
}

const places: readonly Paging['place'][] = ['paging_options of the filter', 'second parameter', 'filter']
const spellings: readonly KeySpelling[] = ['as in the entry', 'hex with 0x', 'hex without 0x']

/** Every way that a target may mean, the likeliest first. */
export const waysOfPaging: readonly Paging[] = spellings.flatMap((spelling) =>
  places.flatMap((place) => [false, true].map((thirdKey) => ({ place, thirdKey, spelling }))),
)

export function describePaging({ place, thirdKey, spelling }: Paging): string {
  return `${place}, ${thirdKey ? 'three' : 'two'} keys, ${spelling}`
}

function spelt(value: unknown, number: bigint, spelling: KeySpelling): unknown {
  if (spelling === 'as in the entry') return value
  return spelling === 'hex with 0x' ? quantity(number) : number.toString(16)
}

/** The keys that ask for what comes after an entry. */
function keysAfter(last: Log, { thirdKey, spelling }: Paging): Filter {
  const { block, index } = positionOf(last)
  return {
    logIndex: spelt(last['logIndex'], index, spelling),
    blockNumber: spelt(last['blockNumber'], block, spelling),
    ...(thirdKey ? { transactionIndex: last['transactionIndex'] ?? '0x0' } : {}),
  }
}

/** Asks for the page after an entry. */
export function askPageAfter(t: CheckContext, filter: Filter, last: Log, paging: Paging): Promise<Answer> {
  const keys = keysAfter(last, paging)
  const params = {
    'paging_options of the filter': [{ ...filter, paging_options: keys }],
    'second parameter': [filter, keys],
    filter: [{ ...filter, ...keys }],
  }[paging.place]
  return t.rpc.call('eth_getLogs', params)
}

/**
 * Whether the answer is the page after an entry: all of it lies strictly after, and what the chain has next is the
 * first of it. In which order it stands there is a matter of its own.
 */
export function isPageAfter(answer: Answer, last: Log, next: Position): boolean {
  if (!isServed(answer)) return false
  try {
    const [first] = logsOf(served(answer)).map(positionOf).sort(comparePositions)
    return first !== undefined && isBefore(positionOf(last), first) && comparePositions(first, next) === 0
  } catch (error) {
    // What is no list of entries is no page.
    if (error instanceof Fault) return false
    throw error
  }
}

/** One line on an answer to a page request. */
export function describePage(answer: Answer): string {
  if (!isServed(answer)) return describe(answer)
  try {
    const entries = logsOf(served(answer))
    const [first] = entries
    return first ? `${entries.length} entries that begin at ${describePosition(positionOf(first))}` : 'an empty list'
  } catch (error) {
    if (error instanceof Fault) return describe(answer)
    throw error
  }
}
