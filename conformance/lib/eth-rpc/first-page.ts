import type { ClauseId } from '../../../specs/index.ts'
import type { Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { isServed, memberOf } from '../expect-rpc.ts'
import { Untestable } from '../outcome.ts'
import { createGathering, type Gathering } from './gathering.ts'
import { longFilters, type KnownFilter, type LongKind } from './known-filters.ts'
import { logsOf, type Log, type Position } from './logs.ts'
import { describePage } from './paging.ts'

/** Pages may be smaller than 1000 entries, which is the most; a walk of more steps is not worth its requests. */
export const maxPages = 120

/** A filter that selects more than a page, and its first page. */
export interface FirstPage extends KnownFilter {
  readonly answer: Answer
  readonly page: readonly Log[]
  readonly last: Log
  /** What the next page must hold. */
  readonly next: Position
}

/**
 * Holds the first page against the chain.
 *
 * @param later the clause that fails when a later page is not right
 * @throws Fault when the page is not what the chain has first, or longer than a page
 */
export function begin(
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

/** One that has more than a page of this size, and no more pages than a walk takes: the longest, or else the shortest. */
function fitting(all: readonly KnownFilter[], widest: KnownFilter, pageSize: number): KnownFilter {
  if (widest.truth.length <= maxPages * pageSize) return widest
  const longer = all.filter(({ truth }) => truth.length > pageSize && truth.length < widest.truth.length)
  return longer.find(({ truth }) => truth.length <= maxPages * pageSize) ?? longer.at(-1) ?? widest
}

/**
 * The first page of a filter that selects more than one, asked for once in a run.
 *
 * @throws Untestable when the target serves none; Fault when it is not the first page
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
      const { page } = begin(known, answer)
      const chosen = fitting(all, known, page.length)
      if (chosen === known) return pageOf(known, answer)
      return pageOf(chosen, await shared.rpc.call('eth_getLogs', [chosen.filter]))
    }
    throw new Untestable(`no first page ${kind} is served: ${refusals.join('; ')}`)
  })
}

function pageOf(known: KnownFilter, answer: Answer): FirstPage {
  if (!isServed(answer)) throw new Untestable(`the first page is not served: ${describePage(answer)}`)
  const { gathering, page } = begin(known, answer)
  const { next } = gathering
  const last = page.at(-1)
  if (!last || !next) throw new Untestable('there is no page after the first')
  return { ...known, answer, page, last, next }
}
