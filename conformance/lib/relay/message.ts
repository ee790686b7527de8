import { concat, keccak256, SigningKey, toBeHex } from 'ethers'

/** What a controller signs to have a call relayed (LSP25). */
export interface RelayMessage {
  readonly keyManager: string
  readonly chainId: bigint
  /** `channel << 128 | id` */
  readonly nonce: bigint
  /** `start << 128 | end` in Unix seconds; 0: always valid. */
  readonly validityTimestamps: bigint
  /** Call data for the profile. */
  readonly payload: string
}

const lsp25Version = 25n

/** The digest by LSP25: `0x19 0x00 ‖ key manager ‖ 25 ‖ chain ‖ nonce ‖ validity ‖ value (0) ‖ payload`, hashed once. */
export function relayDigest(message: RelayMessage): string {
  const words = [lsp25Version, message.chainId, message.nonce, message.validityTimestamps, 0n]
  return keccak256(concat(['0x1900', message.keyManager, ...words.map((word) => toBeHex(word, 32)), message.payload]))
}

/** A signature of 65 bytes with v 27 or 28 over a digest as it is. */
export function signDigest(privateKey: string, digest: string): string {
  return new SigningKey(privateKey).sign(digest).serialized
}
