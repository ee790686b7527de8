import type { Arbitrary } from 'fast-check'
import { type Answer, describeAnswer } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'

/** How many more requests may be sent to make a counterexample smaller. */
const mostShrinks = 200
const shownChars = 1500

/** How many cases a property gets: a part of the number of `--fuzz`, since some cases spend or walk pages. */
export function share(t: CheckContext, part: number): number {
  return Math.max(1, Math.ceil(t.fuzz.cases * part))
}

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
  return text.length > shownChars ? `${text.slice(0, shownChars)}…` : text
}

/**
 * Tries a property on random cases, which follow from the seed of the run alone, and makes the first counterexample
 * smaller. Records only the exchanges of the smallest one.
 *
 * @param holds throws Fault for a value for which the property does not hold
 * @throws Fault with the smallest counterexample and the seed; Untestable when `holds` throws it at the first case
 */
export async function expectProperty<T>(
  t: CheckContext,
  cases: number,
  arbitrary: Arbitrary<T>,
  holds: (t: CheckContext, value: T) => Promise<void>,
): Promise<void> {
  const { asyncProperty, check } = await import('fast-check')
  let failure: { readonly fault: Fault; keep(): void } | undefined
  let stopped: Untestable | undefined
  let tried = 0
  let shrinks = 0

  const property = asyncProperty(arbitrary, async (value) => {
    if (stopped || (failure && shrinks++ >= mostShrinks)) return
    tried++
    const { error, keep } = await t.aside((aside) => holds(aside, value))
    if (error === undefined) return
    if (error instanceof Untestable) return void (stopped = error)
    if (error instanceof Fault) failure = { fault: error, keep }
    throw error as Error
  })
  const details = await check(property, { seed: t.fuzz.seed, numRuns: cases })

  if (failure) {
    failure.keep()
    const { message, expected, actual, answer } = failure.fault
    const [value] = details.counterexample ?? []
    throw new Fault(message, {
      ...(expected === undefined ? {} : { expected }),
      actual: `${actual === undefined ? '' : `${actual}\n`}smallest case: ${shown(value)} (--seed ${t.fuzz.seed})`,
      ...(answer ? { answer } : {}),
    })
  }
  // An error of the suite itself is no fault of the target.
  if (details.failed) throw new Error('a property failed outside of the target', { cause: details.errorInstance })
  if (stopped && tried <= 1) throw stopped
  if (stopped) t.observe(`the check stopped after ${tried - 1} of ${cases} cases: ${stopped.message}`)
}

/**
 * The target answers the request, and not with a server error. The request is sent a second time before the check
 * fails, since the first failure may be that of a moment.
 *
 * @throws Fault when both fail
 */
export async function expectNoServerError(ask: () => Promise<Answer>): Promise<void> {
  const isFault = ({ status, failure }: Answer): boolean =>
    failure === undefined ? (status ?? 0) >= 500 : failure.kind === 'timeout' || failure.kind === 'died'
  if (!isFault(await ask())) return
  const answer = await ask()
  if (!isFault(answer)) return
  throw new Fault(answer.failure ? 'a request has no answer' : 'a request is answered by a server error', {
    expected: 'an answer below HTTP 500',
    actual: describeAnswer(answer),
    answer,
  })
}
