import { AssertionError } from 'chai'
import type { ClauseId } from '../../specs/index.ts'
import type { Answer } from './answer.ts'

export interface FaultDetails {
  readonly expected?: string
  readonly actual?: string
  /** The answer that shows the fault. Reports show this answer first. */
  readonly answer?: Answer
  /** The clause that the evidence contradicts; absent: the clause that is being checked. */
  readonly of?: ClauseId
}

/**
 * The target did what a clause forbids, or did not do what a clause asks. The check fails when the clause is its
 * own. When `of` names another clause, that clause fails, and the check is untestable because of it.
 */
export class Fault extends AssertionError<FaultDetails> {
  readonly expected: string | undefined
  readonly actual: string | undefined
  readonly answer: Answer | undefined
  readonly of: ClauseId | undefined

  constructor(message: string, { expected, actual, answer, of }: FaultDetails = {}) {
    super(message)
    this.expected = expected
    this.actual = actual
    this.answer = answer
    this.of = of
  }
}

/** The check could not judge the target: a need is not met, or another clause failed before. */
export class Untestable extends Error {
  override readonly name = 'Untestable'
  /** The clause whose failure is the reason. */
  readonly because: ClauseId | undefined

  constructor(message: string, { because }: { readonly because?: ClauseId } = {}) {
    super(message)
    this.because = because
  }
}

/** A compared value as text. Integers keep all digits. */
export function showValue(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'bigint') return String(value)
  return (
    JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member)) ??
    String(value)
  )
}

/** The run cannot start: wrong usage, an unreadable fixture or an unreachable target. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
