import { Fault } from '../outcome.ts'
import { numberOf } from './quantity.ts'
import { expectSameFields } from './same-fields.ts'

/** A log entry as it came. */
export type Log = Readonly<Record<string, unknown>>

/** Where a log stands: pages go on after it. */
export interface Position {
  readonly block: bigint
  readonly index: bigint
}

const fields = ['address', 'data', 'blockNumber', 'blockHash', 'transactionHash', 'transactionIndex', 'logIndex']

/** The result as log entries. @throws Fault when it is no list of objects */
export function logsOf(result: unknown): Log[] {
  if (Array.isArray(result) && result.every((entry) => typeof entry === 'object' && entry !== null)) {
    return result as Log[]
  }
  throw new Fault('the result is no list of log entries', {
    expected: 'an array of objects',
    actual: (JSON.stringify(result) ?? 'undefined').slice(0, 300),
  })
}

/** @throws Fault when the entry does not say where it stands */
export function positionOf(log: Log): Position {
  const [block, index] = [numberOf(log['blockNumber']), numberOf(log['logIndex'])]
  if (block !== undefined && index !== undefined) return { block, index }
  throw new Fault('a log entry does not say where it stands', {
    expected: 'blockNumber and logIndex, from which the next page is asked for',
    actual: JSON.stringify(log).slice(0, 500),
  })
}

/** Below zero when `a` stands before `b`, as for `sort`. */
export function comparePositions(a: Position, b: Position): number {
  return Number(a.block - b.block) || Number(a.index - b.index)
}

/** Whether `a` stands before `b`. */
export function isBefore(a: Position, b: Position): boolean {
  return comparePositions(a, b) < 0
}

export function describePosition({ block, index }: Position): string {
  return `block ${block}, log ${index}`
}

/** Some nodes fill the list up to four with null. */
function topicsOf(log: Log): unknown {
  const { topics } = log
  return Array.isArray(topics) ? topics.filter((topic) => topic !== null) : topics
}

/**
 * The entries are those of the chain, in the same order, field by field.
 *
 * @throws Fault for the first difference
 */
export function expectSameLogs(truth: readonly Log[], found: readonly Log[]): void {
  for (const [index, log] of found.entries()) {
    const expected = truth[index]
    if (!expected) break
    const what = `entry ${index} (${describePosition(positionOf(expected))})`
    const [here, there] = [positionOf(log), positionOf(expected)]
    if (here.block !== there.block || here.index !== there.index) {
      throw new Fault(`entry ${index} is another log than on the chain`, {
        expected: describePosition(there),
        actual: describePosition(here),
      })
    }
    expectSameFields(what, fields, expected, log)
    expectSameFields(what, ['topics'], { topics: topicsOf(expected) }, { topics: topicsOf(log) })
  }
  if (truth.length !== found.length) {
    throw new Fault('the number of entries is not that of the chain', {
      expected: `${truth.length} entries`,
      actual: `${found.length} entries`,
    })
  }
}
