import type { ClauseId } from '../../../specs/index.ts'
import type { Answer } from '../answer.ts'
import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../clause.ts'
import { stringify } from '../lossless-json.ts'
import { Fault, Untestable } from '../outcome.ts'
import { expectSameFields, numberOf, quantity } from './values.ts'

/** A log entry as the node or the target returns it. */
export type Log = Readonly<Record<string, unknown>>

/** The place of a log on the chain. A page goes on after such a place. */
export interface Position {
  readonly block: bigint
  readonly index: bigint
}

/** The answer that shows the entries, and the clause that a wrong entry contradicts. */
interface Shown {
  readonly answer?: Answer
  readonly of?: ClauseId
}

const fields = ['address', 'data', 'blockNumber', 'blockHash', 'transactionHash', 'transactionIndex', 'logIndex']

/**
 * The result as log entries. Null holds none, since the document does not show the form of results.
 *
 * @throws Fault when the result is anything else than a list of objects
 */
export function logsOf(result: unknown, shown: Shown = {}): Log[] {
  if (result === null) return []
  if (Array.isArray(result) && result.every((entry) => typeof entry === 'object' && entry !== null)) {
    return result as Log[]
  }
  throw new Fault('the result is no list of log entries', {
    expected: 'an array of objects',
    actual: (stringify(result) ?? 'undefined').slice(0, 300),
    ...shown,
  })
}

/**
 * The place of a log.
 *
 * @throws Fault when the entry does not tell it, since the keys of the next page are taken from it
 */
export function positionOf(log: Log): Position {
  const [block, index] = [numberOf(log['blockNumber']), numberOf(log['logIndex'])]
  if (block !== undefined && index !== undefined) return { block, index }
  throw new Fault('a log entry does not tell its place', {
    expected: 'blockNumber and logIndex, from which the next page is asked for',
    actual: stringify(log).slice(0, 500),
    of: 'eth-rpc.eth_getLogs.page-keys-verbatim',
  })
}

/** The place of a log as text. */
export function placeOf(log: Log): string {
  const { block, index } = positionOf(log)
  return `${block} ${index}`
}

/** Orders two places for `sort`: below zero when `a` stands before `b`. */
export function comparePositions(a: Position, b: Position): number {
  return Number(a.block - b.block) || Number(a.index - b.index)
}

export function describePosition({ block, index }: Position): string {
  return `block ${block}, log ${index}`
}

/** The topics without null, with which some nodes fill the list up to four. */
function topicsOf(log: Log): unknown {
  const { topics } = log
  return Array.isArray(topics) ? topics.filter((topic) => topic !== null) : topics
}

/**
 * The entry has the members of the chain's entry.
 *
 * @throws Fault for the first difference
 */
export function expectSameLog(what: string, truth: Log, found: Log, shown: Shown = {}): void {
  expectSameFields(what, fields, truth, found, shown)
  if (found['removed'] === true && truth['removed'] !== true) {
    const expected = 'an entry of a block that is part of the chain'
    throw new Fault(`${what} is said to be removed by a reorganisation`, {
      expected,
      actual: 'removed: true',
      ...shown,
    })
  }
  expectSameFields(what, ['topics'], { topics: topicsOf(truth) }, { topics: topicsOf(found) }, shown)
}

/** The entries in the order of the chain. The document shows none for a page. */
export function inOrder(entries: readonly Log[]): Log[] {
  return [...entries].sort((a, b) => comparePositions(positionOf(a), positionOf(b)))
}

/**
 * What a page of this length must hold of all entries, when a page is shorter than 1000: those at the end from which the page
 * goes.
 *
 * @param all in the order of the chain
 */
export function pageOf(all: readonly Log[], page: readonly Log[]): readonly Log[] {
  const [first] = all
  if (!first || page.length === 0 || page.length >= all.length) return all
  const isRising = page.some((log) => placeOf(log) === placeOf(first))
  return isRising ? all.slice(0, page.length) : all.slice(-page.length)
}

/**
 * The entries are those of the chain, member by member, in any order.
 *
 * @throws Fault for the first difference
 */
export function expectSameLogs(truth: readonly Log[], entries: readonly Log[], shown: Shown = {}): void {
  const found = inOrder(entries)
  for (const [index, log] of found.entries()) {
    const expected = truth[index]
    if (!expected) break
    const [here, there] = [positionOf(log), positionOf(expected)]
    if (comparePositions(here, there) !== 0) {
      throw new Fault(`entry ${index} is not the log of the chain`, {
        expected: describePosition(there),
        actual: describePosition(here),
        ...shown,
      })
    }
    expectSameLog(`entry ${index} (${describePosition(there)})`, expected, log, shown)
  }
  if (truth.length !== found.length) {
    throw new Fault('the answer has another number of entries than the chain', {
      expected: `${truth.length} entries`,
      actual: `${found.length} entries`,
      ...shown,
    })
  }
}

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
interface PairedLogs {
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
  if (found.includes(undefined)) throw new Untestable("the chain's node gives no logs of the pair")
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
