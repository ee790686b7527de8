import { setTimeout as delay } from 'node:timers/promises'
import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer, isSuccess } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault, Untestable } from '../outcome.ts'
import { ourTimeMs } from '../target-clock.ts'
import { inTurn, isNonceUsed, type ValidOptions } from './attempt.ts'
import { execute, type RelayCall } from './call.ts'
import { readDataBatch } from './contracts.ts'
import { freshCall } from './first-execution.ts'
import { hashIn, isHash, normalHash, tellsHash } from './hash.ts'
import { type Receipt, waitForReceipt } from './receipt.ts'

/** So often a request is sent again whose nonce another run took meanwhile: its refusal proves nothing. */
const attempts = 3

/** A target that told a hash of no transaction is not waited for as long again. */
const liarMs = 500

/** What is made of a valid call that must not be executed. */
export interface AlteredCall {
  readonly body: unknown
  /** Data keys of the profile that would be filled beside the one of the call. */
  readonly otherKeys?: readonly string[]
}

export interface Forbidden {
  /** The clause that forbids it. */
  readonly of: ClauseId
  /** For the message: `a stranger's signature`. */
  readonly what: string
  /** Makes it of a valid call with the next nonce. */
  readonly alter: (call: RelayCall) => AlteredCall
  readonly options?: ValidOptions
  /** The clause says that the answer holds no transactionHash at all. */
  readonly hasNoHash?: boolean
}

/** What was sent in the run and must not be executed, to look again at its end. */
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

/** Looks at the profile for effects. @param when `executed`, or in more words when it was */
async function tracesOf(t: CheckContext, all: readonly Sent[], when: string): Promise<Fault[]> {
  if (!t.hasChain) return []
  const keys = all.flatMap((sent) => sent.keys)
  const values = await readDataBatch(t.chain, t.fixture.profile.address, keys)
  const filled = new Set(keys.filter((_key, index) => values[index] !== '0x'))
  return all
    .filter((sent) => sent.keys.some((key) => filled.has(key)))
    .map(({ of, what, answer }) => {
      const message = `it was ${when}: ${what}`
      return new Fault(message, { expected: 'nothing on the chain', actual: describeAnswer(answer), answer, of })
    })
}

/**
 * Sends a request and makes sure that nothing came of it on the profile. A refusal and a hash of a reverted transaction
 * have both executed nothing; what they cost is noted. A hash that the chain never sees is a lie about a transaction,
 * and speaks against relay.execute.hash-of-transaction.
 *
 * @returns the answer, and the receipt of the transaction that was sent for it nevertheless
 * @throws Fault of the clause that forbids it when it was executed
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
  const hashFault = new Fault(`there is a transactionHash for ${what}`, {
    expected: 'an answer without transactionHash',
    actual: describeAnswer(answer),
    answer,
    of,
  })
  if (hasNoHash && tellsHash(answer)) throw hashFault
  const lies = await t.once('relay.lies', async () => ({ count: 0 }))
  const isTold = isHash(hash) && t.hasChain
  const receipt = isTold ? await waitForReceipt(t, normalHash(hash), lies.count > 0 ? liarMs : undefined) : undefined
  // What stands in an error is not shown: a hash there is one when a transaction has it.
  if (hasNoHash && receipt) throw hashFault
  if (receipt?.status === '0x0') t.observe(`${what}: a transaction was spent on it, and reverted`)
  else if (isSuccess(answer)) t.observe(`${what}: answered with a status of success`)
  const [trace] = await tracesOf(t, [sent], 'executed')
  if (trace) throw trace
  if (isTold && !receipt) lies.count++
  if (isSuccess(answer) && isTold && !receipt) {
    const lie = new Fault(`a hash that the chain never sees is told for ${what}`, {
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
 * Looks once more at everything that must not be executed, when nothing else is left to do and the run has lingered as
 * long as it may. A target may refuse and send nevertheless.
 *
 * @param of the clause; what others forbid is held against them
 * @throws Fault
 */
export async function lookAgain(t: CheckContext, of: ClauseId): Promise<void> {
  const all = await sentForbidden(t)
  const last = all.at(-1)
  if (!last || !all.some((sent) => sent.of === of)) throw new Untestable('none of it could be sent')
  await delay(Math.max(0, last.sentAtMs + t.patience.lingerMs - ourTimeMs()))
  for (const trace of await tracesOf(t, all, 'executed after it was answered')) t.accuse(trace)
}
