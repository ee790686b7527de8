import { getBytes, hexlify } from 'ethers'
import type { Arbitrary } from 'fast-check'
import { type Answer, describeAnswer } from './answer.ts'
import type { CheckContext } from './clause.ts'
import { stringify } from './lossless-json.ts'
import { Fault, Untestable } from './outcome.ts'

/** How many more requests may be sent to make a counterexample smaller. */
const mostShrinks = 200
const shownChars = 1500

/** How many cases a property gets: a part of the number of `--fuzz`, since some cases spend or walk pages. */
export function share(t: CheckContext, part: number): number {
  return Math.max(1, Math.ceil(t.fuzz.cases * part))
}

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
  return text.length > shownChars ? `${text.slice(0, shownChars)}…` : text
}

/**
 * Tries a property on random cases, which follow from the seed of the run alone, and makes the first counterexample
 * smaller. Records only the exchanges of the smallest one.
 *
 * @param holds throws Fault for a value for which the property does not hold
 * @throws Fault with the smallest counterexample and the seed; Untestable when `holds` throws it at the first case
 */
export async function expectProperty<T>(
  t: CheckContext,
  cases: number,
  arbitrary: Arbitrary<T>,
  holds: (t: CheckContext, value: T) => Promise<void>,
): Promise<void> {
  const { asyncProperty, check } = await import('fast-check')
  let failure: { readonly fault: Fault; keep(): void } | undefined
  let stopped: Untestable | undefined
  let tried = 0
  let shrinks = 0

  const property = asyncProperty(arbitrary, async (value) => {
    if (stopped || (failure && shrinks++ >= mostShrinks)) return
    tried++
    const { error, keep } = await t.aside((aside) => holds(aside, value))
    if (error === undefined) return
    if (error instanceof Untestable) return void (stopped = error)
    if (error instanceof Fault) failure = { fault: error, keep }
    throw error as Error
  })
  const details = await check(property, { seed: t.fuzz.seed, numRuns: cases })

  if (failure) {
    failure.keep()
    const { message, expected, actual, answer } = failure.fault
    const [value] = details.counterexample ?? []
    throw new Fault(message, {
      ...(expected === undefined ? {} : { expected }),
      actual: `${actual === undefined ? '' : `${actual}\n`}smallest case: ${shown(value)} (--seed ${t.fuzz.seed})`,
      ...(answer ? { answer } : {}),
    })
  }
  // An error of the suite itself is no fault of the target.
  if (details.failed) throw new Error('a property failed outside of the target', { cause: details.errorInstance })
  if (stopped && tried <= 1) throw stopped
  if (stopped) t.observe(`the check stopped after ${tried - 1} of ${cases} cases: ${stopped.message}`)
}

/**
 * The target answers the request, and not with a server error. The request is sent a second time before the check
 * fails, since the first failure may be that of a moment.
 *
 * @throws Fault when both fail
 */
export async function expectNoServerError(ask: () => Promise<Answer>): Promise<void> {
  const isFault = ({ status, failure }: Answer): boolean =>
    failure === undefined ? (status ?? 0) >= 500 : failure.kind === 'timeout' || failure.kind === 'died'
  if (!isFault(await ask())) return
  const answer = await ask()
  if (!isFault(answer)) return
  throw new Fault(answer.failure ? 'a request has no answer' : 'a request is answered by a server error', {
    expected: 'an answer below HTTP 500',
    actual: describeAnswer(answer),
    answer,
  })
}

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
