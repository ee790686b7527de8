/** `Math.min` of bigints, which it does not take. */
export const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** `Math.max` of bigints, which it does not take. */
export const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/**
 * Divides an amount in proportion to weights; in equal parts when all of them are 0.
 *
 * @param weights none is negative
 * @returns one part for each weight, rounded; the parts add up to the amount
 */
export function divide(amount: bigint, weights: readonly bigint[]): bigint[] {
  const counted = weights.some((weight) => weight > 0n) ? weights : weights.map(() => 1n)
  const total = counted.reduce((sum, weight) => sum + weight, 0n)
  let [weighed, given] = [0n, 0n]
  return counted.map((weight) => {
    weighed += weight
    const part = (amount * weighed) / total - given
    given += part
    return part
  })
}
