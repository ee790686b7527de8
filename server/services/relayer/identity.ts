import type { RelayCall } from '../../core/define.ts'
import { hexBytes, toHex, word, keccak } from '../../ethereum/signature.ts'

/**
 * The identity of a relay call. Two requests are the same call when chain, key manager, signer, nonce, payload and validity
 * are the same, however they are spelt.
 *
 * @returns 32 bytes, hex
 */
export function identityOf(chainId: bigint, call: RelayCall): string {
  return toHex(
    keccak(
      word(chainId),
      hexBytes(call.keyManager),
      hexBytes(call.signer),
      word(call.nonce),
      word(call.validityTimestamps),
      hexBytes(call.payload),
    ),
  )
}
