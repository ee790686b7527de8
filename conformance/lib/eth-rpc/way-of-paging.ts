import { type Answer, isServed } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { firstPage, type FirstPage } from './first-page.ts'
import { plainKinds, shortRange } from './known-filters.ts'
import { comparePositions, type Log, placeOf, positionOf } from './logs.ts'
import {
  askPageAfter,
  brokenParams,
  describePage,
  describePaging,
  entriesOf,
  knownWays,
  nextParams,
  type Paging,
  keySpellings,
  pageLimit,
} from './paging.ts'

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

/** Whether the target reads the container: it then answers impossible keys in another way. */
async function isRead(t: CheckContext, { filter, page }: FirstPage, paging: Paging): Promise<boolean> {
  const answer = await t.rpc.call('eth_getLogs', brokenParams(filter, paging))
  const entries = entriesOf(answer)
  return entries === undefined || entries.length !== page.length
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
    if (attempt && container !== 'filter' && (await isRead(t, first, attempt.paging))) {
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
