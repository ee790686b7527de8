/**
 * Every number that a value may stand for: the document does not show results, so hex with 0x in any letter case and
 * with leading zeros, hex digits alone, a JSON integer of any size and decimal digits are all possible. The form itself
 * is judged elsewhere, by the schema of the result.
 *
 * @returns the likeliest first, which is hex for digits alone; empty for what is no number
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

/** The likeliest of the numbers that a value may stand for; undefined for what is no number. */
export function numberOf(value: unknown): bigint | undefined {
  return readingsOf(value)[0]
}

/** Whether the value may stand for the number. */
export function isNumber(value: unknown, number: bigint): boolean {
  return readingsOf(value).includes(number)
}

/** The standard's quantity: hex with 0x and without leading zeros. */
export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}
