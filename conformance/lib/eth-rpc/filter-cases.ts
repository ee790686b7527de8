import { Untestable } from '../outcome.ts'
import { logsBetween, type EmitterLogs } from './emitter-logs.ts'
import { type Filter, pageLimit } from './paging.ts'
import type { Log } from './logs.ts'
import { quantity } from './quantity.ts'
import { unknownAddress, unknownHash } from './samples.ts'

/**
 * A filter and the logs that it selects. The suite finds these by reading all logs of the chain, not by asking a
 * node to filter.
 */
export interface FilterCase {
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

function byTopics(
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
      const { truth } = onePage(logs)
      const blockHash = truth[0]?.['blockHash']
      return {
        filter: { address: logs.emitter, blockHash },
        truth: truth.filter((log) => log['blockHash'] === blockHash),
      }
    },
  },
  byTopics(
    'topics: an empty list selects all',
    () => [],
    () => true,
  ),
  byTopics(
    'topics: one value at the first position',
    (sample) => [topic(sample, 0)],
    (log, sample) => hasSameTopic(log, sample, 0),
  ),
  byTopics(
    'topics: alternatives',
    (sample, other) => [null, [topic(sample, 1), topic(other, 1)]],
    (log, sample, other) => hasSameTopic(log, sample, 1) || hasSameTopic(log, other, 1),
  ),
  byTopics(
    'topics: null stands for any value',
    (sample) => [null, topic(sample, 1)],
    (log, sample) => hasSameTopic(log, sample, 1),
  ),
  byTopics(
    'topics: values at several positions must all match',
    (sample, other) => [topic(sample, 0), [topic(sample, 1), topic(other, 1)]],
    (log, sample, other) =>
      hasSameTopic(log, sample, 0) && (hasSameTopic(log, sample, 1) || hasSameTopic(log, other, 1)),
  ),
  byTopics(
    'topics: a value that no log has',
    () => [unknownHash()],
    () => false,
  ),
]
