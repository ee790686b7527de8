import type { Arbitrary } from 'fast-check'
import { stringify } from '../lossless-json.ts'

/** One of the ways to write a JSON text that mean the same (RFC 8259). */
export interface Spelling {
  /** Which order the members of objects come in, as a seed of a shuffle. */
  readonly order: number
  /** White space between tokens. */
  readonly space: string
  /** Every so manieth letter of a string is written as an escape; 0: none. */
  readonly escape: number
}

/** As most clients write it. */
export const plainSpelling: Spelling = { order: 0, space: '', escape: 0 }

export async function spellings(): Promise<Arbitrary<Spelling>> {
  const { constantFrom, nat, record } = await import('fast-check')
  return record({
    order: nat(23),
    space: constantFrom('', ' ', '\n', '\t', '\r\n  '),
    escape: constantFrom(0, 0, 1, 2, 5),
  })
}

/** The members, in the order that the number stands for among all orders. */
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

/** A value as JSON text in a spelling; bigints keep all of their digits. */
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
