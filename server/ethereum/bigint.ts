/** `Math.min` of bigints, which it does not take. */
export const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** `Math.max` of bigints, which it does not take. */
export const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/**
 * Divides an amount in proportion to weights.
 *
 * @param weights at least one is positive
 * @returns one part for each weight, rounded; the parts add up to the amount
 */
export function divide(amount: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  let [weighed, given] = [0n, 0n]
  return weights.map((weight) => {
    weighed += weight
    const part = (amount * weighed) / total - given
    given += part
    return part
  })
}
