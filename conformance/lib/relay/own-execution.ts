import type { ClauseId } from '../../../specs/index.ts'
import { describe } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault, Untestable } from '../outcome.ts'
import { attemptCall, type Attempt, type ValidOptions } from './attempt.ts'
import { expectTwin, isDone, refusalIn, requireService } from './first-execution.ts'

/**
 * Sends a call of a form that only the clause itself asks the target to take, and sees it executed.
 *
 * @throws Fault of the clause when it is refused; of another one when it was taken and not executed rightly
 */
export async function expectOwnExecution(t: CheckContext, of: ClauseId, options: ValidOptions): Promise<Attempt> {
  await requireService(t)
  let attempt = await attemptCall(t, options)
  const refusal = refusalIn(attempt)
  if (refusal) {
    attempt = await attemptCall(t, options)
    // The same is taken now: the target refuses now and then, whatever the form.
    if (isDone(t, attempt)) throw refusal
  }
  for (const fault of attempt.faults) if (attempt.hash !== undefined) t.accuse(fault)
  if (isDone(t, attempt)) return attempt
  // Who refuses every call now says nothing of the form.
  if (refusal) await expectTwin(t)
  if (attempt.hash !== undefined) throw attempt.faults[0] ?? new Untestable('it was taken and not executed')
  throw new Fault('a call of this form was not executed', {
    expected: 'a status of success and a transactionHash, as for the first call',
    actual: describe(attempt.answer),
    answer: attempt.answer,
    of,
  })
}
