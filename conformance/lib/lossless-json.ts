/** `JSON.rawJSON` of the ECMAScript proposal, which Node has and TypeScript's libraries do not declare. */
const { rawJSON } = JSON as unknown as { rawJSON: (this: void, text: string) => unknown }

/** A number literal to be written as it stands, e.g. `1.5` behind 40 digits. */
export class NumberLiteral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON text of a value that may hold bigints, which are written with all of their digits, and number literals. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return rawJSON(String(member))
    if (member instanceof NumberLiteral) return rawJSON(member.text)
    return member
  })
}

/** `JSON.parse` with integers beyond 2^53 as bigints instead of rounded numbers. @throws SyntaxError */
export function parseLossless(text: string): unknown {
  const revive = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context?.source ?? '')
      : value
  return JSON.parse(text, revive)
}

/** The numbers of a JSON object's own members as they are written; empty for any other text. */
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
