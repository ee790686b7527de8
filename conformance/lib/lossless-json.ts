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
