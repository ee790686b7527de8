import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { emitterLogs, logsBetween } from './emitter-logs.ts'
import type { Log } from './logs.ts'
import type { Filter } from './paging.ts'
import { quantity } from './quantity.ts'

/** The most that one answer of eth_getLogs holds. */
export const pageLimit = 1000

/** A filter and what it selects on the chain. */
export interface KnownFilter {
  readonly filter: Filter
  readonly truth: readonly Log[]
}

async function ofBlocks(t: CheckContext, from: bigint, to: bigint): Promise<KnownFilter> {
  const logs = await emitterLogs(t)
  return {
    filter: { address: logs.emitter, fromBlock: quantity(from), toBlock: quantity(to) },
    truth: logsBetween(logs, from, to),
  }
}

/** All of the seeded logs. @throws Untestable when they are no more than a page */
export async function wholeRange(t: CheckContext): Promise<KnownFilter> {
  const { fromBlock, toBlock, all } = await emitterLogs(t)
  if (all.length <= pageLimit) throw new Untestable(`the fixture has no more than ${pageLimit} logs`)
  return ofBlocks(t, fromBlock, toBlock)
}

/** One block with more logs than a page. @throws Untestable when the fixture has none */
export async function oneBlock(t: CheckContext): Promise<KnownFilter> {
  const { densest } = await emitterLogs(t)
  const found = await ofBlocks(t, densest, densest)
  if (found.truth.length > pageLimit) return found
  throw new Untestable(`no block of the fixture has more than ${pageLimit} logs`)
}

/**
 * The shortest run of at least two blocks with more logs than a page, for a target that takes no wide ranges.
 *
 * @throws Untestable when there is none
 */
export async function fewBlocks(t: CheckContext): Promise<KnownFilter> {
  const runs = await runsOfBlocks(t)
  return shortest(
    t,
    runs.filter(({ from, to, count }) => from < to && count > pageLimit),
  )
}

/**
 * A short run of blocks that have no more logs than a page: two or more where the fixture has such, else one.
 *
 * @throws Untestable when every block has more
 */
export async function shortRange(t: CheckContext): Promise<KnownFilter> {
  const runs = (await runsOfBlocks(t)).filter(({ count }) => count <= pageLimit)
  return shortest(t, runs.some(({ from, to }) => from < to) ? runs.filter(({ from, to }) => from < to) : runs)
}

async function shortest(t: CheckContext, runs: readonly Run[]): Promise<KnownFilter> {
  const [run] = [...runs].sort((a, b) => Number(a.to - a.from - (b.to - b.from)))
  if (!run) throw new Untestable('the fixture has no blocks with as many logs together as needed')
  return ofBlocks(t, run.from, run.to)
}

/** A run of blocks with an exact multiple of a page. @throws Untestable when the fixture has none */
export async function exactPages(t: CheckContext): Promise<KnownFilter> {
  const exact = (await runsOfBlocks(t)).find(({ count }) => count % pageLimit === 0)
  if (!exact) throw new Untestable(`no run of blocks of the fixture has an exact multiple of ${pageLimit} logs`)
  return ofBlocks(t, exact.from, exact.to)
}

interface Run {
  readonly from: bigint
  readonly to: bigint
  readonly count: number
}

/** Every run of neighbouring blocks that begins and ends with one that has logs. */
async function runsOfBlocks(t: CheckContext): Promise<Run[]> {
  const logs = await emitterLogs(t)
  const blocks = [...new Set(logs.all.map((log) => BigInt(String(log['blockNumber']))))]
  const counts = blocks.map((block) => logsBetween(logs, block, block).length)
  return blocks.flatMap((from, first) =>
    blocks.slice(first).map((to, more) => ({
      from,
      to,
      count: counts.slice(first, first + more + 1).reduce((sum, count) => sum + count, 0),
    })),
  )
}
