import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { word, type Hex } from './abi.ts'

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

const LSP25_VERSION = 25n

/**
 * The digest of a relay call: ERC-191 version 0 with the key manager as the validator (LSP25). The controller signs it
 * without the prefix of a personal message.
 */
export function relayDigest({ keyManager, chainId, nonce, validityTimestamps, payload }: RelayMessage): Hex {
  const words = [LSP25_VERSION, chainId, nonce, validityTimestamps, 0n].map(word).join('')
  return keccak(`1900${keyManager.slice(2)}${words}${payload.slice(2)}`)
}

/** The message of `POST /quota`: keccak256 of the packed address and uint256. Clause relay.quota.hash. */
export const quotaMessage = (profile: string, timestampSeconds: number): Hex =>
  keccak(profile.slice(2) + word(BigInt(timestampSeconds)))

/** The digest of 32 bytes as a personal message (EIP-191). */
export const personalDigest = (message: Hex): Hex => {
  const prefix = bytesToHex(new TextEncoder().encode('\x19Ethereum Signed Message:\n32'))
  return keccak(prefix + message.slice(2))
}

/** The address of a public key of 65 bytes. */
export const addressOf = (publicKey: string): Hex => `0x${keccak(publicKey.slice(4)).slice(-40)}`

const keccak = (digits: string): Hex => `0x${bytesToHex(keccak_256(hexToBytes(digits)))}`
