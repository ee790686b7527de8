import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, isServed, memberOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { type KnownFilter, longFilters, type LongKind } from './known-filters.ts'
import { describePosition, expectSameLog, type Log, logsOf, placeOf, type Position, positionOf } from './logs.ts'
import { describePage, pageLimit } from './paging.ts'

/**
 * Compares pages with the chain as they come. The document shows no order, so a rising and a falling one are both
 * right.
 */
export interface Gathering {
  /**
   * Adds a page.
   *
   * @throws Fault when the page holds an entry that this page must not hold, or lacks one
   */
  add(page: readonly Log[], answer: Answer): void
  /** How many entries the pages so far hold. */
  readonly count: number
  readonly isComplete: boolean
  /** The entry that the next page must hold; undefined when the pages are complete. */
  readonly next: Position | undefined
}

/** @throws Fault when the page holds more entries than a page may */
function requireLength(page: readonly Log[], number: number, answer: Answer): void {
  if (page.length <= pageLimit) return
  throw new Fault(`page ${number} holds more entries than a page may`, {
    expected: `at most ${pageLimit} entries`,
    actual: `${page.length} entries`,
    answer,
    of: 'eth-rpc.eth_getLogs.max-1000',
  })
}

/**
 * @param truth the logs that the filter selects, in the order of the chain
 * @param of the clause that fails for a wrong first page, and the clause that fails for a wrong later page
 */
export function createGathering(truth: readonly Log[], of: { first: ClauseId; later: ClauseId }): Gathering {
  const places = new Map(truth.map((log, place) => [placeOf(log), place]))
  const seen = new Set<number>()
  let pages = 0
  let [lowest, highest] = [truth.length, -1]

  const isRising = (): boolean => seen.size === 0 || lowest === 0
  const nextPlace = (): number => (isRising() ? seen.size : truth.length - seen.size - 1)
  const nextPosition = (): Position | undefined => {
    const log = seen.size < truth.length ? truth[nextPlace()] : undefined
    return log && positionOf(log)
  }

  function addEntry(log: Log, answer: Answer): void {
    const position = positionOf(log)
    const place = places.get(placeOf(log))
    const shown = { answer, of: pages === 1 ? of.first : of.later, actual: describePosition(position) }
    const expected = truth[place ?? -1]
    if (place === undefined || !expected) {
      const what = 'only what the filter selects on the chain'
      throw new Fault(`page ${pages} holds an entry that the filter does not select`, { ...shown, expected: what })
    }
    if (seen.has(place)) {
      const next = nextPosition()
      const what = next ? `what comes after the page before: ${describePosition(next)}` : 'nothing more'
      throw new Fault(`page ${pages} repeats an entry of an earlier page`, { ...shown, expected: what })
    }
    const what = `the entry at ${describePosition(position)}`
    expectSameLog(what, expected, log, { answer, of: 'eth-rpc.eth_getLogs.success' })
    seen.add(place)
    lowest = Math.min(lowest, place)
    highest = Math.max(highest, place)
  }

  return {
    add(page, answer) {
      pages += 1
      requireLength(page, pages, answer)
      for (const log of page) addEntry(log, answer)
      const isWhole = highest - lowest + 1 === seen.size && (lowest === 0 || highest === truth.length - 1)
      if (page.length === 0 ? seen.size === truth.length : isWhole) return
      const missing = truth.find((_log, place) => !seen.has(place) && (lowest > 0 ? place > lowest : true))
      const expected = page.length === 0 ? nextPosition() : missing && positionOf(missing)
      throw new Fault(
        page.length === 0 ? `page ${pages} is empty before the end` : `page ${pages} leaves entries out`,
        {
          expected: expected ? describePosition(expected) : 'the entries of the chain',
          actual: `${seen.size} of ${truth.length} entries have come`,
          answer,
          of: pages === 1 ? of.first : of.later,
        },
      )
    },
    get count() {
      return seen.size
    },
    get isComplete() {
      return seen.size === truth.length
    },
    get next() {
      return nextPosition()
    },
  }
}

/** A walk takes this many pages at most. A target may have smaller pages than the 1000 entries that are allowed. */
export const maxPages = 120

/** A filter that selects more than a page, and its first page. */
export interface FirstPage extends KnownFilter {
  readonly answer: Answer
  readonly page: readonly Log[]
  readonly last: Log
  /** The entry that the next page must hold. */
  readonly next: Position
}

/**
 * Compares the first page with the chain.
 *
 * @param later the clause that fails when a later page is not right
 * @throws Fault when the page is not the first of the chain's entries, or longer than a page
 */
export function compareFirstPage(
  { truth }: KnownFilter,
  answer: Answer,
  later: ClauseId = 'eth-rpc.eth_getLogs.next-page',
): { gathering: Gathering; page: Log[] } {
  const first = 'eth-rpc.eth_getLogs.success'
  const page = logsOf(memberOf(answer, 'result'), { answer, of: first })
  const gathering = createGathering(truth, { first, later })
  gathering.add(page, answer)
  return { gathering, page }
}

/**
 * The filter to walk: it selects more than a page and no more pages than a walk takes. The longest such filter;
 * otherwise the shortest of the longer ones.
 */
function fitting(all: readonly KnownFilter[], widest: KnownFilter, pageSize: number): KnownFilter {
  if (widest.truth.length <= maxPages * pageSize) return widest
  const longer = all.filter(({ truth }) => truth.length > pageSize && truth.length < widest.truth.length)
  return longer.find(({ truth }) => truth.length <= maxPages * pageSize) ?? longer.at(-1) ?? widest
}

/**
 * The first page of a filter that selects more than one. Asked for once in a run.
 *
 * @throws Untestable when the target serves no such page; Fault when the page is wrong
 */
export function firstPage(t: CheckContext, kind: LongKind): Promise<FirstPage> {
  return t.once(`eth-rpc.first-page ${kind}`, async (shared) => {
    const { long, all } = await longFilters(shared, kind)
    const refusals: string[] = []
    for (const known of long) {
      const answer = await shared.rpc.call('eth_getLogs', [known.filter])
      if (!isServed(answer)) {
        refusals.push(describePage(answer))
        continue
      }
      const { page } = compareFirstPage(known, answer)
      const chosen = fitting(all, known, page.length)
      if (chosen === known) return pageOf(known, answer)
      return pageOf(chosen, await shared.rpc.call('eth_getLogs', [chosen.filter]))
    }
    throw new Untestable(`no first page ${kind} is served: ${refusals.join('; ')}`)
  })
}

function pageOf(known: KnownFilter, answer: Answer): FirstPage {
  if (!isServed(answer)) throw new Untestable(`the first page is not served: ${describePage(answer)}`)
  const { gathering, page } = compareFirstPage(known, answer)
  const { next } = gathering
  const last = page.at(-1)
  if (!last || !next) throw new Untestable('there is no page after the first')
  return { ...known, answer, page, last, next }
}
