import { getBytes, hexlify } from 'ethers'
import type { Arbitrary } from 'fast-check'
import { stringify } from '../lossless-json.ts'

/** One change to a JSON value. The numbers choose the place. */
interface Breakage {
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

/** One of the ways to write the same JSON value (RFC 8259). */
export interface Spelling {
  /** A seed for the order of the members of objects. */
  readonly order: number
  /** The white space between tokens. */
  readonly space: string
  /** The distance between the characters of a string that are written as an escape; 0: no escapes. */
  readonly escape: number
}

/** The spelling of most clients. */
export const plainSpelling: Spelling = { order: 0, space: '', escape: 0 }

export async function spellings(): Promise<Arbitrary<Spelling>> {
  const { constantFrom, nat, record } = await import('fast-check')
  return record({
    order: nat(23),
    space: constantFrom('', ' ', '\n', '\t', '\r\n  '),
    escape: constantFrom(0, 0, 1, 2, 5),
  })
}

/** The members in the order that the number chooses among all orders. */
function inOrder<T>(members: readonly T[], order: number): T[] {
  const left = [...members]
  let rest = order
  return members.map((_, index) => {
    const [next] = left.splice(rest % left.length, 1)
    rest = Math.floor(rest / (members.length - index))
    return next as T
  })
}

function spellString(text: string, { escape }: Spelling): string {
  if (escape === 0) return JSON.stringify(text)
  const letters = [...text].map((letter, index) =>
    index % escape === 0 && letter.length === 1
      ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
      : JSON.stringify(letter).slice(1, -1),
  )
  return `"${letters.join('')}"`
}

/** The value as JSON text in a spelling. Bigints keep all of their digits. */
export function spell(value: unknown, spelling: Spelling): string {
  const { space, order } = spelling
  if (typeof value === 'string') return spellString(value, spelling)
  if (Array.isArray(value))
    return `[${space}${value.map((part) => spell(part, spelling)).join(`${space},${space}`)}${space}]`
  if (typeof value !== 'object' || value === null) return stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const written = inOrder(members, order).map(
    ([name, member]) => `${spellString(name, spelling)}${space}:${space}${spell(member, spelling)}`,
  )
  return `{${space}${written.join(`${space},${space}`)}${space}}`
}
