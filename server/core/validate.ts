import { Ajv2020, type AnySchemaObject, type ErrorObject } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { insteadOf, schemas } from '../../specs/index.ts'

/** Which Ajv compiles: a request stops at its first error, a form that a person fills in hears of all of them. */
export type ValidationMode = 'first-error' | 'all-errors'

/** @returns whether the data keep to the schema; why not is in `errors` until the next call */
export interface Validate {
  (data: unknown): boolean
  readonly errors?: ErrorObject[] | null
}

/** Compiles the schemas of `specs/` and those that plugins bring. */
export interface Validator {
  /** Whether `specs/schemas/<key>.json` exists, e.g. `rpc-method/eth_chainId`. */
  has(key: string): boolean
  /**
   * Compiles `specs/schemas/<key>.json`, or one of its properties: `compileKey('relay/execute', 'request')`. Each is compiled
   * once in a process, when it is first used: all of them together take 0.3 s of CPU in a process that has just started.
   */
  compileKey(key: string, property?: string): Validate
  /** Compiles a schema that a plugin brought, or one of its properties. @throws Error on an invalid schema */
  compile(schema: AnySchemaObject, property?: string): Validate
}

const validators = new Map<ValidationMode, Validator>()

/** `all-errors` also fills in the defaults that a schema names: it is for options and configuration. */
export function validatorOf(mode: ValidationMode): Validator {
  const validator = validators.get(mode) ?? createValidator(mode)
  validators.set(mode, validator)
  return validator
}

function createValidator(mode: ValidationMode): Validator {
  const ajv = new Ajv2020({
    allErrors: mode === 'all-errors',
    useDefaults: mode === 'all-errors',
    // With each error its schema, whose words tell a caller what would be right.
    verbose: true,
    strict: true,
    // Request forms such as "integer or decimal string" are unions by nature.
    allowUnionTypes: true,
    strictRequired: false,
    strictTypes: false,
  })
  // ajv-formats is CommonJS: its default export arrives as a property of the namespace.
  formats.default(ajv)
  // The tests of `specs/` validate its schemas: compiling the schema of schemas takes a tenth of the CPU of a start.
  for (const schema of Object.values(schemas)) ajv.addSchema(schema, undefined, undefined, false)

  function compileProperty($id: string, property?: string): Validate {
    const validate = ajv.getSchema(property === undefined ? $id : `${$id}#/properties/${property}`)
    if (!validate) throw new Error(`the schema has no property '${property}'`)
    return validate
  }
  const known = new Map<string, Validate>()
  let pluginSchemas = 0

  return {
    has: (key) => Object.hasOwn(schemas, key),
    compileKey: (key, property) => {
      const schema = schemas[key]
      if (schema === undefined) throw new Error(`no schema specs/schemas/${key}.json`)
      const name = `${key} ${property ?? ''}`
      const validate = known.get(name) ?? whenUsed(() => compileProperty(String(schema['$id']), property))
      known.set(name, validate)
      return validate
    },
    compile: (schema, property) => {
      const $id = `urn:touchstone:plugin-schema:${++pluginSchemas}`
      ajv.addSchema({ ...schema, $id })
      return compileProperty($id, property)
    },
  }
}

function whenUsed(compile: () => Validate): Validate {
  let compiled: Validate | undefined
  const validate = (data: unknown) => (compiled ??= compile())(data)
  return Object.defineProperty(validate, 'errors', { get: () => compiled?.errors })
}

/**
 * What Ajv says of a field (`fieldOf`), with the names that it leaves out: `is missing`, `must be one of open, registered`, `has no
 * member 'prot'; did you mean port?`; where a schema has examples, `must be like "/relay"`.
 */
export function brokenRuleOf({ keyword, message = keyword, params, parentSchema }: ErrorObject): string {
  if (keyword === 'required') return 'is missing'
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as readonly unknown[]).join(', ')}`
  const { examples } = (parentSchema ?? {}) as { examples?: readonly unknown[] }
  if (examples && (keyword === 'pattern' || keyword === 'type')) {
    const like = examples.map((one) => JSON.stringify(one)).join(' or ')
    return `${keyword === 'type' ? message : 'must be'} like ${like}`
  }
  if (keyword !== 'additionalProperties') return message
  const name = String(params['additionalProperty'])
  return `has no member '${name}'${insteadOf(name, Object.keys((parentSchema?.['properties'] ?? {}) as object))}`
}

/** The path of the faulty member, `/`-separated; for a missing one, its own path. */
export function fieldOf(error: ErrorObject, fallback = 'body'): string {
  const missing = error.keyword === 'required' ? `/${String(error.params['missingProperty'])}` : ''
  return `${error.instancePath}${missing}`.slice(1) || fallback
}
