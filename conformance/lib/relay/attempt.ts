import { setTimeout as delay } from 'node:timers/promises'
import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer, isSuccess } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import type { Account } from '../fixture.ts'
import { toNumber } from '../lossless-json.ts'
import { Fault, Untestable } from '../outcome.ts'
import {
  type CallOptions,
  execute,
  nonceIn,
  randomChannel,
  type RelayCall,
  relayForm,
  requireExecutable,
  signCall,
} from './call.ts'
import { readData, readNonce } from './contracts.ts'
import { hashIn, isHash, normalHash } from './hash.ts'
import { wrongHash } from './hints.ts'
import { requireVerifiedFixture } from './quota-session.ts'
import { askQuota } from './quota.ts'
import { poll, type Receipt, settle, type Settled } from './receipt.ts'
import { demandsCredential, excuseMs, isUnauthorised } from './refusal.ts'
import { hasEvent, relayTransactionFault } from './relay-transaction.ts'
import { turnsOf } from './turns.ts'

/** In so many runs at once somebody has to be lucky. */
const attempts = 10
/** How long a call that was refused is looked for on the chain, and another run's that took its nonce: at first, later. */
const lookMs = [2000, 1000] as const

/** A valid call, and what came of it. */
export interface Attempt {
  readonly call: RelayCall
  readonly answer: Answer
  /** Absent: the answer holds none, or is none of success. */
  readonly hash?: string
  /** Of the transaction with that hash, if the chain knows it. */
  readonly settled?: Settled
  /** The profile holds what the call sets. */
  readonly isExecuted: boolean
  /** What the answer and the chain show against a sentence, the gravest first. */
  readonly faults: readonly Fault[]
}

export type ValidOptions = Omit<CallOptions, 'nonce'> & {
  /** Absent: the next one of channel 0, or of an own channel where there is no chain to ask. */
  readonly nonce?: bigint
}

/**
 * The next nonce of a controller in channel 0: the least that the document asks. Without a chain nobody knows it, and
 * the first one of a channel of its own is taken.
 */
export async function nextNonce(t: CheckContext, controller: Account = t.fixture.controllers.full): Promise<bigint> {
  if (!t.hasChain) return nonceIn(randomChannel(), 0n)
  return readNonce(t.chain, t.fixture.profile.keyManager, controller.address, 0n)
}

/** Runs the work while no other run on this machine uses the nonces of channel 0. */
export async function inTurn<T>(t: CheckContext, work: () => Promise<T>): Promise<T> {
  return t.hasChain ? (await turnsOf(t)).take(work) : work()
}

export async function hasEffect(t: CheckContext, call: RelayCall): Promise<boolean> {
  return t.hasChain && (await readData(t.chain, t.fixture.profile.address, call.key)) === call.value
}

/** Whether the nonce was used up, by whoever. */
export async function isNonceUsed(t: CheckContext, { controller, message }: RelayCall): Promise<boolean> {
  const { nonce, keyManager } = message
  return t.hasChain && (await readNonce(t.chain, keyManager, controller.address, nonce >> 128n)) > nonce
}

/** The clause that a refusal of a valid call contradicts. */
function clauseOfRefusal(answer: Answer): ClauseId {
  return isUnauthorised(answer) ? 'relay.execute.signature-authenticates' : 'relay.execute.post'
}

/**
 * Sends a valid call in its turn and looks at what came of it. A race that is lost to another run is tried again, and
 * so is a call where the target says to be busy.
 *
 * @throws Untestable when the fixture or the quota explains a refusal; Fault when the target dies of the call
 */
export function attemptCall(t: CheckContext, options: ValidOptions = {}): Promise<Attempt> {
  return inTurn(t, async () => {
    let busy = 0
    const form = await relayForm(t)
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
      const answer = await execute(t, call.body, { owedBy: 'relay.execute.post' })
      const hash = hashIn(answer)
      if (isSuccess(answer) && isHash(hash)) {
        const settled = await settle(t, call, normalHash(hash))
        const wasTaken = settled?.receipt?.status === '0x0' && !settled.isExecuted && (await isNonceUsed(t, call))
        if (wasTaken && mayRace) continue
        return judgeTaken(t, call, answer, normalHash(hash), settled)
      }
      const waitMs = excuseMs(answer, ++busy)
      if (waitMs !== undefined) await delay(waitMs)
      const found = await lookFor(t, call, answer, waitMs === undefined)
      if (found === 'executed') return judgeRefused(t, call, answer, true)
      if (waitMs === undefined && !(found === 'race' && mayRace)) return judgeRefused(t, call, answer, false)
    }
  })
}

/**
 * What became of a refused call: executed nevertheless, or its nonce taken by another run; undefined: neither.
 *
 * @param mayTakeTime whether to wait for it
 */
async function lookFor(
  t: CheckContext,
  call: RelayCall,
  answer: Answer,
  mayTakeTime: boolean,
): Promise<'executed' | 'race' | undefined> {
  if (!t.hasChain) return undefined
  const looks = await t.once('relay.refused calls', async () => ({ count: 0 }))
  // An answer that is slow may be to a call that is on its way.
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
      throw new Untestable(`a call was executed, and not answered: ${describeAnswer(answer)} (--timeout-ms)`)
    const isSuccessful = isSuccess(answer)
    const fault = new Fault(
      isSuccessful
        ? 'the call was executed, and the answer holds no hash of its transaction'
        : 'the call was executed, and answered with an error',
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
  const fault = new Fault(isWrongHash ? 'transactionHash is no hash' : 'a valid call was not taken', {
    expected: 'a status of success and a transactionHash of 32 bytes in hex',
    actual: isWrongHash ? wrongHash(hash) : describeAnswer(answer),
    answer,
    of: isWrongHash ? 'relay.execute.response' : clauseOfRefusal(answer),
  })
  const isDemand = await demandsCredential(answer, () => t.relay.execute({}))
  return { call, answer, isExecuted, faults: isDemand ? [fault, demandFault(answer)] : [fault] }
}

function demandFault(answer: Answer): Fault {
  return new Fault('a signed call is asked for another credential', {
    expected: 'the signature in the request is enough',
    actual: describeAnswer(answer),
    answer,
    of: 'relay.auth.no-other-credential',
  })
}

/** A call of the run that was executed. */
export interface ExecutedCall {
  readonly call: RelayCall
  readonly answer: Answer
  readonly receipt: Receipt
}

/** All valid calls of the run that were executed. */
export function executedCalls(t: CheckContext): Promise<ExecutedCall[]> {
  return t.once('relay.executed', async () => [])
}

/** The sentences on an execution, for a call that was taken. */
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
  } else if (isExecuted && !hasEvent(t, call, receipt)) {
    faults.push(
      new Fault('the hash is that of another transaction', {
        expected: 'the hash of the transaction that changed the profile',
        actual: `${hash}, in which nothing under the data key ${call.key} changes`,
        answer,
        of: 'relay.execute.hash-of-transaction',
      }),
    )
  } else {
    const fault = await relayTransactionFault(t, call, receipt, answer)
    if (fault) faults.push(fault)
  }
  if (!isExecuted && receipt?.status === '0x1') {
    faults.unshift(
      new Fault('the call had no effect on the profile', {
        expected: `the value ${call.value} under the data key ${call.key}`,
        actual: 'no such value',
        answer,
        of: 'relay.execute.on-behalf',
      }),
    )
  }
  return { call, answer, hash, settled, isExecuted, faults }
}

/** Less gas than a relay may set aside for one call. */
const leastGas = 1_000_000

/**
 * Makes sure that the refusal of a valid call is the target's own: not that of a profile which its chain does not have,
 * nor that of a spent quota, of which the document says nothing.
 *
 * @param refusal the answer to a valid call
 * @throws Untestable
 */
export async function requireBlame(t: CheckContext, refusal: Answer): Promise<void> {
  requireVerifiedFixture(t, refusal)
  // The target may not serve /quota at all: then there is no such excuse.
  const told = await askQuota(t).catch((error: unknown) => {
    if (error instanceof Fault || error instanceof Untestable) return undefined
    throw error
  })
  if (!told?.quota) return
  const quota = toNumber(told.quota)
  if (quota <= 0 || (told.unit === 'gas' && quota < leastGas) || (told.unit === 'transactionCount' && quota < 1)) {
    const spent = `the profile's quota is used up: ${quota} ${String(told.unit)} are left`
    t.note(spent)
    throw new Untestable(`${spent}, refused with ${refusal.status}`)
  }
}
