import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { comparePositions, positionOf, type Log } from './logs.ts'
import { numberOf, quantity } from './quantity.ts'

/** The logs that the fixture was seeded with. */
export interface EmitterLogs {
  readonly emitter: string
  readonly fromBlock: bigint
  readonly toBlock: bigint
  /** As the chain's node gives them, in order. */
  readonly all: readonly Log[]
  /** The number of the block that has most of them. */
  readonly densest: bigint
}

async function ofRange(chain: ChainTruth, address: string, from: number, to: number): Promise<Log[] | undefined> {
  const outcome = await chain.attempt('eth_getLogs', [{ address, fromBlock: quantity(from), toBlock: quantity(to) }])
  return 'result' in outcome && Array.isArray(outcome.result) ? (outcome.result as Log[]) : undefined
}

/** Block by block, for a node that gives fewer in one answer. */
async function ofEachBlock(chain: ChainTruth, address: string, from: number, to: number): Promise<Log[]> {
  const found: Log[] = []
  for (let block = from; block <= to; block += 1) {
    const logs = await ofRange(chain, address, block, block)
    if (!logs) throw new Untestable(`the chain's node gives no logs of block ${block}`)
    found.push(...logs)
  }
  return found
}

async function read(t: CheckContext): Promise<EmitterLogs> {
  const { logs } = t.fixture
  if (!logs) throw new Untestable('the fixture has no logs')
  const { emitter, fromBlock, toBlock, count } = logs
  let all = await ofRange(t.chain, emitter, fromBlock, toBlock)
  if (all?.length !== count) all = await ofEachBlock(t.chain, emitter, fromBlock, toBlock)
  if (all.length !== count) {
    throw new Untestable(`the fixture does not fit the chain: ${count} logs were seeded, ${all.length} are there`)
  }
  const counts = new Map<bigint, number>()
  for (const log of all) {
    const block = numberOf(log['blockNumber'])
    if (block === undefined) throw new Untestable('the logs of the chain’s node do not name their block')
    counts.set(block, (counts.get(block) ?? 0) + 1)
  }
  const [densest] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [BigInt(fromBlock), 0])
  return { emitter, fromBlock: BigInt(fromBlock), toBlock: BigInt(toBlock), all, densest }
}

/**
 * The seeded logs as the chain's node gives them, read once in a run.
 *
 * @throws Untestable without fixture or chain, or when they do not fit together
 */
export function emitterLogs(t: CheckContext): Promise<EmitterLogs> {
  return t.once('eth-rpc.emitter-logs', read)
}

/** The logs of two contracts: some with long data, and then more than a page in turn in one block. */
export interface PairedLogs {
  readonly emitters: readonly [string, string]
  readonly fromBlock: bigint
  /** That in which they stand in turn. */
  readonly toBlock: bigint
  /** As the chain's node gives them, in order. */
  readonly all: readonly Log[]
}

async function readPaired(t: CheckContext): Promise<PairedLogs | undefined> {
  const paired = t.fixture.logs?.paired
  if (!paired) return undefined
  const { emitters, fromBlock, toBlock, count } = paired
  const found = await Promise.all(emitters.map((emitter) => ofRange(t.chain, emitter, fromBlock, toBlock)))
  const all = found.flatMap((logs) => logs ?? []).sort((a, b) => comparePositions(positionOf(a), positionOf(b)))
  if (all.length !== count) {
    throw new Untestable(`the fixture does not fit the chain: ${count} logs of a pair, ${all.length} are there`)
  }
  return { emitters, fromBlock: BigInt(fromBlock), toBlock: BigInt(toBlock), all }
}

/**
 * The logs of the fixture's pair of contracts, read once in a run; undefined where the fixture has none.
 *
 * @throws Untestable without fixture or chain, or when they do not fit together
 */
export function pairedLogs(t: CheckContext): Promise<PairedLogs | undefined> {
  return t.once('eth-rpc.paired-logs', readPaired)
}

/** Those of one block, or of several. */
export function logsBetween({ all }: Pick<EmitterLogs, 'all'>, from: bigint, to: bigint): Log[] {
  return all.filter((log) => {
    const block = numberOf(log['blockNumber']) ?? -1n
    return block >= from && block <= to
  })
}
