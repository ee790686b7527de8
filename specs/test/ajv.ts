import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { schemas } from '../index.ts'

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
