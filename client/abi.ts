/** Bytes in hex, with `0x`. */
export type Hex = `0x${string}`

/** `execute(uint256,address,uint256,bytes)` of a profile (LSP0, ERC725X). */
const EXECUTE = '44c028fe'
/** `execute(bytes)` of a key manager (LSP6). */
const EXECUTE_PAYLOAD = '09c5eabe'
/** `getNonce(address,uint128)` of a key manager (LSP25). */
const GET_NONCE = 'b44581d9'

/** Call data of `owner()` (ERC-173): of a profile, its key manager. */
export const ownerCall: Hex = '0x8da5cb5b'

/** The operations of ERC725X that a transaction can ask for. */
export const operations = { call: 0n, create: 1n } as const

/** Call data for a profile: `execute(operation, to, valueWei, data)`. */
export function encodeExecute(operation: bigint, to: string, valueWei: bigint, data: string): Hex {
  return `0x${EXECUTE}${word(operation)}${word(BigInt(to))}${word(valueWei)}${word(0x80n)}${bytes(data)}`
}

/** Call data for a key manager: `execute(payload)`, which its controller sends as a transaction. */
export const encodeExecutePayload = (payload: string): Hex => `0x${EXECUTE_PAYLOAD}${word(0x20n)}${bytes(payload)}`

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

export const isAddress = (text: unknown): text is Hex => typeof text === 'string' && /^0x[0-9a-fA-F]{40}$/.test(text)

export const isHash = (text: unknown): text is Hex => typeof text === 'string' && /^0x[0-9a-fA-F]{64}$/.test(text)

/** @throws TypeError the value is not a number above 0 */
export function assertPositive(name: string, value: number): void {
  if (!(value > 0)) throw new TypeError(`${name} is no number above 0: ${value}`)
}
