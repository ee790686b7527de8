import { toBeHex } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer, isSuccess } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { delay, ourTimeMs } from '../world.ts'
import { demandsCredential, hashIn, isAccepted, isHash, normalHash, tellsHash } from './answers.ts'
import { type Attempt, attemptCall, inTurn, isNonceUsed, nextNonce, type ValidOptions } from './attempt.ts'
import { type RelayCall, relayForm, signCall, withTransaction } from './call.ts'
import { execute } from './execute.ts'
import { readDataBatch } from './contracts.ts'
import { olderDigests, signDigest } from './message.ts'
import { type Receipt, waitForReceipt } from './receipt.ts'

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

/**
 * How often a forbidden request is sent again when another run took its nonce: the chain then refuses it for the
 * nonce.
 */
const attempts = 3

/** How long to wait for further hashes of a target that told a hash of no transaction. */
const liarMs = 500

/** A forbidden request that was made from a valid call. */
interface AlteredCall {
  readonly body: unknown
  /** Further data keys of the profile that the request would fill. */
  readonly otherKeys?: readonly string[]
}

interface Forbidden {
  /** The clause that forbids the request. */
  readonly of: ClauseId
  /** Names the request in the message: `a stranger's signature`. */
  readonly what: string
  /** Makes the request from a valid call with the next nonce. */
  readonly alter: (call: RelayCall) => AlteredCall
  readonly options?: ValidOptions
  /** Whether the clause also forbids a transactionHash in the answer. */
  readonly hasNoHash?: boolean
}

/** A forbidden request that the run has sent. The run looks for its effect again at its end. */
interface Sent {
  readonly of: ClauseId
  readonly what: string
  readonly keys: readonly string[]
  readonly answer: Answer
  readonly sentAtMs: number
}

function sentForbidden(t: CheckContext): Promise<Sent[]> {
  return t.once('relay.forbidden', async () => [])
}

/**
 * Looks on the profile for effects of forbidden requests.
 *
 * @param when the end of the message, with a comma; empty for an effect at once
 */
async function tracesOf(t: CheckContext, all: readonly Sent[], when: string): Promise<Fault[]> {
  if (!t.hasChain) return []
  const keys = all.flatMap((sent) => sent.keys)
  const values = await readDataBatch(t.chain, t.fixture.profile.address, keys)
  const filled = new Set(keys.filter((_key, index) => values[index] !== '0x'))
  return all
    .filter((sent) => sent.keys.some((key) => filled.has(key)))
    .map(({ of, what, answer }) => {
      const message = `the target executed a call that it must refuse${when}: ${what}`
      return new Fault(message, { expected: 'nothing on the chain', actual: describeAnswer(answer), answer, of })
    })
}

/**
 * Sends a forbidden request and makes sure that it has no effect on the profile. A refusal and a reverted
 * transaction have no effect; the check observes what they cost. A hash that the chain never sees contradicts
 * relay.execute.hash-of-transaction.
 *
 * @returns the answer, and the receipt of a transaction that the target sent nevertheless
 * @throws Fault of the clause that forbids the request, when it was executed
 */
export function expectNotExecuted(
  t: CheckContext,
  forbidden: Forbidden,
): Promise<{ readonly answer: Answer; readonly receipt: Receipt | undefined }> {
  return inTurn(t, async () => {
    for (let attempt = 1; ; attempt++) {
      const call = await freshCall(t, forbidden.options)
      const seen = await sendOnce(t, forbidden, call)
      const isRace = forbidden.options?.nonce === undefined && (await isNonceUsed(t, call))
      if (!isRace || attempt === attempts) return seen
    }
  })
}

async function sendOnce(t: CheckContext, { of, what, alter, hasNoHash = false }: Forbidden, call: RelayCall) {
  const { body, otherKeys = [] } = alter(call)
  const answer = await execute(t, body)
  const sent: Sent = { of, what, keys: [call.key, ...otherKeys], answer, sentAtMs: ourTimeMs() }
  ;(await sentForbidden(t)).push(sent)
  const hash = hashIn(answer)
  if (answer.failure) t.observe(`${what}: ${answer.failure.message}`)
  const hashFault = new Fault(`the target told a transactionHash for ${what}`, {
    expected: 'an answer without transactionHash',
    actual: describeAnswer(answer),
    answer,
    of,
  })
  if (hasNoHash && tellsHash(answer)) throw hashFault
  const lies = await t.once('relay.lies', async () => ({ count: 0 }))
  const isTold = isHash(hash) && t.hasChain
  const mostMs = lies.count > 0 ? liarMs : isSuccess(answer) ? undefined : t.patience.receiptMs()
  const receipt = isTold ? await waitForReceipt(t, normalHash(hash), mostMs) : undefined
  // The document does not show what an error holds. A hash in an error counts when a transaction has it.
  if (hasNoHash && receipt) throw hashFault
  if (receipt?.status === '0x0') t.observe(`${what}: the target sent a transaction, which reverted`)
  else if (isSuccess(answer)) t.observe(`${what}: answered with a status of success`)
  const [trace] = await tracesOf(t, [sent], '')
  if (trace) throw trace
  if (isTold && !receipt) lies.count++
  if (isSuccess(answer) && isTold && !receipt) {
    const lie = new Fault(`the target told a hash that the chain never sees, for ${what}`, {
      expected: 'a refusal, or the hash of a transaction that the chain knows',
      actual: hash,
      answer,
      of: 'relay.execute.hash-of-transaction',
    })
    t.accuse(lie)
  }
  return { answer, receipt }
}

/**
 * Looks again for effects of all forbidden requests, at the end of the run and after its linger time: a target may
 * refuse a call and send it later.
 *
 * @param of the clause that is being checked; effects against other clauses are recorded against these
 * @throws Untestable when no request of the clause could be sent
 */
export async function lookAgain(t: CheckContext, of: ClauseId): Promise<void> {
  const all = await sentForbidden(t)
  const last = all.at(-1)
  if (!last || !all.some((sent) => sent.of === of)) throw new Untestable('the run could send none of these requests')
  await delay(Math.max(0, last.sentAtMs + t.patience.lingerMs - ourTimeMs()))
  for (const trace of await tracesOf(t, all, ', after it had answered')) t.accuse(trace)
}
