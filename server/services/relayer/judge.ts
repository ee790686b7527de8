import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Admission } from '../ledger/admission.ts'
import { permissionBits } from '../../ethereum/contracts.ts'
import { describeRevert, isRefusal } from '../../ethereum/revert-reason.ts'
import type { CallResult, ChannelResult, Parties } from '../simulator/simulator.ts'

/** The profile has another key manager by now than the one that the call was verified for. */
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
 * Judges who signed, by what the chain says.
 *
 * @param explain asked when the signer is no controller: throws INVALID_SIGNATURE with the likely mistake
 * @throws StaleProfileError; ServiceError NOT_AUTHORISED and what `explain` throws
 */
export async function judgeSigner(
  call: RelayCall,
  { parties }: ChannelResult,
  explain: (call: RelayCall) => Promise<never>,
): Promise<void> {
  const { permissions } = parties
  if (!isKeyManagerOf(call, parties)) throw new StaleProfileError(call.profile)
  if (permissions === undefined) return
  if (permissions === 0n) await explain(call)
  if ((permissions & permissionBits.EXECUTE_RELAY_CALL) === 0n) {
    throw new ServiceError('NOT_AUTHORISED', `${call.signer} lacks the permission EXECUTE_RELAY_CALL`, {
      details: { signer: call.signer, missingPermission: 'EXECUTE_RELAY_CALL' },
    })
  }
}

/** Whether the call's key manager owns the call's profile, and controls no other one. */
export function isKeyManagerOf(
  { profile, keyManager }: Pick<RelayCall, 'profile' | 'keyManager'>,
  { owner, target }: Parties,
): boolean {
  return owner === keyManager && target === profile
}

/** @returns the gas that the call takes, or why it is refused */
export function judgeCall(
  result: CallResult | undefined,
  { gasCap, shortage }: Pick<Admission, 'gasCap' | 'shortage'>,
): bigint | ServiceError {
  switch (result?.kind) {
    case 'succeeds':
      return result.gas
    case 'reverts': {
      const { reason } = result
      const code = isRefusal(reason) ? 'NOT_AUTHORISED' : 'RELAY_CALL_REVERTS'
      return new ServiceError(code, `it reverts ${describeRevert(reason)}`, {
        details: { error: reason.name, args: reason.args, data: reason.data },
      })
    }
    case 'exceeds-gas-cap':
      if (shortage) return shortage
      return new ServiceError('RELAY_CALL_REVERTS', `it needs more gas than a relay call may take: ${gasCap}`, {
        details: { error: 'OutOfGas', gasCap: String(gasCap) },
      })
    case 'not-simulated':
    case undefined:
      return new ServiceError('RATE_LIMITED', 'it cannot be tried before what is pending in its channel is mined', {
        retryAfterSeconds: RETRY_SECONDS,
      })
  }
}
