import type { AlteredRequest } from '../altered/define.ts'
import { requestObject, transactionOf } from '../altered/lib/relay.ts'

/** A number of a body, however it is written. */
export interface Integer {
  /**
   * - `integer`: a JSON integer with all of its digits
   * - `string`: a string of decimal digits or hex
   * - `rounded`: a JSON number beyond 2^53 that is no integer literal, as a double is written
   */
  readonly form: 'integer' | 'string' | 'rounded'
  readonly value: bigint
}

/** Reads an unsigned integer in any of its forms; undefined: it is none. */
export function readInteger(value: unknown): Integer | undefined {
  if (typeof value === 'bigint') return value < 0n ? undefined : { form: 'integer', value }
  if (typeof value === 'string') {
    return /^(?:\d+|0x[0-9a-fA-F]+)$/.test(value) ? { form: 'string', value: BigInt(value) } : undefined
  }
  if (typeof value !== 'number' || value < 0 || !Number.isInteger(value)) return undefined
  return { form: Number.isSafeInteger(value) ? 'integer' : 'rounded', value: BigInt(value) }
}

/** Hex of whole bytes. The document does not say whether `0x` stands before it. */
export const isHex = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?(?:[0-9a-fA-F]{2})*$/.test(value)

export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?[0-9a-fA-F]{40}$/.test(value)

/** With `0x`, in lower case. */
export const normalHex = (hex: string): string => `0x${hex.toLowerCase().replace(/^0x/, '')}`

/** The body of a call, as far as it has the form of the document. Absent: the member is not there, or is of another form. */
export interface CallForm {
  readonly address?: string
  readonly payload?: string
  readonly signature?: string
  readonly nonce?: Integer
  /** `start << 128 | end`; zero when the member is not there. */
  readonly validity?: Integer
}

/** Reads the body of POST /execute. Hex is as {@link normalHex} returns it. */
export function readCall(request: AlteredRequest): CallForm {
  const { address } = requestObject(request)
  const { abi, signature, nonce, validityTimestamps } = transactionOf(request)
  const [readNonce, validity] = [readInteger(nonce), readInteger(validityTimestamps ?? 0)]
  return {
    ...(isAddress(address) && { address: normalHex(address) }),
    ...(isHex(abi) && { payload: normalHex(abi) }),
    ...(isHex(signature) && { signature: normalHex(signature) }),
    ...(readNonce && { nonce: readNonce }),
    ...(validity && { validity }),
  }
}
