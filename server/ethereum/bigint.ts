/** `Math.min` of bigints, which it does not take. */
export const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** `Math.max` of bigints, which it does not take. */
export const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)
