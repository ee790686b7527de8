import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/**
 * What a profile does: call data for the profile itself (`setData`, `execute`, …), or a transaction as the profile would
 * send it. Without `to`, the transaction creates a contract.
 */
export type Call =
  | string
  | { readonly to?: string | null; readonly value?: bigint | number | string; readonly data?: string }

/** Characters of a function's selector: `0x` and four bytes in hex. */
const SELECTOR_LENGTH = 10

/**
 * The call as the payload of a relay call (LSP25). A transaction to the profile itself is its data: a profile that calls
 * itself would need another permission.
 *
 * @throws TypeError the call cannot be encoded
 */
export function payloadOf(call: Call, profile: Hex): Hex {
  if (typeof call === 'string') {
    if (isHex(call) && call.length >= SELECTOR_LENGTH) return call
    throw new TypeError(`the payload has not four bytes of hex at least: ${call}`)
  }
  if (!call) throw new TypeError(`there is no call: ${String(call)}`)
  const { to, value = 0n, data = '0x' } = call
  const valueWei = BigInt(value)
  if (!isHex(data)) throw new TypeError(`the data of the call is not hex: ${String(data)}`)
  if (to === undefined || to === null) {
    if (data === '0x') throw new TypeError('the call has neither `to` nor data')
    return encodeExecute(operations.create, '0x0', valueWei, data)
  }
  if (!isAddress(to)) throw new TypeError(`the call goes to no address, or its checksum is wrong: ${String(to)}`)
  if (to.toLowerCase() !== profile.toLowerCase()) return encodeExecute(operations.call, to, valueWei, data)
  if (valueWei !== 0n) throw new TypeError('the profile cannot send coins to itself')
  return payloadOf(data, profile)
}

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

/** Bytes in hex, with `0x`. */
export type Hex = `0x${string}`

/** `execute(uint256,address,uint256,bytes)` of a profile (LSP0, ERC725X). */
const EXECUTE = '44c028fe'
/** `execute(bytes)` of a key manager (LSP6). */
const EXECUTE_PAYLOAD = '09c5eabe'
/** `executeRelayCall(bytes,uint256,uint256,bytes)` of a key manager (LSP25). */
const EXECUTE_RELAY_CALL = '4c8a4e74'
/** `getNonce(address,uint128)` of a key manager (LSP25). */
const GET_NONCE = 'b44581d9'

/** Call data of `owner()` (ERC-173): of a profile, its key manager. */
export const ownerCall: Hex = '0x8da5cb5b'

/** The operations of ERC725X that a transaction can ask for. */
const operations = { call: 0n, create: 1n } as const

/** Call data for a profile: `execute(operation, to, valueWei, data)`. */
export function encodeExecute(operation: bigint, to: string, valueWei: bigint, data: string): Hex {
  return `0x${EXECUTE}${word(operation)}${word(BigInt(to))}${word(valueWei)}${word(0x80n)}${bytes(data)}`
}

/** Call data for a key manager: `execute(payload)`, which its controller sends as a transaction. */
export const encodeExecutePayload = (payload: string): Hex => `0x${EXECUTE_PAYLOAD}${word(0x20n)}${bytes(payload)}`

/** Call data for a key manager: the relay call, which anybody may send as a transaction. */
export function encodeExecuteRelayCall({ nonce, validityTimestamps, payload }: RelayMessage, signature: string): Hex {
  const signatureBytes = bytes(signature)
  const payloadAt = 0x80n + BigInt(signatureBytes.length / 2)
  const words = [0x80n, nonce, validityTimestamps, payloadAt].map(word).join('')
  return `0x${EXECUTE_RELAY_CALL}${words}${signatureBytes}${bytes(payload)}`
}

/** Call data for a key manager: the next nonce of a controller in a channel. */
export const encodeGetNonce = (controller: string, channel: bigint): Hex =>
  `0x${GET_NONCE}${word(BigInt(controller))}${word(channel)}`

/** The word of an unsigned integer or an address: 64 hex digits. @throws RangeError it does not fit into 256 bits */
export function word(value: bigint): string {
  if (value < 0n || value >= 1n << 256n) throw new RangeError(`${value} does not fit into 256 bits`)
  return value.toString(16).padStart(64, '0')
}

/** Encodes bytes: their length, then the bytes, filled up to whole words. */
function bytes(hex: string): string {
  const digits = hex.slice(2)
  return word(BigInt(digits.length / 2)) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
}

export const isHex = (text: unknown): text is Hex => typeof text === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(text)

/** Whether a text is an address. One with letters of both cases must have the right checksum (EIP-55). */
export const isAddress = (text: unknown): text is Hex =>
  typeof text === 'string' &&
  /^0x[0-9a-fA-F]{40}$/.test(text) &&
  (isOfOneCase(text.slice(2)) || text === checksummed(text))

const isOfOneCase = (digits: string) => digits === digits.toLowerCase() || digits === digits.toUpperCase()

function checksummed(address: string): Hex {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak(bytesToHex(new TextEncoder().encode(digits)))
  return `0x${digits.replace(/[a-f]/g, (letter, index: number) => ((hash[index + 2] ?? '') >= '8' ? letter.toUpperCase() : letter))}`
}

export const isHash = (text: unknown): text is Hex => typeof text === 'string' && /^0x[0-9a-fA-F]{64}$/.test(text)

/** @throws TypeError the value is not a number above 0 */
export function assertPositive(name: string, value: number): void {
  if (!(value > 0)) throw new TypeError(`${name} is no number above 0: ${value}`)
}
