import { keccak256 } from 'ethers'
import { createKeccak } from 'hash-wasm'

/** What a controller signs for a key manager. */
export interface RelayMessage {
  readonly keyManager: string
  readonly chainId: bigint
  /** `channel << 128 | id`. */
  readonly nonce: bigint
  readonly validityTimestamps: bigint
  /** Wei that the sender adds. Absent: 0, since a relay sends none. */
  readonly valueWei?: bigint
  /** Call data for the profile, hex. */
  readonly payload: string
}

/** How the digest of a relay call is built; it differs between versions of the key manager. */
export interface DigestForm {
  /** 25 for LSP25; 6 before it. */
  readonly version: bigint
  /** Whether the validity window is part of what is signed. */
  readonly validity: boolean
}

/** LSP25, section "executeRelayCall"; LSP6 0x23f34c62 and later. */
export const lsp25Form: DigestForm = { version: 25n, validity: true }
/** LSP6 0x38bb3cdb (contracts 0.10). */
export const lsp6Form: DigestForm = { version: 6n, validity: true }
/** LSP6 0xfb437414 (contracts 0.8). */
export const lsp6FormWithoutValidity: DigestForm = { version: 6n, validity: false }

/**
 * The digest that a controller signs: keccak256(0x19 0x00 ‖ key manager ‖ version ‖ chain ‖ nonce ‖ validity ‖ value ‖
 * payload), ERC-191 version 0.
 *
 * @returns 32 bytes
 */
export function relayDigest(message: RelayMessage, form: DigestForm): Uint8Array {
  return keccak(Buffer.from('1900', 'hex'), hexBytes(message.keyManager), relayWords(message, form))
}

/** The words and the payload alone, without the validator: what some clients hash by mistake. */
export function relayWords(message: RelayMessage, form: DigestForm): Buffer {
  const { chainId, nonce, validityTimestamps, valueWei = 0n, payload } = message
  return Buffer.concat([
    word(form.version),
    word(chainId),
    word(nonce),
    ...(form.validity ? [word(validityTimestamps)] : []),
    word(valueWei),
    hexBytes(payload),
  ])
}

/** A personal message (EIP-191 version 0x45) of 32 bytes, as `personal_sign` hashes it. */
export function personalDigest(hash: Uint8Array): Uint8Array {
  return keccak(Buffer.from(`\x19Ethereum Signed Message:\n${hash.length}`), hash)
}

/** keccak256 over packed address and uint256: the message of a quota request (clause relay.quota.hash). */
export function quotaMessage(address: string, timestampSeconds: number): Uint8Array {
  return keccak(hexBytes(address), word(BigInt(timestampSeconds)))
}

/** A uint256 as 32 bytes. */
export function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

export function hexBytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

/** `0x` and lower case digits. */
export function toHex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return `0x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`
}

const hasher = await createKeccak(256)

/** Keccak-256 over the parts, one after the other; 32 bytes. In WebAssembly: a tenth of the time of plain JavaScript. */
export function keccak(...parts: readonly Uint8Array[]): Uint8Array {
  hasher.init()
  for (const part of parts) hasher.update(part)
  return hasher.digest('binary')
}

// ethers hashes with it too, so that checksums of addresses gain from it.
keccak256.register((bytes) => keccak(bytes))
