import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { schemas } from '../../specs/index.ts'

const base = 'https://touchstone.invalid/schemas/'
let ajv: Ajv2020 | undefined

function validator(reference: string): ValidateFunction {
  if (!ajv) {
    ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, validateSchema: false })
    for (const [path, schema] of Object.entries(schemas)) ajv.addSchema({ ...schema, $id: `${base}${path}.json` })
  }
  const [path, pointer] = reference.split('#')
  const found = ajv.getSchema(`${base}${path}.json#${pointer ?? ''}`)
  if (!found) throw new Error(`no schema ${reference} in specs/schemas`)
  return found
}

/**
 * Says how a value breaks a schema of `specs/schemas`.
 *
 * @param reference path and pointer: `rpc-method/eth_chainId#/properties/result`
 * @returns one line per violation; empty when the value is valid
 */
export function violations(value: unknown, reference: string): string[] {
  const validate = validator(reference)
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the value'}: ${message}`)
}
