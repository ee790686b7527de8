import { isServed } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Untestable } from '../outcome.ts'
import { readHead } from './head.ts'
import { emitterLogs, type EmitterLogs, type Log, logsBetween, pairedLogs } from './logs.ts'
import { unknownAddress, unknownHash } from './methods.ts'
import { type Filter, pageLimit } from './paging.ts'
import { quantity } from './values.ts'

/** A filter and the logs that it selects, in the order of the chain. */
export interface KnownFilter {
  readonly filter: Filter
  readonly truth: readonly Log[]
  /** The last block of the truth, where the chain goes on meanwhile. What the target tells of later blocks is not judged. */
  readonly upTo?: bigint
}

/** A run of neighbouring blocks that begins and ends with one that has logs. */
interface Run {
  readonly from: bigint
  readonly to: bigint
  /** The indices at which its logs begin and end in the list of all logs. */
  readonly begin: number
  readonly end: number
}

function ofRun({ emitter, all }: EmitterLogs, { from, to, begin, end }: Run): KnownFilter {
  return {
    filter: { address: emitter, fromBlock: quantity(from), toBlock: quantity(to) },
    truth: all.slice(begin, end),
  }
}

/** Every run of blocks, of one block as well. */
function runsOf({ all }: EmitterLogs): Run[] {
  const blocks: Run[] = []
  for (const [place, { blockNumber }] of all.entries()) {
    const block = BigInt(String(blockNumber))
    const last = blocks.at(-1)
    if (last?.from === block) blocks[blocks.length - 1] = { ...last, end: place + 1 }
    else blocks.push({ from: block, to: block, begin: place, end: place + 1 })
  }
  return blocks.flatMap(({ from, begin }, first) =>
    blocks.slice(first).map(({ to, end }) => ({ from, to, begin, end })),
  )
}

const countOf = ({ begin, end }: Run): number => end - begin
const width = ({ from, to }: Run): bigint => to - from

/** Filters that select more than a page, the one over most blocks first. */
interface LongFilters {
  readonly long: readonly KnownFilter[]
  /**
   * All filters of the kind, with fewer logs as well, for targets with smaller pages. The one with most logs comes
   * first.
   */
  readonly all: readonly KnownFilter[]
}

function longAndAll(logs: EmitterLogs, runs: readonly Run[], narrow: (known: KnownFilter) => KnownFilter): LongFilters {
  const all = runs
    .map((run) => ({ run, known: narrow(ofRun(logs, run)) }))
    .sort((a, b) => b.known.truth.length - a.known.truth.length)
  const tooLong = all.filter(({ known }) => known.truth.length > pageLimit)
  const narrowest = tooLong.toSorted((a, b) => Number(width(a.run) - width(b.run)))
  const long = [tooLong[0], narrowest[0]].flatMap((found) => (found ? [found.known] : []))
  return { long: [...new Set(long)], all: all.map(({ known }) => known) }
}

const asItIs = (known: KnownFilter): KnownFilter => known

/** Narrows a filter to the logs with the first topic of its first log. */
function byFirstTopic({ filter, truth }: KnownFilter): KnownFilter {
  const topicOf = (log?: Log) => (log?.['topics'] as readonly string[] | undefined)?.[0]
  const topic = topicOf(truth[0])
  return { filter: { ...filter, topics: [topic] }, truth: truth.filter((log) => topicOf(log) === topic) }
}

/**
 * Narrows a filter to all values of the third topic but one of ten. A page then ends inside a block, and a target
 * that forgets the topics returns more.
 */
function byThirdTopic({ filter, truth }: KnownFilter): KnownFilter {
  const topicOf = (log?: Log) => (log?.['topics'] as readonly string[] | undefined)?.[2]
  const wanted = [...new Set(truth.map(topicOf))].slice(1)
  return {
    filter: { ...filter, topics: [null, null, wanted] },
    truth: truth.filter((log) => wanted.includes(topicOf(log))),
  }
}

/** Filters by the third topic, and for targets that refuse these, by the first topic. */
function byTopics(logs: EmitterLogs, runs: readonly Run[]): LongFilters {
  const [third, first] = [longAndAll(logs, runs, byThirdTopic), longAndAll(logs, runs, byFirstTopic)]
  return { long: [...third.long.slice(0, 1), ...first.long], all: first.all }
}

/** How a filter selects more than a page. */
export type LongKind = 'over several blocks' | 'inside one block' | 'selected by a topic' | 'of two addresses'

/** These filters ask for nothing but an address and blocks. Every target that pages has a first page for them. */
export const plainKinds = ['over several blocks', 'inside one block'] as const
/** The document does not show these filters. A target that refuses them breaks no sentence. */
export const otherKinds = ['selected by a topic', 'of two addresses'] as const

async function ofTwoAddresses(t: CheckContext, logs: EmitterLogs): Promise<LongFilters> {
  const paired = await pairedLogs(t)
  if (paired) {
    const { emitters, toBlock, all } = paired
    const filter = { address: emitters, fromBlock: quantity(toBlock), toBlock: quantity(toBlock) }
    return { long: [{ filter, truth: logsBetween({ all }, toBlock, toBlock) }], all: [] }
  }
  const addresses = { address: [unknownAddress(), logs.emitter] }
  const oneBlocks = runsOf(logs).filter(({ from, to }) => from === to)
  return longAndAll(logs, oneBlocks, ({ filter, truth }) => ({ filter: { ...filter, ...addresses }, truth }))
}

/** @throws Untestable when the fixture has no filter of the kind with more logs than a page */
export async function longFilters(t: CheckContext, kind: LongKind): Promise<LongFilters> {
  const logs = await emitterLogs(t)
  const runs = runsOf(logs)
  const severalBlocks = runs.filter(({ from, to }) => from < to)
  const found = {
    'over several blocks': () => longAndAll(logs, severalBlocks, asItIs),
    'inside one block': () =>
      longAndAll(
        logs,
        runs.filter(({ from, to }) => from === to),
        asItIs,
      ),
    'selected by a topic': () => byTopics(logs, severalBlocks),
    'of two addresses': () => ofTwoAddresses(t, logs),
  }[kind]
  const filters = await found()
  if (filters.long.length > 0) return filters
  throw new Untestable(`the fixture has no more than ${pageLimit} logs ${kind}`)
}

/**
 * A short run of blocks with at most a page of logs: of two blocks or more where the fixture has such and the target serves
 * so many, otherwise of one.
 *
 * @throws Untestable when every block has more than a page
 */
export function shortRange(t: CheckContext): Promise<KnownFilter> {
  return t.once('eth-rpc.short-range', async (shared) => {
    const logs = await emitterLogs(shared)
    const short = runsOf(logs)
      .filter((run) => countOf(run) <= pageLimit)
      .sort((a, b) => Number(width(a) - width(b)) || countOf(a) - countOf(b))
    const [wide, narrow] = [short.find(({ from, to }) => from < to), short.find(({ from, to }) => from === to)]
    const known = [wide, narrow].flatMap((run) => (run ? [ofRun(logs, run)] : []))
    const [first, second] = known
    if (!first) throw new Untestable('every block of the fixture has more than one page of logs')
    if (!second || isServed(await shared.rpc.call('eth_getLogs', [first.filter]))) return first
    return isServed(await shared.rpc.call('eth_getLogs', [second.filter])) ? second : first
  })
}

/**
 * A run of blocks whose logs fill whole pages exactly.
 *
 * @throws Untestable when the fixture has none
 */
export async function exactPages(t: CheckContext): Promise<KnownFilter> {
  const logs = await emitterLogs(t)
  const exact = runsOf(logs).find((run) => countOf(run) % pageLimit === 0)
  if (!exact) throw new Untestable(`no run of blocks of the fixture has an exact multiple of ${pageLimit} logs`)
  return ofRun(logs, exact)
}

/** The blocks from the first of the chain to the first that has logs. */
export async function fromEarliest(t: CheckContext): Promise<KnownFilter> {
  const logs = await emitterLogs(t)
  const [first] = runsOf(logs)
  if (!first) throw new Untestable('the fixture has no logs')
  const { filter, truth } = ofRun(logs, first)
  return { filter: { ...filter, fromBlock: 'earliest' }, truth }
}

/**
 * The blocks from the last but one that has logs to the head.
 *
 * @param end nothing: the filter has no `toBlock`, which then means the latest block
 */
export async function toTheHead(t: CheckContext, end: { readonly toBlock?: string }): Promise<KnownFilter> {
  const logs = await emitterLogs(t)
  const toTheEnd = runsOf(logs).filter(({ end }) => end === logs.all.length)
  const run = toTheEnd.at(-2) ?? toTheEnd.at(-1)
  if (!run) throw new Untestable('the fixture has no logs')
  const { filter, truth } = ofRun(logs, run)
  const { address, fromBlock } = filter
  const upTo = await readHead(t.chain)
  const more = await knownLogs(t, { address, fromBlock: quantity(logs.toBlock + 1n) }, upTo)
  return { filter: { address, fromBlock, ...end }, truth: [...truth, ...more], upTo }
}

/**
 * The logs that the filter selects on the chain up to a block; none where the filter begins later.
 *
 * @throws Untestable when the chain's node does not tell them
 */
export async function knownLogs({ chain }: CheckContext, filter: Filter, upTo: bigint): Promise<readonly Log[]> {
  // Some nodes refuse a range that ends before it begins.
  if (BigInt(String(filter['fromBlock'])) > upTo) return []
  const logs = await chain.send('eth_getLogs', [{ ...filter, toBlock: quantity(upTo) }])
  if (!Array.isArray(logs)) throw new Untestable('the chain’s node answers eth_getLogs without a list')
  return logs as Log[]
}

/**
 * The last log of a block with more than a page, by its second topic, which no other log has.
 *
 * @throws Untestable when the fixture has no such block
 */
export async function beyondFirstPage(t: CheckContext): Promise<KnownFilter> {
  const [dense] = (await longFilters(t, 'inside one block')).long
  const last = dense?.truth.at(-1)
  if (!dense || !last) throw new Untestable('no block of the fixture has more than one page of logs')
  const wanted = topic(last, 1)
  return {
    filter: { ...dense.filter, topics: [null, wanted] },
    truth: dense.truth.filter((log) => topic(log, 1) === wanted),
  }
}

/** All logs of the emitter, in the blocks from the first of the chain to the latest. */
export async function ofAllBlocks(t: CheckContext): Promise<KnownFilter> {
  const { emitter: address, all: truth, toBlock: upTo } = await emitterLogs(t)
  return { filter: { address, fromBlock: 'earliest', toBlock: 'latest' }, truth, upTo }
}

/** All logs of a block, whatever their address; undefined where the chain's node does not tell them. */
async function ofWholeBlock({ chain }: CheckContext, block: unknown): Promise<KnownFilter | undefined> {
  const filter = { fromBlock: block, toBlock: block }
  const found = await chain.attempt('eth_getLogs', [filter])
  return 'result' in found && Array.isArray(found.result) ? { filter, truth: found.result as Log[] } : undefined
}

/**
 * Logs without topics and data, which differ in their place alone. The contract that emits them also calls the fixture's two
 * emitters. Undefined where the chain shows none.
 */
export async function blankLogs(t: CheckContext): Promise<KnownFilter | undefined> {
  const last = (await pairedLogs(t))?.all.at(-1)
  if (!last) return undefined
  const { blockNumber, transactionHash } = last
  const transaction = (await t.chain.send('eth_getTransactionByHash', [transactionHash])) as Log | null
  const filter = { address: transaction?.['to'], fromBlock: blockNumber, toBlock: blockNumber }
  const found = await t.chain.attempt('eth_getLogs', [filter])
  const truth = 'result' in found && Array.isArray(found.result) ? (found.result as Log[]) : []
  return truth.length > 1 ? { filter, truth } : undefined
}

/**
 * Filters with more logs than a page whose blocks are not two numbers, or which name no address: those of all blocks up to the
 * head, one of a block by its hash, and one of a block alone.
 *
 * @throws Untestable when the fixture has no more than a page
 */
export async function unnumberedFilters(t: CheckContext): Promise<KnownFilter[]> {
  const { emitter: address, all: truth, toBlock: upTo } = await emitterLogs(t)
  const [dense] = (await longFilters(t, 'inside one block')).long
  const blockHash = dense?.truth[0]?.['blockHash']
  const [first] = truth
  if (truth.length <= pageLimit) throw new Untestable(`the fixture has no more than ${pageLimit} logs`)
  const fromBlock = first?.['blockNumber']
  const wholeBlock = dense && (await ofWholeBlock(t, dense.filter['fromBlock']))
  return [
    { filter: { address, fromBlock }, truth, upTo },
    { filter: { address, fromBlock, toBlock: 'latest' }, truth, upTo },
    await ofAllBlocks(t),
    ...(dense ? [{ filter: { address, blockHash }, truth: dense.truth }] : []),
    ...(wholeBlock ? [wholeBlock] : []),
  ]
}

/**
 * A filter and the logs that it selects. The suite finds these by reading all logs of the chain, not by asking a
 * node to filter.
 */
interface FilterCase {
  readonly selects: string
  readonly make: (logs: EmitterLogs) => { readonly filter: Filter; readonly truth: readonly Log[] }
}

function topic(log: Log, position: number): string {
  const topics = log['topics'] as readonly string[] | undefined
  const value = topics?.[position]
  if (value === undefined) throw new Untestable(`the logs of the fixture have no topic ${position}`)
  return value
}

/**
 * Two neighbouring blocks with at most one page of logs, or one such block where no two are so small.
 *
 * @throws Untestable when every block has more than a page
 */
function onePage(logs: EmitterLogs): { readonly range: Filter; readonly truth: readonly Log[]; readonly last: bigint } {
  const blocks = [...new Set(logs.all.map((log) => BigInt(String(log['blockNumber']))))]
  const pairs = blocks.slice(1).map((last, index) => [blocks[index] ?? last, last] as const)
  for (const [from, last] of [...pairs, ...blocks.map((block) => [block, block] as const)]) {
    const truth = logsBetween(logs, from, last)
    if (truth.length > pageLimit) continue
    return { range: { fromBlock: quantity(from), toBlock: quantity(last) }, truth, last }
  }
  throw new Untestable('every block of the fixture has more than one page of logs')
}

/** The logs of the block with most transactions, among those with at most one page of logs. */
function ofManyTransactions(logs: EmitterLogs): readonly Log[] {
  const [block] = runsOf(logs)
    .filter((run) => run.from === run.to && countOf(run) <= pageLimit)
    .map(({ begin, end }) => logs.all.slice(begin, end))
    .sort((a, b) => transactionsOf(b) - transactionsOf(a))
  if (!block) throw new Untestable('every block of the fixture has more than one page of logs')
  return block
}

const transactionsOf = (logs: readonly Log[]): number => new Set(logs.map((log) => log['transactionHash'])).size

function topicsCase(
  selects: string,
  topics: (sample: Log, other: Log) => readonly unknown[],
  isSelected: (log: Log, sample: Log, other: Log) => boolean,
): FilterCase {
  return {
    selects,
    make(logs) {
      const { range, truth } = onePage(logs)
      const sample = truth[0] as Log
      const other = truth.find((log) => topic(log, 0) !== topic(sample, 0) && topic(log, 1) !== topic(sample, 1))
      if (!other) throw new Untestable('the logs of the fixture do not differ in their topics')
      return {
        filter: { address: logs.emitter, ...range, topics: topics(sample, other) },
        truth: truth.filter((log) => isSelected(log, sample, other)),
      }
    },
  }
}

const hasSameTopic = (log: Log, like: Log, position: number) => topic(log, position) === topic(like, position)

/** The forms of a filter in the execution-apis. */
export const filterCases: readonly FilterCase[] = [
  {
    selects: 'address: one',
    make(logs) {
      const { range, truth } = onePage(logs)
      return { filter: { address: logs.emitter, ...range }, truth }
    },
  },
  {
    selects: 'address: another, that has no logs',
    make: (logs) => ({ filter: { address: unknownAddress(), ...onePage(logs).range }, truth: [] }),
  },
  {
    selects: 'address: many',
    make(logs) {
      const { range, truth } = onePage(logs)
      return { filter: { address: [unknownAddress(), logs.emitter], ...range }, truth }
    },
  },
  {
    selects: 'fromBlock and toBlock: no block beside them',
    make(logs) {
      const { last } = onePage(logs)
      const filter = { address: logs.emitter, fromBlock: quantity(last), toBlock: quantity(last) }
      return { filter, truth: logsBetween(logs, last, last) }
    },
  },
  {
    selects: 'blockHash: that block',
    make(logs) {
      const truth = ofManyTransactions(logs)
      return { filter: { address: logs.emitter, blockHash: truth[0]?.['blockHash'] }, truth }
    },
  },
  topicsCase(
    'topics: an empty list selects all',
    () => [],
    () => true,
  ),
  topicsCase(
    'topics: one value at the first position',
    (sample) => [topic(sample, 0)],
    (log, sample) => hasSameTopic(log, sample, 0),
  ),
  topicsCase(
    'topics: alternatives',
    (sample, other) => [null, [topic(sample, 1), topic(other, 1)]],
    (log, sample, other) => hasSameTopic(log, sample, 1) || hasSameTopic(log, other, 1),
  ),
  topicsCase(
    'topics: alternatives at the first position, one of which no log has',
    (sample, other) => [[unknownHash(), topic(sample, 0), topic(other, 0)]],
    (log, sample, other) => hasSameTopic(log, sample, 0) || hasSameTopic(log, other, 0),
  ),
  topicsCase(
    'topics: a value at the third position, after two that are any',
    (sample) => [null, null, topic(sample, 2)],
    (log, sample) => hasSameTopic(log, sample, 2),
  ),
  topicsCase(
    'topics: null stands for any value',
    (sample) => [null, topic(sample, 1)],
    (log, sample) => hasSameTopic(log, sample, 1),
  ),
  topicsCase(
    'topics: values at several positions must all match',
    (sample, other) => [topic(sample, 0), [topic(sample, 1), topic(other, 1)]],
    (log, sample, other) =>
      hasSameTopic(log, sample, 0) && (hasSameTopic(log, sample, 1) || hasSameTopic(log, other, 1)),
  ),
  topicsCase(
    'topics: a value that no log has',
    () => [unknownHash()],
    () => false,
  ),
]
