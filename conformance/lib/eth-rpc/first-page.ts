import type { CheckContext } from '../context.ts'
import { isServed, served } from '../expect-rpc.ts'
import { Untestable } from '../outcome.ts'
import { fewBlocks, oneBlock, pageLimit, wholeRange, type KnownFilter } from './long-filters.ts'
import { logsOf, positionOf, type Log } from './logs.ts'
import { describePage } from './paging.ts'

/** What selects more than a page: several blocks, or one. */
export type LongKind = 'over several blocks' | 'inside one block'

export const longKinds: readonly LongKind[] = ['over several blocks', 'inside one block']

/** A target may refuse a range as too wide: then a narrower one is asked for. */
const choices: Readonly<Record<LongKind, readonly ((t: CheckContext) => Promise<KnownFilter>)[]>> = {
  'over several blocks': [wholeRange, fewBlocks],
  'inside one block': [oneBlock],
}

/** A filter that selects more than a page, and its first page. */
export interface FirstPage extends KnownFilter {
  readonly page: readonly Log[]
  /** The entry that the page ends with, the 1000th where it is too long. */
  readonly last: Log
  /** What the chain has next. */
  readonly next: Log
}

/**
 * The first page of a filter that selects more than one, asked for once in a run.
 *
 * @throws Untestable when the target serves none
 */
export function firstPage(t: CheckContext, kind: LongKind): Promise<FirstPage> {
  return t.once(`eth-rpc.first-page ${kind}`, async (shared) => {
    const refusals: string[] = []
    for (const choose of choices[kind]) {
      const known = await choose(shared)
      const answer = await shared.rpc.call('eth_getLogs', [known.filter])
      if (isServed(answer)) return { ...known, ...endsOf(known.truth, logsOf(served(answer))) }
      refusals.push(describePage(answer))
    }
    throw new Untestable(`no first page ${kind} is served: ${refusals.join('; ')}`)
  })
}

function endsOf(truth: readonly Log[], page: readonly Log[]): Omit<FirstPage, keyof KnownFilter> {
  const last = page.at(Math.min(page.length, pageLimit) - 1)
  if (!last) throw new Untestable('the first page is empty')
  const { block, index } = positionOf(last)
  const at = truth.findIndex((log) => {
    const position = positionOf(log)
    return position.block === block && position.index === index
  })
  const next = truth[at + 1]
  if (at < 0 || !next) throw new Untestable('the first page does not end before the last log of the chain')
  return { page, last, next }
}
