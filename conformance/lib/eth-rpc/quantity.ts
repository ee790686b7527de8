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
