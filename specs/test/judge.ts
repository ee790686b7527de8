import { expect } from 'chai'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { schemas } from '../index.ts'

const compile = compiler()

/** Declares one test for each value that a schema must accept or refuse. `reference` is `<key>#<pointer>`. */
export function judge(reference: string, { accepts, refuses }: { accepts: Values; refuses: Values }): void {
  describe(reference, () => {
    for (const [name, value] of Object.entries(accepts)) {
      it(`accepts ${name}`, () => {
        const validate = compile(reference)
        validate(value)
        expect(validate.errors ?? []).to.be.empty
      })
    }
    for (const [name, value] of Object.entries(refuses)) {
      it(`refuses ${name}`, () => {
        expect(compile(reference)(value), JSON.stringify(value)).to.be.false
      })
    }
  })
}

type Values = Readonly<Record<string, unknown>>

/** A copy of the first example at `reference`: the accepted twin of everything that differs by one fault. */
export function exampleOf(reference: string, index = 0): Record<string, unknown> {
  const [key = '', pointer = ''] = reference.split('#')
  const steps = pointer.split('/').slice(1)
  const node = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], schemas[key])
  return structuredClone((node as { examples: Record<string, unknown>[] }).examples[index]) ?? {}
}

/** The same without one member. */
export function without(value: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([member]) => member !== name))
}

/** One value for each name, without that member. */
export function lacking(value: Readonly<Record<string, unknown>>, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [`no ${name}`, without(value, name)]))
}

/** One value for each change, made to `value` alone. */
export function altered(value: Readonly<Record<string, unknown>>, changes: Values): Values {
  return Object.fromEntries(
    Object.entries(changes).map(([name, bad]) => [
      `${name} ${JSON.stringify(bad)?.slice(0, 40)}`,
      { ...value, [name]: bad },
    ]),
  )
}

/** Compiles `<key>` or `<key>#<pointer>` with every schema of the folder at hand, as strictly as Ajv can. */
export function compiler(): (reference: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allErrors: true })
  // ajv-formats is CommonJS: its default export arrives as a property of the namespace.
  formats.default(ajv)
  for (const schema of Object.values(schemas)) ajv.addSchema(schema)
  return (reference) => {
    const [key = '', pointer = ''] = reference.split('#')
    return ajv.compile({ $ref: `${String(schemas[key]?.['$id'])}#${pointer}` })
  }
}
