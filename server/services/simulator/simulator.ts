import { getAddress } from 'ethers'
import { max } from '../../ethereum/bigint.ts'
import type { RelayCall } from '../../core/define.ts'
import { Reader, keyManagerCalls, profileCalls } from '../../ethereum/contracts.ts'
import { createNonceSlots } from './nonce-slot.ts'
import { revertReason, type RevertReason } from '../../ethereum/revert-reason.ts'
import type { Outcome, SequenceRunner, Step } from './sequences.ts'
import { transactionGas } from '../../ethereum/transaction.ts'

/** What the simulation needs of a relay call. */
export type SimulatedCall = Pick<
  RelayCall,
  'profile' | 'keyManager' | 'signer' | 'nonce' | 'callData' | 'nonceCallData'
>

/** Calls of one signer and one profile in one channel, to be tried in this order. */
export interface ChannelRun {
  /** Call data for the key manager of the accepted calls that are not mined yet, in nonce order. */
  readonly pending: readonly string[]
  /** At least one. */
  readonly calls: readonly SimulatedCall[]
  /** The most gas of each of these calls, when it is less than the cap of all calls. */
  readonly gasCap?: bigint
}

/** The outcome of one call in the simulation. */
export type CallResult =
  /** It succeeds. The gas is that of a whole transaction, without padding. */
  | { readonly kind: 'succeeds'; readonly gas: bigint }
  | { readonly kind: 'reverts'; readonly reason: RevertReason }
  /** It takes more gas than the cap. */
  | { readonly kind: 'exceeds-gas-cap' }
  /** The node gives too little gas to run it after the pending calls. */
  | { readonly kind: 'not-simulated' }

/** What the latest block says about a channel, read in one block. */
export interface ChannelResult {
  /** The channel's next nonce on the chain. */
  readonly nonce: bigint
  readonly parties: Parties
  /** One for each call. */
  readonly calls: readonly CallResult[]
}

/** Owner, target and permissions around a relay call. */
export interface Parties {
  /** Of the profile, checksummed; null when it has none. */
  readonly owner: string | null
  /** The profile that the key manager controls, checksummed. */
  readonly target: string | null
  /**
   * The signer's permission bits on the profile; absent when the first call succeeds: the key manager has checked them.
   */
  readonly permissions?: bigint
}

export interface Simulator {
  /** @throws ServiceError UPSTREAM_UNAVAILABLE */
  simulate(run: ChannelRun): Promise<ChannelResult>
}

const GAS_FOR_A_READ = 300_000n
/** Added to the gas of a call that cannot be measured alone, for slots that the calls before it had warmed. */
const WARMTH_GAS = 250_000n

/**
 * Tries calls on the latest block, on top of what is pending in their channel.
 *
 * The profile's owner is read each time, in the same block: it may have changed, and a former key manager may claim
 * anything about its own calls. Most calls succeed, and then nothing else is asked, because development nodes trace
 * every instruction.
 *
 * After other steps, a step finds storage warm that its own transaction would find cold, and seems far too cheap. So each
 * call with others before it is also measured alone, with the channel's nonce set to its own.
 */
export function createSimulator({ runner, gasCap: highest }: { runner: SequenceRunner; gasCap: bigint }): Simulator {
  const nonceSlots = createNonceSlots({ runner })

  async function measureAlone(call: SimulatedCall, gasCap: bigint): Promise<Outcome | undefined> {
    const storage = await nonceSlots.override(call.keyManager, call.signer, call.nonce)
    if (!storage) return undefined
    const step = { to: call.keyManager, gasLimit: gasCap, data: call.callData }
    const [[outcome] = []] = await runner.run({ sequences: [[step]], storage, lenient: true })
    return outcome
  }

  return {
    async simulate({ pending, calls, gasCap = highest }) {
      const [first] = calls
      if (!first) throw new TypeError('no call to simulate')
      const { owners, reads } = readsFor(first)
      const relay = (data: string, gasLimit: bigint): Step => ({ to: first.keyManager, gasLimit, data })
      const steps = [
        ...pending.map((data) => relay(data, highest)),
        ...calls.map(({ callData }) => relay(callData, gasCap)),
      ]
      const lenient = steps.length === 1
      const needsMeasure = (index: number) => pending.length + index > 0
      const measuring = Promise.all(
        calls.map(async (call, index) => (needsMeasure(index) ? measureAlone(call, gasCap) : undefined)),
      )
      // The result is awaited below. Until then a failure must not count as unhandled.
      measuring.catch(() => {})
      const results = async (outcomes: readonly Outcome[]) => {
        const alone = await measuring
        return calls.map((call, index) =>
          callResult(call, outcomes[pending.length + index], needsMeasure(index), alone[index], gasCap),
        )
      }

      if (pending.length === 0) {
        const [[owner, target] = [], outcomes = []] = await runner.run({ sequences: [owners, steps], lenient })
        if (outcomes[0]?.success) {
          const parties = { owner: addressIn(owner), target: addressIn(target) }
          return { nonce: first.nonce, parties, calls: await results(outcomes) }
        }
      }
      // The facts that explain the failure are read again, in the block in which the call is tried now.
      const [facts = [], outcomes = []] = await runner.run({ sequences: [reads, steps], lenient })
      const [owner, target, nonce, permissions] = facts
      return {
        nonce: nonce?.success && nonce.returnData.length === 66 ? BigInt(nonce.returnData) : 0n,
        parties: {
          owner: addressIn(owner),
          target: addressIn(target),
          ...(!outcomes[pending.length]?.success && { permissions: permissionsIn(permissions) }),
        },
        calls: await results(outcomes),
      }
    },
  }
}

/** The reads of the owner and the target; and these, the channel's next nonce and the signer's permissions. */
function readsFor({ profile, keyManager, signer, nonceCallData }: SimulatedCall) {
  const read = (to: string, data: string): Step => ({ to, gasLimit: GAS_FOR_A_READ, data })
  const owners = [read(profile, profileCalls.owner), read(keyManager, keyManagerCalls.target)]
  const reads = [...owners, read(keyManager, nonceCallData), read(profile, profileCalls.permissions(signer))]
  return { owners, reads }
}

function callResult(
  { callData }: SimulatedCall,
  outcome: Outcome | undefined,
  followsOthers: boolean,
  alone: Outcome | undefined,
  gasCap: bigint,
): CallResult {
  if (!outcome?.ran) return { kind: 'not-simulated' }
  if (!outcome.success) {
    // Every contract on the way keeps a 64th of the gas (EIP-150), and may replace the error by its own.
    const usedUp = outcome.gasUsed * 100n > gasCap * 90n
    return usedUp ? { kind: 'exceeds-gas-cap' } : { kind: 'reverts', reason: revertReason(outcome.returnData) }
  }
  const executionGas = alone?.success
    ? max(alone.gasUsed, outcome.gasUsed)
    : followsOthers
      ? outcome.gasUsed * 2n + WARMTH_GAS
      : outcome.gasUsed
  const gas = transactionGas(callData, executionGas)
  return gas > gasCap ? { kind: 'exceeds-gas-cap' } : { kind: 'succeeds', gas }
}

/** The address that a read returned, checksummed; null when it returned none. */
export function addressIn(outcome: Outcome | undefined): string | null {
  if (!outcome?.success || !/^0x0{24}[0-9a-f]{40}$/.test(outcome.returnData)) return null
  return getAddress(`0x${outcome.returnData.slice(26)}`)
}

/** The permission bits that `getData` returned; zero when nothing is set. */
export function permissionsIn(outcome: Outcome | undefined): bigint {
  if (!outcome?.success) return 0n
  try {
    const reader = new Reader(outcome.returnData)
    const value = reader.bytes(reader.number(0))
    return value.length === 66 ? BigInt(value) : 0n
  } catch {
    // The data is no `bytes`.
    return 0n
  }
}
