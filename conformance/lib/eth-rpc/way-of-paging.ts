import type { CheckContext } from '../context.ts'
import { isServed } from '../expect-rpc.ts'
import { Fault, Untestable } from '../outcome.ts'
import { firstPage, longKinds, type FirstPage } from './first-page.ts'
import { pageLimit, shortRange } from './long-filters.ts'
import { positionOf } from './logs.ts'
import { askPageAfter, describePage, describePaging, isPageAfter, waysOfPaging, type Paging } from './paging.ts'

/** What came of the search for the way in which the target pages. */
export interface WayOfPaging {
  /** Undefined when none of the ways leads to the next page. */
  readonly paging: Paging | undefined
  /** What came back, and which ways were tried in vain with that outcome. */
  readonly tried: ReadonlyMap<string, readonly string[]>
}

/**
 * @throws Fault when what selects more than a page is refused, and what selects less is served
 * @throws Untestable when neither is served
 */
async function anyFirstPage(t: CheckContext): Promise<FirstPage> {
  const refusals: string[] = []
  for (const kind of longKinds) {
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
    `a filter that selects more than ${pageLimit} logs has no first page, one that selects fewer is served`,
    {
      expected: `the first page, of at most ${pageLimit} entries`,
      actual: refusals.join('; '),
    },
  )
}

async function search(t: CheckContext): Promise<WayOfPaging> {
  const { filter, last, next } = await anyFirstPage(t)
  const tried = new Map<string, string[]>()
  for (const paging of waysOfPaging) {
    const answer = await askPageAfter(t, filter, last, paging)
    if (isPageAfter(answer, last, positionOf(next))) return { paging, tried }
    // The id differs from request to request, and says nothing here.
    const outcome = describePage(answer).replace(/"id":\d+,?/, '')
    tried.set(outcome, [...(tried.get(outcome) ?? []), describePaging(paging)])
  }
  return { paging: undefined, tried }
}

/**
 * Finds out how the target takes the pagination options: the first way that leads to the page after the last entry of
 * the first one. Searched once in a run.
 *
 * @throws Fault, Untestable when there is no first page to go on from
 */
export function findWayOfPaging(t: CheckContext): Promise<WayOfPaging> {
  return t.once('eth-rpc.way-of-paging', search)
}

/** The way, for checks of what else holds of it. @throws Untestable when there is none */
export async function requireWayOfPaging(t: CheckContext): Promise<Paging> {
  const { paging, tried } = await findWayOfPaging(t).catch((error: unknown) => {
    throw error instanceof Fault ? new Untestable(error.message) : error
  })
  if (!paging) throw new Untestable(`no way to the next page was found: ${[...tried.keys()][0]}`)
  return paging
}
