import { decodeRlp } from 'ethers'
import { max } from './bigint.ts'
import { hexBytes, toHex, keccak, signDigest, type Signature } from './signature.ts'

/** What a transaction offers for gas, in wei: EIP-1559, or one price where the chain knows no base fee. */
export type Fees =
  | { readonly type: 2; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 0; readonly gasPrice: bigint }

export interface UnsignedTransaction {
  readonly chainId: bigint
  readonly nonce: number
  readonly to: string
  readonly gasLimit: bigint
  readonly data: string
  readonly fees: Fees
}

export interface SignedTransaction {
  readonly hash: string
  /** The bytes that are broadcast, hex. */
  readonly raw: string
}

/** Signs a transaction that sends no value: type 2 (EIP-1559), or legacy with replay protection (EIP-155). */
export function signTransaction(transaction: UnsignedTransaction, privateKey: Uint8Array): SignedTransaction {
  const { chainId, nonce, to, gasLimit, data, fees } = transaction
  const call = [integerBytes(gasLimit), hexBytes(to), integerBytes(0), hexBytes(data)]
  let type: Uint8Array
  let items: Buffer
  let signature: Buffer
  if (fees.type === 2) {
    type = TYPE_2
    items = encodeItems([
      integerBytes(chainId),
      integerBytes(nonce),
      integerBytes(fees.maxPriorityFeePerGas),
      integerBytes(fees.maxFeePerGas),
      ...call,
      'empty list',
    ])
    const signed = signDigest(keccak(type, listPrefix(items.length), items), privateKey)
    signature = encodeItems([integerBytes(signed.recoveryId), ...integersOf(signed)])
  } else {
    type = LEGACY
    items = encodeItems([integerBytes(nonce), integerBytes(fees.gasPrice), ...call])
    const chain = encodeItems([integerBytes(chainId), integerBytes(0), integerBytes(0)])
    const signed = signDigest(keccak(listPrefix(items.length + chain.length), items, chain), privateKey)
    signature = encodeItems([integerBytes(chainId * 2n + 35n + BigInt(signed.recoveryId)), ...integersOf(signed)])
  }
  const raw = Buffer.concat([type, listPrefix(items.length + signature.length), items, signature])
  return { hash: toHex(keccak(raw)), raw: toHex(raw) }
}

/** r and s. */
const integersOf = ({ bytes }: Signature) => [
  withoutLeadingZeros(bytes.subarray(0, 32)),
  withoutLeadingZeros(bytes.subarray(32)),
]

/** A nonce that no account has reached. */
const LARGEST_NONCE = 0xffff_ffff

/**
 * The most bytes that a signed transaction with call data of this length can have, whatever its nonce and its fees up to
 * the ceiling are.
 */
export function largestTransactionBytes(
  dataBytes: number,
  { chainId, gasCap, maxFeePerGasWei }: { chainId: bigint; gasCap: bigint; maxFeePerGasWei: bigint },
): number {
  const [fee, address, scalar] = [integerBytes(maxFeePerGasWei), Buffer.alloc(20, 1), Buffer.alloc(32, 1)]
  const numbers = [chainId, LARGEST_NONCE, gasCap, 0, 1].map(integerBytes)
  const fixed = encodeItems([...numbers, fee, fee, address, 'empty list', scalar, scalar]).length
  const items = fixed + listPrefix(dataBytes).length + dataBytes
  return TYPE_2.length + listPrefix(items).length + items
}

/** The most that a unit of gas can cost under these fees, in wei. */
export function maxFeePerGas(fees: Fees): bigint {
  return fees.type === 2 ? fees.maxFeePerGas : fees.gasPrice
}

const TYPE_2 = Buffer.from([2])
/** A legacy transaction has no type byte. */
const LEGACY = Buffer.alloc(0)

/** A byte string, or an empty list, such as an access list without entries. */
type RlpItem = Uint8Array | 'empty list'

/**
 * Recursive Length Prefix encoding (Ethereum yellow paper, appendix B) of what a transaction is made of: the items one
 * after the other, without the prefix of the list. Bytes in, bytes out; ethers' encoder takes and gives hex, at ten
 * times the cost.
 */
function encodeItems(items: readonly RlpItem[]): Buffer {
  const parts: Uint8Array[] = []
  for (const item of items) {
    if (item === 'empty list') {
      parts.push(prefix(0, 0xc0))
      continue
    }
    // A byte below 0x80 is its own encoding.
    if (item.length !== 1 || (item[0] ?? 0) >= 0x80) parts.push(prefix(item.length, 0x80))
    parts.push(item)
  }
  return Buffer.concat(parts)
}

/** What stands before the encoded items of a list. @param length of all of them, in bytes */
const listPrefix = (length: number): Buffer => prefix(length, 0xc0)

/** An integer as RLP wants it: big-endian, without leading zeros, zero as nothing. */
function integerBytes(value: bigint | number): Buffer {
  if (BigInt(value) === 0n) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/** A big-endian integer without its leading zeros. */
function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first === -1 ? bytes.subarray(bytes.length) : bytes.subarray(first)
}

function prefix(length: number, offset: 0x80 | 0xc0): Buffer {
  if (length <= 55) return Buffer.from([offset + length])
  const bytes = integerBytes(length)
  return Buffer.concat([Buffer.from([offset + 55 + bytes.length]), bytes])
}

/**
 * Receiver and call data of a transaction that `signTransaction` has signed: the ledger keeps them nowhere else.
 *
 * @param raw signed bytes, hex
 * @returns the address in lower case, and hex
 * @throws TypeError when it is no transaction of type 2 and no legacy one
 */
export function transactionCall(raw: string): { readonly to: string; readonly data: string } {
  const isType2 = raw.startsWith('0x02')
  // ethers takes three times as long when it reads the hex itself.
  const fields = decodeRlp(Buffer.from(raw.slice(isType2 ? 4 : 2), 'hex'))
  const [to, data] = Array.isArray(fields) ? [fields[isType2 ? 5 : 3], fields[isType2 ? 7 : 5]] : []
  if (typeof to !== 'string' || typeof data !== 'string') throw new TypeError('not a signed transaction')
  return { to, data }
}
const BASE_GAS = 21_000n
/** Per byte of call data (EIP-2028). */
const ZERO_BYTE_GAS = 4n
const BYTE_GAS = 16n
/** Least gas per token of call data, a byte other than zero being four tokens (EIP-7623). */
const TOKEN_FLOOR_GAS = 10n

/**
 * Gas of a whole transaction.
 *
 * @param callData hex
 * @param executionGas what the call itself uses
 */
export function transactionGas(callData: string, executionGas: bigint): bigint {
  const { zeroes, others } = countBytes(callData)
  const standard = intrinsicOf(zeroes, others) + executionGas
  const floor = BASE_GAS + (others * 4n + zeroes) * TOKEN_FLOOR_GAS
  return max(standard, floor)
}

/** What a transaction takes of its gas limit before its call begins. @param callData hex */
export function intrinsicGas(callData: string): bigint {
  const { zeroes, others } = countBytes(callData)
  return intrinsicOf(zeroes, others)
}

const intrinsicOf = (zeroes: bigint, others: bigint) => BASE_GAS + others * BYTE_GAS + zeroes * ZERO_BYTE_GAS

function countBytes(callData: string): { readonly zeroes: bigint; readonly others: bigint } {
  let zeroes = 0
  for (let index = 2; index < callData.length; index += 2) {
    if (callData.charCodeAt(index) === 0x30 && callData.charCodeAt(index + 1) === 0x30) zeroes++
  }
  return { zeroes: BigInt(zeroes), others: BigInt((callData.length - 2) / 2 - zeroes) }
}
