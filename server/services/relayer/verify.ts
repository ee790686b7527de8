import type { RelayCall, RelayRequest, ResolvedProfile } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import {
  relayDigest,
  type DigestForm,
  MalformedSignatureError,
  parseSignature,
  recoverSigner,
  serializeSignature,
} from '../../ethereum/signature.ts'
import { misreadings } from '../../ethereum/misreadings.ts'
import { keyManagerCalls } from '../../ethereum/contracts.ts'

/** What differs between versions of the key manager. */
export interface KeyManagerVersion {
  readonly chainId: bigint
  readonly form: DigestForm
  /** Call data of `executeRelayCall` with this signature (65 bytes, low s, v 27 or 28). */
  readonly encode: (signature: string) => string
}

/**
 * Recovers who signed a relay call. That the signer is a controller, and may do this, is known after the simulation.
 *
 * @throws ServiceError INVALID_SIGNATURE
 */
export function verifyRelayCall(
  transaction: RelayRequest['transaction'],
  { address, keyManager }: ResolvedProfile,
  { chainId, form, encode }: KeyManagerVersion,
): RelayCall {
  const { nonce, validityTimestamps, abi: payload } = transaction
  const message = { keyManager, chainId, nonce, validityTimestamps, payload }
  try {
    const signature = parseSignature(transaction.signature)
    const signer = recoverSigner(relayDigest(message, form), signature)
    return {
      profile: address,
      keyManager,
      signer,
      nonce,
      validityTimestamps,
      payload: payload.toLowerCase(),
      callData: encode(serializeSignature(signature)),
      nonceCallData: keyManagerCalls.getNonce(signer, nonce >> 128n),
      misreadings: () => misreadings({ ...message, profile: address }, form, signature),
    }
  } catch (error) {
    if (!(error instanceof MalformedSignatureError)) throw error
    throw new ServiceError('INVALID_SIGNATURE', error.message, { cause: error })
  }
}
