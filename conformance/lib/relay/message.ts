import { concat, getBytes, hashMessage, keccak256, SigningKey, toBeHex } from 'ethers'

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

function packedDigest({ keyManager, chainId, nonce, payload }: RelayMessage): string {
  const [chain, counted, value] = [chainId, nonce, 0n].map((word) => toBeHex(word, 32)) as [string, string, string]
  return keccak256(concat([chain, keyManager, counted, value, payload]))
}

/** What controllers signed for key managers from before LSP25, by name. */
export const olderDigests: readonly (readonly [name: string, digest: (message: RelayMessage) => string])[] = [
  [
    'LSP6 before LSP25 (version 6)',
    ({ keyManager, chainId, nonce, payload }) => {
      const words = [6n, chainId, nonce, 0n].map((word) => toBeHex(word, 32))
      return keccak256(concat(['0x1900', keyManager, ...words, payload]))
    },
  ],
  ['LSP6 before LSP25 (packed, as a personal message)', (message) => hashMessage(getBytes(packedDigest(message)))],
  ['LSP6 before LSP25 (packed)', packedDigest],
]

/** A signature of 65 bytes with v 27 or 28 over a digest as it is. */
export function signDigest(privateKey: string, digest: string): string {
  return new SigningKey(privateKey).sign(digest).serialized
}
