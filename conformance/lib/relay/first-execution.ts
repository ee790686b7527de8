import { toBeHex } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { describeAnswer } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { type Attempt, attemptCall, inTurn, nextNonce, type ValidOptions } from './attempt.ts'
import { execute, type RelayCall, relayForm, signCall, withTransaction } from './call.ts'
import { demandsCredential, isAccepted } from './answers.ts'
import { olderDigests, signDigest } from './message.ts'

/** Spellings of `validityTimestamps`, which the standard has and the document has not. Some relays insist on one. */
const validityTexts = ['0x0', toBeHex(0, 32)]

/** With one of these statuses nothing serves the path, so no other form of the call is tried. */
const hopelessStatuses = [404, 405, 501]

/** Whether the call was executed. Without a chain, a hash in the answer counts. */
export function isDone(t: CheckContext, { hash, isExecuted }: Attempt): boolean {
  return t.hasChain ? isExecuted : hash !== undefined
}

/**
 * The fault of a target that did not accept the call; undefined when there is none.
 *
 * @param clause limits the search to this clause when the call was executed in the end
 */
export function refusalIn({ faults, isExecuted }: Attempt, clause?: ClauseId): Fault | undefined {
  const own = clause === undefined ? undefined : faults.find(({ of }) => of === clause)
  if (own || (clause !== undefined && isExecuted)) return own
  return faults.find(({ of }) => of === 'relay.execute.post' || of === 'relay.execute.signature-authenticates')
}

/**
 * The first execution of the run: the documented body, in channel 0, with the controller's next nonce. Several
 * clauses judge it. Where the target refuses the body, the function tries forms that some relays insist on. The
 * target then breaks one sentence, and the checks judge the others with the form that it takes.
 */
export function firstExecution(t: CheckContext): Promise<Attempt> {
  return t.once('relay.first-execution', async (once) => {
    const first = await attemptCall(once)
    const { status = 0 } = first.answer
    if (!once.hasChain || !refusalIn(first) || first.answer.failure || hopelessStatuses.includes(status)) return first
    if (await demandsCredential(first.answer, () => once.relay.execute({}))) return first
    return (await withValidity(once, first)) ?? (await withOlderMessage(once, first)) ?? first
  })
}

/** Sends the call again with validityTimestamps. */
async function withValidity(t: CheckContext, first: Attempt): Promise<Attempt | undefined> {
  for (const validityText of validityTexts) {
    const attempt = await attemptCall(t, { validityText })
    if (!isDone(t, attempt)) continue
    const again = await attemptCall(t)
    // The target now takes the call without validityTimestamps as well: it refuses calls now and then.
    if (isDone(t, again)) return { ...again, faults: [...first.faults, ...again.faults] }
    ;(await relayForm(t)).validityText = validityText
    t.note('the run sends validityTimestamps with every call, since the target refuses calls without them')
    const fault = new Fault(
      'the target refuses a call without validityTimestamps, and accepts the same call with them',
      {
        expected: 'the target accepts the documented body: address, and transaction with abi, signature and nonce',
        actual: describeAnswer(first.answer),
        answer: first.answer,
        of: 'relay.execute.post',
      },
    )
    return { ...attempt, faults: [fault, ...attempt.faults] }
  }
  return undefined
}

/**
 * Signs the call in the forms from before LSP25. The key manager of the fixture cannot execute these, but a target
 * that accepts one shows what it expects.
 */
async function withOlderMessage(t: CheckContext, first: Attempt): Promise<Attempt | undefined> {
  return inTurn(t, async () => {
    for (const [name, digest] of olderDigests) {
      const call = signCall(t, { nonce: await nextNonce(t) })
      const signature = signDigest(call.controller, digest(call.message))
      const answer = await execute(t, withTransaction(call.body, { signature }))
      if (!isAccepted(answer)) continue
      const fault = new Fault(`the target accepts the relay message of ${name}`, {
        expected: 'the target accepts the message of LSP25, which the key manager of the profile verifies',
        actual: `${describeAnswer(first.answer)}; with the other message: ${describeAnswer(answer)}`,
        answer: first.answer,
        of: 'relay.execute.post',
      })
      return { ...first, faults: [fault] }
    }
    return undefined
  })
}

/** The gravest fault of an attempt. The function records the others against the target as well. */
function firstOf(t: CheckContext, { faults: [first, ...others] }: Attempt, otherwise: string): Error {
  for (const fault of others) t.accuse(fault)
  return first ?? new Untestable(otherwise)
}

/**
 * Makes sure that the first call of the run was executed: the refusal of a faulty call proves nothing about a target
 * that refuses every call.
 *
 * @throws Fault when the first call was not executed
 */
export async function requireFirstExecution(t: CheckContext): Promise<void> {
  const first = await firstExecution(t)
  if (!isDone(t, first)) throw firstOf(t, first, 'the first call was not executed')
}

/**
 * Sends the accepted twin of a call that is to be refused, and makes sure that it is executed.
 *
 * @throws Fault of the clause that asks for the execution, when it is not
 */
export async function expectTwin(t: CheckContext, options: ValidOptions = {}): Promise<Attempt> {
  await requireFirstExecution(t)
  const attempt = await attemptCall(t, options)
  if (!isDone(t, attempt)) throw firstOf(t, attempt, 'the accepted twin was not executed')
  for (const fault of attempt.faults) t.accuse(fault)
  return attempt
}

/**
 * A signed valid call with the next nonce, which the caller may alter before it sends it. Must be called inside a
 * turn.
 */
export async function freshCall(t: CheckContext, options: ValidOptions = {}): Promise<RelayCall> {
  const form = await relayForm(t)
  return signCall(t, { ...form, ...options, nonce: options.nonce ?? (await nextNonce(t, options.controller)) })
}

/**
 * Sends a call in a form that this clause alone asks the target to take, and makes sure that it is executed.
 *
 * @throws Fault of the clause when the target refuses the call; of another clause when the target accepts it and
 * does not execute it
 */
export async function expectOwnExecution(t: CheckContext, of: ClauseId, options: ValidOptions): Promise<Attempt> {
  await requireFirstExecution(t)
  let attempt = await attemptCall(t, options)
  const refusal = refusalIn(attempt)
  if (refusal) {
    attempt = await attemptCall(t, options)
    // The target now accepts the same call: it refuses calls now and then, whatever their form.
    if (isDone(t, attempt)) throw refusal
  }
  for (const fault of attempt.faults) if (attempt.hash !== undefined) t.accuse(fault)
  if (isDone(t, attempt)) return attempt
  // A target that refuses every call now says nothing about the form.
  if (refusal) await expectTwin(t)
  if (attempt.hash !== undefined)
    throw attempt.faults[0] ?? new Untestable('the target accepted the call and did not execute it')
  throw new Fault('the target did not execute a call of this form', {
    expected: 'a status of success and a transactionHash, as for the first call',
    actual: describeAnswer(attempt.answer),
    answer: attempt.answer,
    of,
  })
}
