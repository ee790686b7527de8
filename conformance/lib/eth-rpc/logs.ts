import type { ClauseId } from '../../../specs/index.ts'
import type { Answer } from '../answer.ts'
import { stringify } from '../lossless-json.ts'
import { Fault } from '../outcome.ts'
import { numberOf } from './quantity.ts'
import { expectSameFields } from './same-fields.ts'

/** A log entry as the node or the target returns it. */
export type Log = Readonly<Record<string, unknown>>

/** The place of a log on the chain. A page goes on after such a place. */
export interface Position {
  readonly block: bigint
  readonly index: bigint
}

/** The answer that shows the entries, and the clause that a wrong entry contradicts. */
export interface Shown {
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

/**
 * The entries are those of the chain, member by member, in any order.
 *
 * @throws Fault for the first difference
 */
export function expectSameLogs(truth: readonly Log[], entries: readonly Log[], shown: Shown = {}): void {
  const found = [...entries].sort((a, b) => comparePositions(positionOf(a), positionOf(b)))
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
