import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer, isSuccess } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { inTurn, isNonceUsed, type ValidOptions } from './attempt.ts'
import { execute, type RelayCall } from './call.ts'
import { readDataBatch } from './contracts.ts'
import { freshCall } from './first-execution.ts'
import { hashIn, isHash, normalHash, tellsHash } from './answers.ts'
import { type Receipt, waitForReceipt } from './receipt.ts'
import { delay, ourTimeMs } from '../world.ts'

/**
 * How often a forbidden request is sent again when another run took its nonce: the chain then refuses it for the
 * nonce.
 */
const attempts = 3

/** How long to wait for further hashes of a target that told a hash of no transaction. */
const liarMs = 500

/** A forbidden request that was made from a valid call. */
export interface AlteredCall {
  readonly body: unknown
  /** Further data keys of the profile that the request would fill. */
  readonly otherKeys?: readonly string[]
}

export interface Forbidden {
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
  const receipt = isTold ? await waitForReceipt(t, normalHash(hash), lies.count > 0 ? liarMs : undefined) : undefined
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
