import { max, min } from '../../ethereum/bigint.ts'
import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Admission } from '../ledger/admission.ts'
import type { Profiles } from '../profiles/profiles.ts'
import type { WaitingCall } from './channel.ts'
import { permissionBits } from '../../ethereum/contracts.ts'
import { describeRevert, isRefusal } from '../../ethereum/revert-reason.ts'
import type { CallResult, ChannelResult, Parties } from '../simulator/simulator.ts'

/** The profile has another key manager than the one that the call was verified for: it has changed meanwhile. */
export class StaleProfileError extends Error {
  readonly profile: string

  constructor(profile: string) {
    super(`the key manager of ${profile} has changed`)
    this.name = 'StaleProfileError'
    this.profile = profile
  }
}

const RETRY_SECONDS = 5

/**
 * The least gas with which a call runs as it was measured: the key manager, the profile and a contract that it calls each keep
 * a 64th of what is left from the next one (EIP-150).
 */
const withKeptBack = (gas: bigint): bigint => (gas * 64n ** 3n) / 63n ** 3n + 1n

/**
 * Judges who signed, by what the chain says.
 *
 * @throws StaleProfileError; ServiceError INVALID_SIGNATURE, NOT_AUTHORISED, UPSTREAM_UNAVAILABLE
 */
export async function judgeSigner(
  call: RelayCall,
  { parties }: Pick<ChannelResult, 'parties'>,
  profiles: Pick<Profiles, 'permissions'>,
): Promise<void> {
  await assertIsController(call, parties, profiles)
  const { permissions } = parties
  if (permissions === undefined) return
  if ((permissions & permissionBits.EXECUTE_RELAY_CALL) === 0n) {
    throw new ServiceError('NOT_AUTHORISED', `${call.signer} lacks the permission EXECUTE_RELAY_CALL`, {
      details: { signer: call.signer, missingPermission: 'EXECUTE_RELAY_CALL' },
    })
  }
}

/**
 * When the profile has another key manager, nothing is known of the signer: for that one, another signer is recovered.
 *
 * @throws StaleProfileError; ServiceError INVALID_SIGNATURE, UPSTREAM_UNAVAILABLE
 */
export async function assertIsController(
  call: RelayCall,
  parties: Parties,
  profiles: Pick<Profiles, 'permissions'>,
): Promise<void> {
  if (!isKeyManagerOf(call, parties)) throw new StaleProfileError(call.profile)
  if (parties.permissions === 0n) throw await noController(call, profiles)
}

/** Why a signer is refused that is no controller. It names the usual mistake in signing that leads to one, if one does. */
async function noController(call: RelayCall, profiles: Pick<Profiles, 'permissions'>): Promise<ServiceError> {
  const readings = call.misreadings()
  const permissions = await profiles.permissions(
    call.profile,
    readings.map(({ signer }) => signer),
  )
  const likely = readings.find((_, index) => (permissions[index] ?? 0n) !== 0n)
  const reason = `the signer ${call.signer} is no controller of ${call.profile}`
  return new ServiceError('INVALID_SIGNATURE', likely ? `${reason}; ${likely.mistake}` : reason, {
    details: {
      signer: call.signer,
      ...(likely && { likelyMistake: likely.mistake, controller: likely.signer }),
    },
  })
}

/** Whether the call's key manager owns the call's profile, and controls no other one. */
export function isKeyManagerOf(
  { profile, keyManager }: Pick<RelayCall, 'profile' | 'keyManager'>,
  { owner, target }: Parties,
): boolean {
  return owner === keyManager && target === profile
}

/** Calls of one channel that were tried together: their nonces follow each other, and the first one is next. */
export interface SimulatedRun {
  /** At least one. */
  readonly calls: readonly WaitingCall[]
  /** One for each call. */
  readonly results: readonly CallResult[]
  /** The relayer's account that sends the calls before these; undefined: nothing is pending. */
  readonly account: string | undefined
}

/** A call that succeeds in the simulation, and may be stored. */
export interface AcceptedCall {
  readonly waiting: WaitingCall
  /** Gas of its transaction, with padding. */
  readonly gasLimit: bigint
}

export interface GasRules {
  /** Most gas of any relay call. */
  readonly gasCap: bigint
  readonly gasPaddingPercent: number
}

/**
 * Judges the calls of a run, up to the first that is refused. The calls before it are stored first; the refused call is
 * tried anew in a turn of its own.
 *
 * @returns the calls that are accepted; when none is, why the first one is refused
 */
export async function judgeRun(
  { calls, results }: SimulatedRun,
  rules: GasRules,
): Promise<readonly AcceptedCall[] | ServiceError> {
  const accepted: AcceptedCall[] = []
  for (const [index, waiting] of calls.entries()) {
    const outcome = await countedBy(waiting.call, judgeCall(results[index], waiting.admission, rules))
    if (outcome instanceof ServiceError) return accepted.length === 0 ? outcome : accepted
    accepted.push({ waiting, gasLimit: outcome })
  }
  return accepted
}

/** @returns the gas limit of a call, or why it is refused */
function judgeCall(
  result: CallResult | undefined,
  { gasCap: admittedGas, shortage }: Pick<Admission, 'gasCap' | 'shortage'>,
  { gasCap, gasPaddingPercent }: GasRules,
): bigint | ServiceError {
  switch (result?.kind) {
    case 'succeeds': {
      const least = withKeptBack(result.gas)
      if (least > gasCap) return exceedsGasCap(gasCap)
      if (least > admittedGas) return shortage ?? exceedsGasCap(admittedGas)
      const padded = (result.gas * BigInt(100 + gasPaddingPercent)) / 100n
      return min(max(padded, least), min(gasCap, admittedGas))
    }
    case 'reverts': {
      const { reason } = result
      const code = isRefusal(reason) ? 'NOT_AUTHORISED' : 'RELAY_CALL_REVERTS'
      return new ServiceError(code, `it reverts ${describeRevert(reason)}`, {
        details: { error: reason.name, args: reason.args, data: reason.data },
      })
    }
    case 'exceeds-gas-cap':
      return shortage ?? exceedsGasCap(admittedGas)
    case 'not-simulated':
    case undefined:
      return new ServiceError('RATE_LIMITED', 'it cannot be tried before what is pending in its channel is mined', {
        retryAfterSeconds: RETRY_SECONDS,
      })
  }
}

function exceedsGasCap(gasCap: bigint): ServiceError {
  return new ServiceError('RELAY_CALL_REVERTS', `it needs more gas than a relay call may take: ${gasCap}`, {
    details: { error: 'OutOfGas', gasCap: String(gasCap) },
  })
}

/** A simulation costs the node time, whatever its result: a call that would revert is counted like one that is accepted. */
const COUNTED = new Set<string>(['RELAY_CALL_REVERTS', 'NOT_AUTHORISED'])

/** Counts the call against the limits of its profile. @returns the outcome, or why the call is refused instead */
async function countedBy({ admit }: RelayCall, outcome: bigint | ServiceError): Promise<bigint | ServiceError> {
  if (!admit || (outcome instanceof ServiceError && !COUNTED.has(outcome.code))) return outcome
  try {
    await admit()
    return outcome
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
