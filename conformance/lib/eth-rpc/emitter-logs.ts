import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../clause.ts'
import { Untestable } from '../outcome.ts'
import { comparePositions, positionOf, type Log } from './logs.ts'
import { numberOf, quantity } from './quantity.ts'

/** The logs that were emitted for the fixture. */
export interface EmitterLogs {
  readonly emitter: string
  readonly fromBlock: bigint
  readonly toBlock: bigint
  /** As the chain's node returns them, in the order of the chain. */
  readonly all: readonly Log[]
  /** The number of the block with the most logs. */
  readonly densest: bigint
}

async function ofRange(chain: ChainTruth, address: string, from: number, to: number): Promise<Log[] | undefined> {
  const outcome = await chain.attempt('eth_getLogs', [{ address, fromBlock: quantity(from), toBlock: quantity(to) }])
  return 'result' in outcome && Array.isArray(outcome.result) ? (outcome.result as Log[]) : undefined
}

/** Reads block by block, for a node that limits the logs of one answer. */
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
 * The logs of the fixture as the chain's node returns them. Read once in a run.
 *
 * @throws Untestable without a fixture or a chain, or when the two do not fit
 */
export function emitterLogs(t: CheckContext): Promise<EmitterLogs> {
  return t.once('eth-rpc.emitter-logs', read)
}

/**
 * The logs of two contracts: first some with long data; then, in the last block, more than a page, by the two
 * contracts in turn.
 */
export interface PairedLogs {
  readonly emitters: readonly [string, string]
  readonly fromBlock: bigint
  /** The block in which the two contracts emit in turn. */
  readonly toBlock: bigint
  /** As the chain's node returns them, in the order of the chain. */
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
 * The logs of the fixture's two contracts; undefined where the fixture has none. Read once in a run.
 *
 * @throws Untestable without a fixture or a chain, or when the two do not fit
 */
export function pairedLogs(t: CheckContext): Promise<PairedLogs | undefined> {
  return t.once('eth-rpc.paired-logs', readPaired)
}

/** The logs of the blocks from `from` to `to`, both included. */
export function logsBetween({ all }: Pick<EmitterLogs, 'all'>, from: bigint, to: bigint): Log[] {
  return all.filter((log) => {
    const block = numberOf(log['blockNumber']) ?? -1n
    return block >= from && block <= to
  })
}
