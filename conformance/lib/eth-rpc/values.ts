import type { Answer } from '../answer.ts'
import { stringify } from '../lossless-json.ts'
import { Fault, type FaultDetails } from '../outcome.ts'

/**
 * Every number that a value may mean. The document does not show results, so a target may write hex with 0x in any
 * letter case and with leading zeros, hex digits alone, a JSON integer of any size, or decimal digits. The schema of
 * the result judges the form.
 *
 * @returns the most likely number first: digits alone are read as hex before decimal; empty for a value that is no
 * number
 */
export function readingsOf(value: unknown): readonly bigint[] {
  if (typeof value === 'bigint') return value >= 0n ? [value] : []
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? [BigInt(value)] : []
  if (typeof value !== 'string') return []
  if (/^0x[0-9a-f]+$/i.test(value)) return [BigInt(value)]
  if (!/^[0-9a-f]+$/i.test(value)) return []
  const hex = BigInt(`0x${value}`)
  return /^\d+$/.test(value) ? [hex, BigInt(value)] : [hex]
}

/** The most likely number that a value means; undefined for a value that is no number. */
export function numberOf(value: unknown): bigint | undefined {
  return readingsOf(value)[0]
}

/** Whether the value may mean the number. */
export function isNumber(value: unknown, number: bigint): boolean {
  return readingsOf(value).includes(number)
}

/** A quantity as the standard writes it: hex with 0x and without leading zeros. */
export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}

type Members = Readonly<Record<string, unknown>>

/** Byte strings, in which leading zeros count. Every other hex string is compared as a number. */
const byteStrings = new Set(['data', 'input', 'topics', 'logsBloom'])

/** In these fields null has a meaning: a transaction that is not mined, or one that creates a contract. */
const nullCounts = new Set(['to', 'from', 'value', 'nonce', 'input', 'blockHash', 'blockNumber', 'contractAddress'])

const zeroAddress = /^(0x)?0{40}$/i

/**
 * Whether a value stands for "nothing". In `contractAddress` the zero address does; in other fields it is an
 * account.
 */
function isNothing(field: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === '0x') return true
  return field === 'contractAddress' && typeof value === 'string' && zeroAddress.test(value)
}

function digits(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase().replace(/^0x/, '') : stringify(value)
}

/** The recovery id of a signature, 0 or 1, for every way to write `v` (EIP-155, EIP-2718). */
function recoveryId(v: bigint): bigint {
  return v >= 35n ? (v - 35n) % 2n : v >= 27n ? v - 27n : v
}

/** Words that services use for the standard's status 1 and 0. */
const statusWords: Readonly<Record<string, readonly string[]>> = {
  '1': ['ok', 'success', 'succeeded', 'successful', 'true'],
  '0': ['error', 'fail', 'failed', 'failure', 'revert', 'reverted', 'false'],
}

/** The number that a word for a status means; any other value as it is. */
function withoutWords(field: string, value: unknown): unknown {
  if (field !== 'status' || typeof value !== 'string') return value
  const word = value.toLowerCase()
  return Object.keys(statusWords).find((status) => statusWords[status]?.includes(word)) ?? value
}

function isSame(field: string, expected: unknown, given: unknown): boolean {
  const actual = withoutWords(field, given)
  if (expected === actual) return true
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      expected.length === actual.length &&
      expected.every((item, index) => isSame(field, item, actual[index]))
    )
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return false
    return Object.entries(expected).every(
      ([name, value]) => !(name in actual) || isSame(name, value, (actual as Members)[name]),
    )
  }
  if (digits(expected) === digits(actual)) return true
  if (typeof actual === 'boolean') return isSame(field, expected, Number(actual))
  const number = numberOf(expected)
  if (number === undefined || byteStrings.has(field)) return false
  if (field === 'v') return recoveryId(numberOf(actual) ?? -1n) === recoveryId(number)
  return isNumber(actual, number)
}

function differs(field: string, expected: unknown, actual: unknown): boolean {
  if (expected === undefined || actual === undefined || expected === actual) return false
  if (expected === null) return !isNothing(field, actual) && nullCounts.has(field)
  if (actual === null) return nullCounts.has(field)
  return !isSame(field, expected, actual)
}

/**
 * Each field that the target returns has the chain's value: numbers by value, hex in any case. A field that either
 * of them leaves out is not compared, since the documents show no results and nodes differ in their fields.
 *
 * @param what names the compared thing in the message
 * @param shown the answer that shows the fields, and the clause that a difference contradicts
 * @returns how many fields were compared
 * @throws Fault for the first field that differs
 */
export function expectSameFields(
  what: string,
  fields: readonly string[],
  truth: Members,
  found: Members,
  shown: Pick<FaultDetails, 'answer' | 'of'> & { readonly answer?: Answer } = {},
): number {
  for (const field of fields) {
    if (!differs(field, truth[field], found[field])) continue
    throw new Fault(`${field} of ${what} is not that of the chain`, {
      expected: stringify(truth[field]).slice(0, 300),
      actual: stringify(found[field]).slice(0, 300),
      ...shown,
    })
  }
  return fields.filter((field) => truth[field] !== undefined && found[field] !== undefined).length
}
