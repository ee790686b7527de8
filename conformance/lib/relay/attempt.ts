import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer, isHungUp, isSuccess, wordsOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import type { Account } from '../fixture.ts'
import { Fault, Untestable } from '../outcome.ts'
import {
  type CallOptions,
  describeEffect,
  isInEffect,
  nonceIn,
  randomChannel,
  type RelayCall,
  relayForm,
  requireExecutable,
  signCall,
} from './call.ts'
import { execute, quotaIfServed, quotaState, spentQuota } from './execute.ts'
import { lookAtOnce } from '../eth-rpc/known-transactions.ts'
import { readNonce } from './contracts.ts'
import {
  asksForCredential,
  demandsCredential,
  excuseMs,
  hashIn,
  isHash,
  isUnauthorised,
  limitError,
  noReason,
  normalHash,
  refusesNowAndThen,
  saysUnregistered,
  tellsOfLimit,
  type UntoldReason,
  untoldWaitMs,
  wrongHash,
} from './answers.ts'
import { requireVerifiedFixture, unregisteredError } from './quota-session.ts'
import { executedCalls, otherTransactionFault, poll, relayTransactionFault, settle, type Settled } from './receipt.ts'
import { turnsOf } from './turns.ts'
import { delay, ourTimeMs } from '../world.ts'

/** How often a call is sent again that lost its nonce to another run. */
const attempts = 10
/**
 * How long to look on the chain for the effect of a refused call, and for another run's use of its nonce: at first,
 * and later.
 */
const lookMs = [2000, 1000] as const

/** A valid call and its outcome. */
export interface Attempt {
  readonly call: RelayCall
  readonly answer: Answer
  /** Absent: the answer holds no hash, or its status is no 2xx. */
  readonly hash?: string
  /** The outcome of the transaction with this hash; absent without a chain. */
  readonly settled?: Settled
  /** Whether the profile holds the value that the call sets. */
  readonly isExecuted: boolean
  /** What the answer and the chain show against sentences, the gravest fault first. */
  readonly faults: readonly Fault[]
}

export type ValidOptions = Omit<CallOptions, 'nonce'> & {
  /** Absent: the next nonce of channel 0, or the first of a channel of its own where there is no chain to ask. */
  readonly nonce?: bigint
}

/**
 * The next nonce of a controller in channel 0, the channel that every relay must take. Without a chain nobody can
 * tell this nonce, so the function returns the first one of a random channel.
 */
export async function nextNonce(t: CheckContext, controller: Account = t.fixture.controllers.full): Promise<bigint> {
  if (!t.hasChain) return nonceIn(randomChannel(), 0n)
  return readNonce(t.chain, t.fixture.profile.keyManager, controller.address, 0n)
}

/** Does some work while no other run on this machine uses the nonces of channel 0. */
export async function inTurn<T>(t: CheckContext, work: () => Promise<T>): Promise<T> {
  return t.hasChain ? (await turnsOf(t)).take(work) : work()
}

export async function hasEffect(t: CheckContext, call: RelayCall): Promise<boolean> {
  return t.hasChain && isInEffect(t, call)
}

/** Whether the chain has counted the nonce, for this call or for another one. */
export async function isNonceUsed(t: CheckContext, { controller, message }: RelayCall): Promise<boolean> {
  const { nonce, keyManager } = message
  return t.hasChain && (await readNonce(t.chain, keyManager, controller.address, nonce >> 128n)) > nonce
}

/** The clause that a refusal of a valid call contradicts. */
function clauseOfRefusal(answer: Answer): ClauseId {
  return isUnauthorised(answer) ? 'relay.execute.signature-authenticates' : 'relay.execute.post'
}

/** What may be behind refusals of valid calls. */
const untoldOf = (t: CheckContext): Promise<UntoldReason> => t.once('relay.untold', async () => noReason())

/**
 * Whether a target that has executed calls may have refused this one for a reason that passes. There is none to ask for
 * another credential.
 */
async function mayPass(t: CheckContext, answer: Answer): Promise<boolean> {
  if (!t.hasChain || (answer.failure && !isHungUp(answer)) || asksForCredential(answer)) return false
  return (await executedCalls(t)).length > 0
}

/**
 * A signature does not become valid by waiting, and what goes wrong by chance does not go wrong twice. A target that is busy
 * may be free at once.
 */
function isPuzzling(refused: Answer): boolean {
  const isError = isHungUp(refused) || (refused.status ?? 0) >= 500
  return isUnauthorised(refused) || (isError && excuseMs(refused, 1) === undefined)
}

/** A valid call that was refused before another one was sent in its place. */
interface Refused {
  readonly call: RelayCall
  readonly answer: Answer
}

/** Whether the target executed it after the run had sent the other one. */
async function wasExecuted(t: CheckContext, { call }: Refused): Promise<boolean> {
  return call.hasOwnKey && (await hasEffect(t, call))
}

/** @param afterMs how long after the refusal the call was sent that the target took */
async function noteRefusal(t: CheckContext, refused: Answer, afterMs: number): Promise<void> {
  if (!isPuzzling(refused) || !refusesNowAndThen(await untoldOf(t), afterMs))
    return t.observe(`a valid call was refused, and one like it taken later: ${describeAnswer(refused)}`)
  t.accuse(
    new Fault('the target refuses valid calls now and then, and takes the same at once when they come again', {
      expected: 'a status of success and a transactionHash of 32 bytes in hex',
      actual: describeAnswer(refused),
      answer: refused,
      of: clauseOfRefusal(refused),
    }),
  )
}

/**
 * Sends a valid call in its turn and looks at its outcome. The function sends another call when another run took the
 * nonce, when the target says that it is busy, and when it has executed others and may have a reason that it does not tell.
 *
 * @throws Untestable when the fixture or the quota explains a refusal; Fault when the target dies of the call
 */
export function attemptCall(t: CheckContext, options: ValidOptions = {}): Promise<Attempt> {
  return inTurn(t, async () => {
    let busy = 0
    let waits = 0
    let isSentAgain = false
    let hasDied = false
    let refused: Refused | undefined
    let refusedMs = 0
    const form = await relayForm(t)
    const lasting = await t.once('relay.lasting-refusals', async () => new Set<string>())
    for (let attempt = 1; ; attempt++) {
      const call = signCall(t, {
        ...form,
        ...options,
        nonce: options.nonce ?? (await nextNonce(t, options.controller)),
      })
      const mayRace = options.nonce === undefined && attempt < attempts
      try {
        await requireExecutable(t, call)
      } catch (error) {
        if (mayRace && (await isNonceUsed(t, call))) continue
        throw error
      }
      const afterMs = ourTimeMs() - refusedMs
      const answer = await execute(t, call.body, { owedBy: 'relay.execute.post' })
      if (answer.failure?.kind === 'died' && !hasDied) {
        // Something else may have ended the target, so it is to blame where it dies of a second call.
        hasDied = true
        continue
      }
      const hash = hashIn(answer)
      if (isSuccess(answer) && isHash(hash)) {
        if (refused && (await wasExecuted(t, refused))) return judgeRefused(t, refused.call, refused.answer, true)
        if (refused) await noteRefusal(t, refused.answer, afterMs)
        await lookAtOnce(t, normalHash(hash))
        const settled = await settle(t, call, normalHash(hash))
        const wasTaken = settled?.receipt?.status === '0x0' && !settled.isExecuted && (await isNonceUsed(t, call))
        if (wasTaken && mayRace) continue
        return judgeTaken(t, call, answer, normalHash(hash), settled)
      }
      refusedMs = ourTimeMs()
      // A call that failed by chance may be executed yet, so the next one needs a nonce of its own.
      const isAtOnce = isUnauthorised(answer) || (mayRace && isPuzzling(answer))
      const mayComeAtOnce = isAtOnce && !isSentAgain && (await mayPass(t, answer))
      if (mayComeAtOnce && (await lookFor(t, call, answer, false)) === undefined) {
        isSentAgain = true
        refused = { call, answer }
        continue
      }
      const words = wordsOf(answer)
      const { isSpent } = await quotaState(t)
      const waitMs = isSpent ? undefined : excuseMs(answer, ++busy, lasting.has(words) ? undefined : t.patience)
      if (waitMs === undefined) lasting.add(words)
      if (waitMs !== undefined) await delay(waitMs)
      const found = await lookFor(t, call, answer, waitMs === undefined)
      if (found !== undefined && hasDied && !mayRace)
        throw new Untestable('the target stopped listening during a call, and may have executed it later')
      if (found === 'executed') return judgeRefused(t, call, answer, true)
      if (found === 'race' && refused && (await wasExecuted(t, refused)))
        return judgeRefused(t, refused.call, refused.answer, true)
      if (waitMs !== undefined || (found === 'race' && mayRace)) continue
      const untold = await untoldOf(t)
      const untoldMs = !isSpent && (await mayPass(t, answer)) ? untoldWaitMs(untold, waits++) : undefined
      if (untoldMs === undefined) return judgeRefused(t, call, answer, false)
      refused = { call, answer }
      await delay(untoldMs)
    }
  })
}

/**
 * Looks for the effect of a refused call.
 *
 * @param mayTakeTime whether to wait for the effect
 * @returns `executed`: the call took effect; `race`: another run took its nonce; undefined: neither
 */
async function lookFor(
  t: CheckContext,
  call: RelayCall,
  answer: Answer,
  mayTakeTime: boolean,
): Promise<'executed' | 'race' | undefined> {
  if (!t.hasChain) return undefined
  const looks = await t.once('relay.refused calls', async () => ({ count: 0 }))
  // After a timeout the call may still be on its way.
  const patientMs = answer.failure?.kind === 'timeout' ? t.patience.receiptMs() : lookMs[looks.count++ === 0 ? 0 : 1]
  return poll(
    async () => {
      const isUsed = await isNonceUsed(t, call)
      if (await hasEffect(t, call)) return 'executed'
      return isUsed ? 'race' : undefined
    },
    mayTakeTime ? patientMs : 0,
  )
}

async function judgeRefused(t: CheckContext, call: RelayCall, answer: Answer, isExecuted: boolean): Promise<Attempt> {
  const hash = hashIn(answer)
  if (isExecuted) {
    if (answer.failure)
      throw new Untestable(`the target executed a call and did not answer it: ${describeAnswer(answer)} (--timeout-ms)`)
    const isSuccessful = isSuccess(answer)
    const fault = new Fault(
      isSuccessful
        ? 'the target executed the call, and its answer holds no hash of the transaction'
        : 'the target executed the call, and answered with an error',
      {
        expected: 'a status of success and a transactionHash of 32 bytes in hex',
        actual: isSuccessful && hash !== undefined ? wrongHash(hash) : describeAnswer(answer),
        answer,
        of: isSuccessful ? 'relay.execute.response' : 'relay.execute.post',
      },
    )
    return { call, answer, isExecuted, faults: [fault] }
  }
  await requireBlame(t, answer)
  const isWrongHash = isSuccess(answer) && hash !== undefined
  const fault = new Fault(isWrongHash ? 'transactionHash is not a hash' : 'the target did not accept a valid call', {
    expected: 'a status of success and a transactionHash of 32 bytes in hex',
    actual: isWrongHash ? wrongHash(hash) : describeAnswer(answer),
    answer,
    of: isWrongHash ? 'relay.execute.response' : clauseOfRefusal(answer),
  })
  const isDemand = await demandsCredential(answer, () => t.relay.execute({}))
  return { call, answer, isExecuted, faults: isDemand ? [fault, demandFault(answer)] : [fault] }
}

function demandFault(answer: Answer): Fault {
  return new Fault('the target asks for a credential beside the signature', {
    expected: 'the signature in the request is enough',
    actual: describeAnswer(answer),
    answer,
    of: 'relay.auth.no-other-credential',
  })
}

/** Judges a call that the target accepted by the sentences about an execution. */
async function judgeTaken(
  t: CheckContext,
  call: RelayCall,
  answer: Answer,
  hash: string,
  settled: Settled | undefined,
): Promise<Attempt> {
  if (!settled) return { call, answer, hash, isExecuted: false, faults: [] }
  const { receipt, isExecuted } = settled
  if (isExecuted && receipt) (await executedCalls(t)).push({ call, answer, receipt })
  const faults: Fault[] = []
  if (!receipt) {
    faults.push(
      new Fault('the chain does not know a transaction by that hash', {
        expected: 'a transactionHash by which the chain knows the transaction',
        actual: hash,
        answer,
        of: 'relay.execute.hash-of-transaction',
      }),
    )
  } else {
    const isOther = isExecuted ? otherTransactionFault(t, call, receipt, answer) : undefined
    const fault = isOther ?? (await relayTransactionFault(t, call, receipt, answer))
    if (fault) faults.push(fault)
  }
  if (!isExecuted && receipt?.status === '0x1') {
    faults.unshift(
      new Fault('the call had no effect on the profile', {
        expected: describeEffect(call),
        actual: 'nothing of it',
        answer,
        of: 'relay.execute.on-behalf',
      }),
    )
  }
  return { call, answer, hash, settled, isExecuted, faults }
}

/**
 * Makes sure that the target is to blame for refusing a valid call. A wrong fixture is no fault of the target, and
 * neither is a spent quota or a profile that nobody registered, of which the document says nothing.
 *
 * @param refusal the answer to a valid call
 * @throws Untestable when there is such an excuse
 */
export async function requireBlame(t: CheckContext, refusal: Answer): Promise<void> {
  requireVerifiedFixture(t, refusal)
  const hasExecuted = (await executedCalls(t)).length > 0
  if (tellsOfLimit(refusal) && hasExecuted) throw limitError(refusal)
  // A target that serves no /quota has no spent quota as an excuse.
  const told = await quotaIfServed(t)
  if (!told && !hasExecuted && saysUnregistered(refusal)) throw unregisteredError(t, refusal)
  const spent = await spentQuota(t, told)
  if (spent === undefined) return
  t.note(spent)
  throw new Untestable(`${spent}, refused with ${refusal.status}`)
}
