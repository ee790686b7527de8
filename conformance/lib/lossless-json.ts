/** `JSON.rawJSON` of the ECMAScript proposal, which Node has and TypeScript's libraries do not declare. */
const { rawJSON } = JSON as unknown as { rawJSON: (this: void, text: string) => unknown }

/** A number that is written as its text stands, for example `1.5` with 40 digits before the point. */
export class NumberLiteral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON text of a value that may hold bigints and number literals. Both keep all of their digits. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return rawJSON(String(member))
    if (member instanceof NumberLiteral) return rawJSON(member.text)
    return member
  })
}

/**
 * `JSON.parse` that returns integers beyond 2^53 as bigints.
 *
 * @param forms `any`: also those that are written as `1e+22` or with `.0`, as a double that has lost digits may be
 * @throws SyntaxError
 */
export function parseLossless(text: string, forms: 'digits alone' | 'any' = 'digits alone'): unknown {
  const revive = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    if (forms === 'digits alone' && !/^-?\d+$/.test(context?.source ?? '')) return value
    const { units, scale } = parseDecimal(context?.source ?? '') ?? { units: 1n, scale: 1 }
    const one = 10n ** BigInt(scale)
    return units % one === 0n ? units / one : value
  }
  return JSON.parse(text, revive)
}

/** The numbers among the own members of a JSON object, as the text writes them; empty for any other text. */
export function numberSources(text: string): ReadonlyMap<string, string> {
  const sources = new Map<string, string>()
  const revive = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value === 'number' && context?.source !== undefined) return new NumberLiteral(context.source)
    return value
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text, revive)
  } catch {
    return sources
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return sources
  for (const [key, value] of Object.entries(parsed)) if (value instanceof NumberLiteral) sources.set(key, value.text)
  return sources
}

/** A number with more digits is taken for no amount. */
const mostDigits = 1000

/** A number of a JSON text with all of its digits: `units / 10^scale`. */
export interface Decimal {
  readonly units: bigint
  /** How many of the digits stand behind the point. */
  readonly scale: number
}

/** Reads a number as JSON writes it, with its exponent; undefined for a number of more than 1000 digits. */
export function parseDecimal(source: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  if (whole === '') return undefined
  const scale = fraction.length - Number(exponent)
  if (Math.abs(scale) > mostDigits || whole.length + fraction.length > mostDigits) return undefined
  const digits = BigInt(`${sign}${whole}${fraction}`)
  return scale < 0 ? { units: digits * 10n ** BigInt(-scale), scale: 0 } : { units: digits, scale }
}

function unitsAt({ units, scale }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - scale)
}

/** `a - b`, exactly. */
export function minus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { units: unitsAt(a, scale) - unitsAt(b, scale), scale }
}

/** Below zero: `a` is less; zero: they are equal; above zero: `a` is more. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const { units } = minus(a, b)
  return units < 0n ? -1 : units > 0n ? 1 : 0
}

/** The nearest double, for ratios, where the last digits do not matter. */
export function toNumber({ units, scale }: Decimal): number {
  return Number(`${units}e-${scale}`)
}

/** All digits, without an exponent. */
export function showDecimal({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)]
  const behind = fraction.replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${behind === '' ? '' : `.${behind}`}`
}
