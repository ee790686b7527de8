import { describe, type Answer } from '../answer.ts'
import { Fault } from '../outcome.ts'

/**
 * The request is answered, and not by a server error. Asked a second time before anything is said: what passes by itself
 * is the weather.
 *
 * @throws Fault
 */
export async function expectNoServerError(ask: () => Promise<Answer>): Promise<void> {
  const isFault = ({ status, failure }: Answer): boolean =>
    failure === undefined ? (status ?? 0) >= 500 : failure.kind === 'timeout' || failure.kind === 'died'
  if (!isFault(await ask())) return
  const answer = await ask()
  if (!isFault(answer)) return
  throw new Fault(answer.failure ? 'a request has no answer' : 'a request is answered by a server error', {
    expected: 'an answer below HTTP 500',
    actual: describe(answer),
    answer,
  })
}
