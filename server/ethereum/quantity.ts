import type { BlockParam } from '../../specs/index.ts'

/** An object that a node sent: its members may be of any type, or absent. */
export type Raw = Readonly<Record<string, unknown>>

/**
 * A quantity as the standard writes it: hex, lower case, no leading zeros. Nodes also send JSON numbers and padded hex.
 * A value that is no number is handed on as it is, and the schema refuses it.
 */
export function toQuantity(value: unknown): unknown {
  if (typeof value === 'string') {
    if (/^0x(?:0|[1-9a-f][0-9a-f]*)$/.test(value)) return value
    return /^0x[0-9a-fA-F]+$/.test(value) ? `0x${BigInt(value).toString(16)}` : value
  }
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? `0x${value.toString(16)}` : value
}

/** Data in lower case. */
export function toData(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}

/** What may be absent or null; both are told as null. */
export function orNull<T>(value: unknown, project: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : project(value)
}

/** Sets a member only when the node sent one. */
export function setIfSent(
  target: Record<string, unknown>,
  raw: Raw,
  name: string,
  project: (value: unknown) => unknown,
): void {
  const value = raw[name]
  if (value !== undefined && value !== null) target[name] = project(value)
}

export function isRaw(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A block number in any of its spellings; undefined for a tag. */
export function numberOf(block: BlockParam): number | undefined {
  if (typeof block === 'number') return block
  return block.startsWith('0x') ? Number(block) : undefined
}
