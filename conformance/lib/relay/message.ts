import {
  computeAddress,
  concat,
  getBytes,
  hashMessage,
  hexlify,
  keccak256,
  SigningKey,
  solidityPackedKeccak256,
  toBeHex,
} from 'ethers'
import type { Account } from '../fixture.ts'
import { randomBytes, signatureOf } from '../world.ts'

/** What a controller signs for a relay call (LSP25). */
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

/**
 * The digest of LSP25: `0x19 0x00 ‖ key manager ‖ 25 ‖ chain ‖ nonce ‖ validity ‖ value (0) ‖ payload`, hashed once.
 */
export function relayDigest(message: RelayMessage): string {
  const words = [lsp25Version, message.chainId, message.nonce, message.validityTimestamps, 0n]
  return keccak256(concat(['0x1900', message.keyManager, ...words.map((word) => toBeHex(word, 32)), message.payload]))
}

function packedDigest({ keyManager, chainId, nonce, payload }: RelayMessage): string {
  const [chain, counted, value] = [chainId, nonce, 0n].map((word) => toBeHex(word, 32)) as [string, string, string]
  return keccak256(concat([chain, keyManager, counted, value, payload]))
}

/** The digests that key managers from before LSP25 verify, by name. */
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

/**
 * A signature of 65 bytes, with v 27 or 28, over the digest without a prefix. Where a record is judged again, the private
 * key may be empty.
 */
export function signDigest({ address, privateKey }: Account, digest: string): string {
  const live = privateKey === '' ? undefined : () => new SigningKey(privateKey).sign(digest).serialized
  return signatureOf(address, digest, live)
}

/** An account that is no controller of anything. */
export function strangerAccount(): Account {
  const privateKey = hexlify(randomBytes(32))
  return { address: computeAddress(privateKey), privateKey }
}

/** The readings of section 5 of the document that services use. The first is the one that the document describes. */
export const quotaReadings = ['personal message', 'raw digest', 'text', 'controller address'] as const

export type QuotaReading = (typeof quotaReadings)[number]

export interface QuotaMessage {
  /** The profile's address. */
  readonly address: string
  /** Unix seconds. */
  readonly timestamp: number
}

/**
 * Signs the message of POST /quota.
 *
 * - `personal message`: keccak256(address, timestamp) in Solidity's packing, hashed again with the prefix of
 *   EIP-191
 * - `raw digest`: the same without the prefix
 * - `text`: the personal message `<address>:<timestamp>`
 * - `controller address`: as the first, over the address of the controller
 */
export function signQuota(
  { address, timestamp }: QuotaMessage,
  controller: Account,
  reading: QuotaReading = 'personal message',
): string {
  // The packing checks the letters of a mixed-case address, so the address is written in lower case.
  const packed = (whose: string): string =>
    solidityPackedKeccak256(['address', 'uint256'], [whose.toLowerCase(), timestamp])
  const personal = (whose: string): string => hashMessage(Buffer.from(packed(whose).slice(2), 'hex'))
  switch (reading) {
    case 'personal message':
      return signDigest(controller, personal(address))
    case 'raw digest':
      return signDigest(controller, packed(address))
    case 'text':
      return signDigest(controller, hashMessage(`${address}:${timestamp}`))
    case 'controller address':
      return signDigest(controller, personal(controller.address))
  }
}
