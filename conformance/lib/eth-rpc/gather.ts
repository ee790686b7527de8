import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, isServed, memberOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { compareFirstPage, findWayOfPaging, firstPage, maxPages } from './first-page.ts'
import { type KnownFilter, plainKinds, shortRange } from './filters.ts'
import { type Log, logsOf } from './logs.ts'
import { askPageAfter, describePage, type Paging } from './paging.ts'
import { expectServed } from './serve.ts'

/** The pages of a walk. */
export interface Gathered {
  /** Only the last page may be empty. */
  readonly pages: readonly (readonly Log[])[]
  /** Whether the pages hold all entries of the chain. If not, the walk is right as far as it went. */
  readonly isComplete: boolean
}

async function nextPage(t: CheckContext, filter: KnownFilter['filter'], last: Log, paging: Paging): Promise<Answer> {
  const answer = await askPageAfter(t, filter, last, paging)
  if (isServed(answer)) return answer
  const again = await askPageAfter(t, filter, last, paging)
  if (isServed(again)) return again
  throw new Fault('the next page is not served', {
    expected: 'what comes after the last entry',
    actual: describePage(again),
    answer: again,
    of: 'eth-rpc.eth_getLogs.next-page',
  })
}

/**
 * Asks for page after page from the first on, until the pages are complete or the walk is long enough.
 *
 * @throws Fault for a page that is not served, that repeats or leaves out entries, or that is too long
 */
export async function walkPages(
  t: CheckContext,
  known: KnownFilter & { readonly answer: Answer },
  paging: Paging,
  { most = maxPages, later }: { readonly most?: number; readonly later?: ClauseId } = {},
): Promise<Gathered> {
  const { gathering, page: first } = compareFirstPage(known, known.answer, later)
  const pages = [first]
  while (!gathering.isComplete && pages.length < most) {
    const last = pages.at(-1)?.at(-1)
    if (!last) break
    const answer = await nextPage(t, known.filter, last, paging)
    const page = logsOf(memberOf(answer, 'result'), { answer, of: 'eth-rpc.eth_getLogs.next-page' })
    gathering.add(page, answer)
    pages.push(page)
  }
  return { pages, isComplete: gathering.isComplete }
}

/** How many pages to compare for a filter that is not about paging itself. */
const fewPages = 30

/**
 * Compares what the target selects with the chain, page by page where its pages are smaller.
 *
 * @param answer the answer that serves the filter
 * @param most how many pages to compare
 * @throws Fault for the first difference
 */
export async function expectSelected(
  t: CheckContext,
  known: KnownFilter,
  answer: Answer,
  most = fewPages,
): Promise<void> {
  const { gathering, page } = compareFirstPage(known, answer)
  if (gathering.isComplete) return
  let paging: Paging
  try {
    paging = await findWayOfPaging(t)
  } catch (error) {
    if (!(error instanceof Untestable)) throw error
    t.observe(`only first pages were compared: ${error.message}`)
    return
  }
  // A page that is shorter than the target's pages was not cut for its length. So the filter, not the paging, loses the
  // missing entries.
  const size = await pageSize(t)
  const later = page.length < size ? 'eth-rpc.eth_getLogs.success' : 'eth-rpc.eth_getLogs.next-page'
  await walkPages(t, { ...known, answer }, paging, { most, later })
}

/** How many entries the target's pages hold, as a filter with many logs shows it; 0 when none shows it. */
async function pageSize(t: CheckContext): Promise<number> {
  for (const kind of plainKinds) {
    const first = await firstPage(t, kind).catch((error: unknown) => {
      if (error instanceof Untestable) return undefined
      throw error
    })
    if (first) return first.page.length
  }
  return 0
}

/**
 * Makes sure that the target serves one page of logs as the chain has them, before a check looks at further pages.
 * Asked once in a run.
 *
 * @throws Fault of eth_getLogs.success
 */
export function requireLogs(t: CheckContext): Promise<void> {
  return t.once('eth-rpc.logs-are-served', async (shared) => {
    const known = await shortRange(shared)
    const { answer } = await expectServed(shared, 'eth_getLogs', [known.filter])
    await expectSelected(shared, known, answer)
  })
}
