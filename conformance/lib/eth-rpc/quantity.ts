/**
 * The number that a value stands for, in any form that leaves no doubt: hex with 0x in any letter case and with leading
 * zeros, or a JSON integer. The form itself is judged elsewhere, by the schema of the result.
 *
 * @returns undefined for everything else
 */
export function numberOf(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : undefined
}

/** The standard's quantity: hex with 0x and without leading zeros. */
export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}
