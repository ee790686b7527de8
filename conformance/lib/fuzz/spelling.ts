import type { Arbitrary } from 'fast-check'
import { stringify } from '../lossless-json.ts'

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
