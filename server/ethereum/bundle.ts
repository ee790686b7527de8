import { id } from 'ethers'
import { divide } from './bigint.ts'
import { encodeCall, Reader } from './contracts.ts'
import { intrinsicGas, transactionGas, transactionCall } from './transaction.ts'

/**
 * Relay calls that share a transaction: the call data of the contract `contracts/Bundler.sol`, what it says of each call in
 * the receipt, and what each of them takes of the gas.
 */

/** keccak-256 of the bundler's code. The server sends bundles to no other contract. */
export const BUNDLER_CODE_HASH = '0xa875f92cae21742f8637d4c522ad5b96d35ba0ff8a414c12462a485f4b180aec'

const EXECUTE = id('execute(bytes)').slice(0, 10)
const BUNDLED = id('Bundled(bytes)')
/** To (20 bytes), gas limit (8), length of the data (4). */
const HEAD_DIGITS = 64
const RESULT_BYTES = 8

/**
 * The most call data of a call that shares a transaction, in bytes. The bundler copies the data, whose cost its saving has
 * to cover; a call with more saves next to nothing.
 */
export const MAX_BUNDLED_BYTES = 8_192

/** One call of a bundle. */
export interface BundledCall {
  readonly to: string
  /** The most gas of the call itself, without the cost of a transaction. */
  readonly gasLimit: bigint
  readonly data: string
}

/** What became of one call of a mined bundle. In lists of results, undefined stands for a call that was not made. */
interface BundledResult {
  readonly succeeded: boolean
  /** The gas of the call, the cost of the CALL instruction included. */
  readonly gasUsed: bigint
}

/**
 * A relay call as part of a bundle.
 *
 * @param gasLimit of a transaction of its own
 */
export function bundled(call: { readonly to: string; readonly gasLimit: bigint; readonly data: string }): BundledCall {
  return { ...call, gasLimit: call.gasLimit - intrinsicGas(call.data) }
}

/** Call data for the bundler. */
export function encodeBundle(calls: readonly BundledCall[]): string {
  const records = calls.map(({ to, gasLimit, data }) => {
    return `${to.slice(2).toLowerCase()}${digits(gasLimit, 16)}${digits(data.length / 2 - 1, 8)}${data.slice(2)}`
  })
  return encodeCall(EXECUTE, `0x${records.join('')}`)
}

const digits = (value: bigint | number, length: number) => value.toString(16).padStart(length, '0')

/** Bytes of the call data of a bundle. @param lengths of the call data of its calls, in bytes */
export function bundleBytes(lengths: readonly number[]): number {
  const records = lengths.reduce((sum, length) => sum + HEAD_DIGITS / 2 + length, 0)
  // Selector, offset, length, and the records up to a whole word.
  return 4 + 32 + 32 + Math.ceil(records / 32) * 32
}

/**
 * The transaction for relay calls: to the key manager, or for several of them to the bundler.
 *
 * @param calls at least one, with the gas limits of transactions of their own
 */
export function transactionFor(
  calls: readonly BundledCall[],
  bundler: string | undefined,
): { readonly to: string; readonly gasLimit: bigint; readonly data: string } {
  const [first, second] = calls
  if (!first) throw new TypeError('no call to send')
  if (!second) return first
  if (bundler === undefined) throw new TypeError('several calls without a bundler')
  return {
    to: bundler,
    gasLimit: bundleGasLimit(calls.map(({ gasLimit }) => gasLimit)),
    data: encodeBundle(calls.map(bundled)),
  }
}

/**
 * The calls of a bundle, with addresses in lower case.
 *
 * @throws TypeError when it is no call data for the bundler
 */
export function decodeBundle(data: string): BundledCall[] {
  if (!data.startsWith(EXECUTE)) throw new TypeError('not the call data of a bundle')
  const records = new Reader(`0x${data.slice(10)}`).bytes(32).slice(2)
  const calls: BundledCall[] = []
  for (let at = 0; at < records.length;) {
    const length = Number.parseInt(records.slice(at + 56, at + HEAD_DIGITS), 16) * 2
    calls.push({
      to: `0x${records.slice(at, at + 40)}`,
      gasLimit: BigInt(`0x${records.slice(at + 40, at + 56)}`),
      data: `0x${records.slice(at + HEAD_DIGITS, at + HEAD_DIGITS + length)}`,
    })
    at += HEAD_DIGITS + length
  }
  return calls
}

/**
 * Gas limit of a bundle: the bundler starts no call with less than its limit, and a call gets 63 of 64 parts of what is
 * left (EIP-150). What transactions of their own would have cost for themselves pays for the bundler's work.
 *
 * @param gasLimits of transactions of their own
 */
export function bundleGasLimit(gasLimits: readonly bigint[]): bigint {
  const sum = gasLimits.reduce((total, gasLimit) => total + gasLimit, 0n)
  return (sum * 64n + 62n) / 63n
}

/** A log of a receipt, as nodes send it. */
export interface RawLog {
  readonly address?: unknown
  readonly topics?: unknown
  readonly data?: unknown
}

/**
 * What the bundler says of its calls, in their order; those that were not made are missing at the end. Calls may re-enter
 * the bundler and make it say what they like, so the last word counts.
 *
 * @param bundler in any case
 */
export function bundleResults(logs: readonly RawLog[], bundler: string): BundledResult[] {
  const last = logs.findLast(
    ({ address, topics }) =>
      String(address).toLowerCase() === bundler.toLowerCase() && Array.isArray(topics) && topics[0] === BUNDLED,
  )
  if (typeof last?.data !== 'string') return []
  const results = Buffer.from(new Reader(last.data).bytes(32).slice(2), 'hex')
  return Array.from({ length: results.length / RESULT_BYTES }, (_, index) => ({
    succeeded: results[index * RESULT_BYTES] === 1,
    gasUsed: results.readBigUInt64BE(index * RESULT_BYTES) & ((1n << 56n) - 1n),
  }))
}

/** What a CALL costs to an address that the transaction has not met before, and to one that it has (EIP-2929). */
const COLD_CALL_GAS = 2_600n
const WARM_CALL_GAS = 100n

/**
 * Divides the gas of a mined bundle among its calls, in proportion to what each would have used in a transaction of its
 * own: the cost of a transaction with its call data, and the gas that the call was seen to use. The parts add up to the
 * gas of the receipt. As long as the bundle is cheaper than the transactions would have been, so is each part.
 *
 * Refunds (EIP-3529) are granted to the transaction as a whole, and no contract sees whose they are: they are divided in
 * the same proportion.
 *
 * @param gasUsed of the receipt
 * @param results one for each call; those that are missing were not made
 */
export function divideGas(gasUsed: bigint, calls: readonly BundledCall[], results: readonly BundledResult[]): bigint[] {
  const met = new Set<string>()
  const weights = calls.map(({ to, data }, index) => {
    const callGas = met.has(to) ? WARM_CALL_GAS : COLD_CALL_GAS
    met.add(to)
    const used = results[index]?.gasUsed ?? 0n
    return transactionGas(data, used > callGas ? used - callGas : 0n)
  })
  return divide(gasUsed, weights)
}

/**
 * Reads relay calls out of signed transactions, which are where the ledger keeps them. A bundle is decoded once for all its
 * calls.
 *
 * @returns a function of the signed bytes and of the call's place in the bundle; null: it is the only call
 */
export function createCallReader(): (raw: string, place: number | null) => Pick<BundledCall, 'to' | 'data'> {
  const bundles = new Map<string, readonly BundledCall[]>()
  return (raw, place) => {
    if (place === null) return transactionCall(raw)
    let calls = bundles.get(raw)
    if (!calls) bundles.set(raw, (calls = decodeBundle(transactionCall(raw).data)))
    const call = calls[place]
    if (!call) throw new RangeError(`a bundle of ${calls.length} calls has no place ${place}`)
    return call
  }
}
