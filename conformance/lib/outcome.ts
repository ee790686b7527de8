import type { ClauseId } from '../../specs/index.ts'
import type { Answer } from './answer.ts'

export interface FaultDetails {
  readonly expected?: string
  readonly actual?: string
  /** The answer that shows the fault: reports show it first. */
  readonly answer?: Answer
  /** The clause whose sentence the evidence contradicts; absent: the clause that is being checked. */
  readonly of?: ClauseId
}

/**
 * The target did what a clause forbids, or did not do what it asks. The check fails when the clause is its own. When
 * `of` names another clause, that clause fails, and the check is untestable because of it.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
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

/** The check could not be made, and says nothing of the target: a need is not met, or another clause failed before. */
export class Untestable extends Error {
  override readonly name = 'Untestable'
  /** The clause whose failure is the cause. */
  readonly because: ClauseId | undefined

  constructor(message: string, { because }: { readonly because?: ClauseId } = {}) {
    super(message)
    this.because = because
  }
}
