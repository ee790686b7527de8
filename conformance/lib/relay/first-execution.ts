import { toBeHex } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { describeAnswer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault, Untestable } from '../outcome.ts'
import { type Attempt, attemptCall, inTurn, nextNonce, type ValidOptions } from './attempt.ts'
import { execute, type RelayCall, relayForm, signCall, withTransaction } from './call.ts'
import { isAccepted } from './hash.ts'
import { olderDigests, signDigest } from './message.ts'
import { demandsCredential } from './refusal.ts'

/** What the standard has beyond the document, and some relays insist on. */
const validityTexts = ['0x0', toBeHex(0, 32)]

/** Nobody is there: no other form will be taken. */
const hopelessStatuses = [404, 405, 501]

/** Whether the target took the call and it was executed; without a chain its word counts. */
export function isDone(t: CheckContext, { hash, isExecuted }: Attempt): boolean {
  return t.hasChain ? isExecuted : hash !== undefined
}

/**
 * What speaks against the target's taking of the call, if anything.
 *
 * @param clause where a call was executed in the end, only what speaks against this one
 */
export function refusalIn({ faults, isExecuted }: Attempt, clause?: ClauseId): Fault | undefined {
  const own = clause === undefined ? undefined : faults.find(({ of }) => of === clause)
  if (own || (clause !== undefined && isExecuted)) return own
  return faults.find(({ of }) => of === 'relay.execute.post' || of === 'relay.execute.signature-authenticates')
}

/**
 * The first execution of the run, which the clauses on what an execution is look at together: the documented body, in
 * channel 0 with the controller's next nonce. Where that is refused, forms that relays are known to insist on are
 * tried: the target breaks one sentence, and the others are judged with the form that it takes.
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

/** Tries the same call with validityTimestamps. */
async function withValidity(t: CheckContext, first: Attempt): Promise<Attempt | undefined> {
  for (const validityText of validityTexts) {
    const attempt = await attemptCall(t, { validityText })
    if (!isDone(t, attempt)) continue
    const again = await attemptCall(t)
    // The target refuses now and then, with or without.
    if (isDone(t, again)) return { ...again, faults: [...first.faults, ...again.faults] }
    ;(await relayForm(t)).validityText = validityText
    t.note('validityTimestamps is sent with every call, since the target takes none without')
    const fault = new Fault('a call without validityTimestamps is refused, and with it is taken', {
      expected: 'the documented body is taken: address, and transaction with abi, signature and nonce',
      actual: describeAnswer(first.answer),
      answer: first.answer,
      of: 'relay.execute.post',
    })
    return { ...attempt, faults: [fault, ...attempt.faults] }
  }
  return undefined
}

/** Tries the messages that were signed before LSP25: they cannot be executed here, and say what the target expects. */
async function withOlderMessage(t: CheckContext, first: Attempt): Promise<Attempt | undefined> {
  return inTurn(t, async () => {
    for (const [name, digest] of olderDigests) {
      const call = signCall(t, { nonce: await nextNonce(t) })
      const signature = signDigest(call.controller.privateKey, digest(call.message))
      const answer = await execute(t, withTransaction(call.body, { signature }))
      if (!isAccepted(answer)) continue
      const fault = new Fault(`what is taken is the relay message of ${name}`, {
        expected: 'the message of LSP25, which the key manager of the profile verifies, is taken',
        actual: `${describeAnswer(first.answer)}; with the other message: ${describeAnswer(answer)}`,
        answer: first.answer,
        of: 'relay.execute.post',
      })
      return { ...first, faults: [fault] }
    }
    return undefined
  })
}

/** The gravest fault of an attempt; the others are held against the target as well. */
function firstOf(t: CheckContext, { faults: [first, ...others] }: Attempt, otherwise: string): Error {
  for (const fault of others) t.accuse(fault)
  return first ?? new Untestable(otherwise)
}

/** @throws Fault when the first call of the run was not executed: what differs by a fault would prove nothing */
export async function requireFirstExecution(t: CheckContext): Promise<void> {
  const first = await firstExecution(t)
  if (!isDone(t, first)) throw firstOf(t, first, 'the first call was not executed')
}

/**
 * Sends a valid call, near which another one is to be refused, and sees it executed.
 *
 * @throws Fault when it is not, of the clause that says so
 */
export async function expectTwin(t: CheckContext, options: ValidOptions = {}): Promise<Attempt> {
  await requireFirstExecution(t)
  const attempt = await attemptCall(t, options)
  if (!isDone(t, attempt)) throw firstOf(t, attempt, 'the accepted twin was not executed')
  for (const fault of attempt.faults) t.accuse(fault)
  return attempt
}

/** A valid call with the next nonce, for requests whose answer is only looked at; call it in a turn. */
export async function freshCall(t: CheckContext, options: ValidOptions = {}): Promise<RelayCall> {
  const form = await relayForm(t)
  return signCall(t, { ...form, ...options, nonce: options.nonce ?? (await nextNonce(t, options.controller)) })
}

/**
 * Sends a call of a form that only the clause itself asks the target to take, and sees it executed.
 *
 * @throws Fault of the clause when it is refused; of another one when it was taken and not executed rightly
 */
export async function expectOwnExecution(t: CheckContext, of: ClauseId, options: ValidOptions): Promise<Attempt> {
  await requireFirstExecution(t)
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
    actual: describeAnswer(attempt.answer),
    answer: attempt.answer,
    of,
  })
}
