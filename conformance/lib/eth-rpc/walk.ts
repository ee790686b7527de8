import type { CheckContext } from '../context.ts'
import { served } from '../expect-rpc.ts'
import type { FirstPage } from './first-page.ts'
import { Fault, Untestable } from '../outcome.ts'
import { describePosition, isBefore, logsOf, positionOf, type Log } from './logs.ts'
import { askPageAfter, type Paging } from './paging.ts'

/** Pages may be smaller than 1000 entries, which is the most; a walk in steps this small is not worth its requests. */
const maxPages = 200

/**
 * Walks on from the first page over all pages of a filter. It ends in any case: each page lies after the last entry of the one before, and
 * after as many entries as the chain has no more are asked for.
 *
 * @returns the pages; an empty one only as the last
 * @throws Fault when a page is not served or does not lie after the one before
 */
export async function walk(
  t: CheckContext,
  { filter, truth, page: first }: Pick<FirstPage, 'filter' | 'truth' | 'page'>,
  paging: Paging,
): Promise<(readonly Log[])[]> {
  const pages = [first]
  let count = first.length
  let last = first.at(-1)
  while (last && count < truth.length) {
    if (pages.length >= maxPages)
      throw new Untestable(`${maxPages} pages have only ${count} of ${truth.length} entries`)
    const page = logsOf(served(await askPageAfter(t, filter, last, paging)))
    const end = positionOf(last)
    const early = page.map(positionOf).find((position) => !isBefore(end, position))
    if (early) {
      throw new Fault(`page ${pages.length + 1} holds an entry that does not come after the page before`, {
        expected: `only what comes after ${describePosition(end)}`,
        actual: describePosition(early),
      })
    }
    pages.push(page)
    count += page.length
    last = page.at(-1)
  }
  return pages
}
