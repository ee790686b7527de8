/** Forms of `specs/schemas/common.json`, by what a value looks like; the first that fits is taken. */
const commonForms: readonly [form: string, pattern: RegExp][] = [
  ['address', /^0x[0-9a-fA-F]{40}$/],
  ['hash32', /^0x[0-9a-fA-F]{64}$/],
  ['uint256', /^0x(?:0|[1-9a-f][0-9a-f]*)$/],
  ['blockNumberOrTag', /^(?:latest|earliest|pending)$/],
]

/** The schema of positional parameters, guessed from those of one call; what each means is left to the author. */
export function paramsSchema(example: readonly unknown[]): object {
  if (example.length === 0) return { type: 'array', description: 'None.', maxItems: 0, examples: [[]] }
  return {
    type: 'array',
    prefixItems: example.map((value, index) => ({ title: `param${index + 1}`, ...formOf(value) })),
    minItems: example.length,
    items: false,
    examples: [example],
  }
}

function formOf(value: unknown): object {
  if (typeof value === 'string') {
    const common = commonForms.find(([, pattern]) => pattern.test(value))
    return common ? { $ref: `../common.json#/$defs/${common[0]}` } : { type: 'string' }
  }
  if (Array.isArray(value)) return { type: 'array' }
  return { type: value === null ? 'null' : typeof value }
}
