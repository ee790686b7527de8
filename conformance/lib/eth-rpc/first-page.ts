import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, isServed, memberOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { type KnownFilter, longFilters, type LongKind, plainKinds, shortRange } from './filters.ts'
import {
  comparePositions,
  describePosition,
  expectSameLog,
  type Log,
  logsOf,
  placeOf,
  type Position,
  positionOf,
} from './logs.ts'
import {
  askPageAfter,
  describePage,
  describePaging,
  entriesOf,
  keySpellings,
  knownWays,
  nextParams,
  pageLimit,
  type Paging,
  unfitParams,
} from './paging.ts'

/**
 * Compares pages with the chain as they come. The document shows no order, so a rising and a falling one are both
 * right.
 */
interface Gathering {
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
 * @param known the logs that the filter selects, in the order of the chain
 * @param of the clause that fails for a wrong first page, and the clause that fails for a wrong later page
 */
function createGathering({ truth, upTo }: KnownFilter, of: { first: ClauseId; later: ClauseId }): Gathering {
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
      const judged = upTo === undefined ? page : page.filter((log) => positionOf(log).block <= upTo)
      if (judged.length === 0 && page.length > 0) return
      for (const log of judged) addEntry(log, answer)
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
  known: KnownFilter,
  answer: Answer,
  later: ClauseId = 'eth-rpc.eth_getLogs.next-page',
): { gathering: Gathering; page: Log[] } {
  const first = 'eth-rpc.eth_getLogs.success'
  const page = logsOf(memberOf(answer, 'result'), { answer, of: first })
  const gathering = createGathering(known, { first, later })
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

/**
 * The first page of a filter that selects more than one.
 *
 * @throws Fault when the target refuses a filter with more than a page of logs and serves one with fewer
 * @throws Untestable when the target serves neither
 */
async function anyFirstPage(t: CheckContext): Promise<FirstPage> {
  const refusals: string[] = []
  for (const kind of plainKinds) {
    try {
      return await firstPage(t, kind)
    } catch (error) {
      if (!(error instanceof Untestable)) throw error
      refusals.push(error.message)
    }
  }
  const short = await shortRange(t)
  const twin = await t.rpc.call('eth_getLogs', [short.filter])
  if (!isServed(twin)) throw new Untestable(`no logs are served: ${describePage(twin)}`)
  throw new Fault(
    `the target serves a filter that selects fewer than ${pageLimit} logs, and no first page of one that selects more`,
    {
      expected: `the first page, of at most ${pageLimit} entries`,
      actual: refusals.join('; '),
      of: 'eth-rpc.eth_getLogs.next-page',
    },
  )
}

/** The entries that are also on the first page. */
function seenOn(page: readonly Log[], entries: readonly Log[]): readonly Log[] {
  const places = new Set(page.map(placeOf))
  return entries.filter((entry) => places.has(placeOf(entry)))
}

/** Whether the answer is the page after the first: it holds the chain's next entry, and no entry of the first page. */
export function isNextPage(answer: Answer, { page, next }: FirstPage): boolean {
  const entries = entriesOf(answer) ?? []
  const hasNext = entries.some((entry) => comparePositions(positionOf(entry), next) === 0)
  return hasNext && seenOn(page, entries).length === 0
}

type Meaning = 'refused' | 'the first page again' | 'another page'

/** What an answer that is not the next page says of the container that held the keys. */
function meaningOf(answer: Answer, { page }: FirstPage, { container }: Paging): Meaning {
  const entries = entriesOf(answer)
  if (entries === undefined) return 'refused'
  const seen = seenOn(page, entries).length
  if (entries.length === page.length && seen === entries.length) return 'the first page again'
  // A key among the members of the filter may be read as a condition of the filter, so the answer need not be a page.
  return container === 'filter' && (entries.length === 0 || seen > 0) ? 'refused' : 'another page'
}

function wrongPage(answer: Answer, first: FirstPage, paging: Paging): Fault {
  return new Fault(
    `the target reads the keys of the last entry (${describePaging(paging)}), and they do not lead to the next page`,
    {
      expected: `what comes after the last entry: block ${first.next.block}, log ${first.next.index}`,
      actual: describePage(answer),
      answer,
      of: 'eth-rpc.eth_getLogs.next-page',
    },
  )
}

interface Attempt {
  readonly paging: Paging
  readonly answer: Answer
  readonly meaning: Meaning
}

/** The ways to try: the one that the user gave, in each spelling, or all known ones. No two send the same request. */
function waysFor(t: CheckContext, { filter, last }: FirstPage): Paging[] {
  const ways = t.paging ? keySpellings.map((spelling) => ({ ...t.paging, spelling }) as Paging) : knownWays
  return [...new Map(ways.map((way) => [JSON.stringify(nextParams(filter, last, way)), way] as const)).values()]
}

/**
 * Whether the target reads the keys and insists on them: it then answers unfit ones in another way. A target that begins
 * again where one of two keys is missing does so for want of the third one too, which the document does not show.
 */
async function insistsOnKeys(t: CheckContext, { filter, page, last }: FirstPage, paging: Paging): Promise<boolean> {
  for (const params of unfitParams(filter, last, paging)) {
    const entries = entriesOf(await t.rpc.call('eth_getLogs', params))
    if (entries !== undefined && entries.length === page.length) return false
  }
  return true
}

/**
 * @throws Fault when the target reads a container and does not go on to the next page; Untestable when no way shows
 * anything
 */
async function search(t: CheckContext): Promise<Paging> {
  const first = await anyFirstPage(t)
  const attempts: Attempt[] = []
  for (const paging of waysFor(t, first)) {
    const answer = await askPageAfter(t, first.filter, first.last, paging)
    if (isNextPage(answer, first)) return paging
    attempts.push({ paging, answer, meaning: meaningOf(answer, first, paging) })
  }
  const wrong = attempts.find(({ meaning }) => meaning === 'another page') ?? (t.paging ? attempts[0] : undefined)
  if (wrong) throw wrongPage(wrong.answer, first, wrong.paging)
  const again = attempts.filter(({ meaning }) => meaning === 'the first page again')
  for (const container of new Set(again.map(({ paging }) => paging.container))) {
    const attempt = again.find(({ paging }) => paging.container === container)
    if (attempt && container !== 'filter' && (await insistsOnKeys(t, first, attempt.paging))) {
      throw wrongPage(attempt.answer, first, attempt.paging)
    }
  }
  const tried = [...new Set(attempts.map(({ paging }) => paging.container))]
  const keys = [...new Set(attempts.flatMap(({ paging }) => paging.thirdKey ?? []))]
  throw new Untestable(
    `no way to the next page was found; the document shows neither the container nor the third key; tried ` +
      `${tried.join(', ')}, alone and with ${keys.join(', ')} as a third key; --paging <container>[:<third key>] tells the way`,
  )
}

/**
 * How the target takes the pagination options: the first way that leads to the page after the first. Searched once
 * in a run.
 *
 * @throws Fault of eth_getLogs.next-page, or of a sentence that a first page breaks; Untestable when no way is found
 */
export function findWayOfPaging(t: CheckContext): Promise<Paging> {
  return t.once('eth-rpc.way-of-paging', search)
}
