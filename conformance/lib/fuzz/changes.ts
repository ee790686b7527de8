import { getBytes, hexlify } from 'ethers'
import type { Arbitrary } from 'fast-check'

/** One change to a JSON value. The numbers choose the place. */
export interface Breakage {
  readonly at: readonly number[]
  readonly kind: 'drop' | 'replace' | 'add'
  readonly value: unknown
}

/** Values that are wrong in almost every place, and arbitrary JSON values. */
async function oddValues(): Promise<Arbitrary<unknown>> {
  const { constantFrom, jsonValue, oneof } = await import('fast-check')
  const odd = [null, true, -1, 1.5, 1e300, 2 ** 53, '', '0x', '0xg', '0x0', 'latest', [], {}, [[]], '\u0000', '💥']
  return oneof(constantFrom<unknown>(...odd), jsonValue({ maxDepth: 3 }))
}

/** Up to three changes. An empty list leaves the value as it is. */
export async function breakages(): Promise<Arbitrary<readonly Breakage[]>> {
  const { array, constantFrom, nat, record } = await import('fast-check')
  const one = record({
    at: array(nat(9), { minLength: 1, maxLength: 4 }),
    kind: constantFrom('drop', 'replace', 'add'),
    value: await oddValues(),
  })
  return array(one, { maxLength: 3 })
}

function breakAt(value: unknown, [first = 0, ...rest]: readonly number[], { kind, value: odd }: Breakage): unknown {
  if (typeof value !== 'object' || value === null) return kind === 'drop' ? undefined : odd
  const entries = Object.entries(value)
  const at = entries.length === 0 ? undefined : entries[first % entries.length]
  const rebuilt = (changed: readonly (readonly [string, unknown])[]): unknown =>
    Array.isArray(value) ? changed.map(([, member]) => member) : Object.fromEntries(changed)
  if (!at || (rest.length === 0 && kind === 'add')) return rebuilt([...entries, [`x${first}`, odd]])
  const [name] = at
  if (rest.length === 0 && kind === 'drop') return rebuilt(entries.filter(([other]) => other !== name))
  const inner = rest.length === 0 ? odd : breakAt(at[1], rest, { at: rest, kind, value: odd })
  return rebuilt(entries.map(([other, member]) => [other, other === name ? inner : member]))
}

/** The value with all changes made, one after the other. */
export function broken(value: unknown, changes: readonly Breakage[]): unknown {
  return changes.reduce((changed, change) => breakAt(changed, change.at, change), value)
}

/** A change to a signed request after which the signature no longer fits. */
export interface Tampering {
  readonly what: 'signature' | 'message' | 'number'
  /** The index of the bit that is flipped; for `number`, how much is added. */
  readonly at: number
}

export async function tamperings(): Promise<Arbitrary<Tampering>> {
  const { constantFrom, nat, record } = await import('fast-check')
  return record({ what: constantFrom('signature', 'message', 'number'), at: nat(511) })
}

/** Flips one bit. A caller leaves out the last byte of a signature, which has several right values. */
export function flipBit(hex: string, at: number, bytes = getBytes(hex).length): string {
  const changed = getBytes(hex).slice()
  const bit = at % (bytes * 8)
  const byte = Math.floor(bit / 8)
  changed[byte] = (changed[byte] ?? 0) ^ (1 << (bit % 8))
  return hexlify(changed)
}
