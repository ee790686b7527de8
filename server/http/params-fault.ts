import type { ErrorObject } from 'ajv/dist/2020.js'

/** What breaks the schema of a method's params. */
export interface ParamsFault {
  /** The path of the faulty member: `params/0/address`. */
  readonly field: string
  /** What the member must be, in words: `must be a list`. */
  readonly reason: string
}

/** The parts of a schema that describe it in words. */
interface Described {
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly prefixItems?: readonly Described[]
}

/** The most characters of an unknown member's name that are echoed. */
const LONGEST_NAME = 100

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  null: 'null',
}

/**
 * Names the faulty member and says in words what is wrong with it. For a union Ajv tells what is wrong with each of its
 * forms: only forms of the type that was sent count, and of these the ones that match deepest.
 *
 * @param errors of a validator that stops at the first one
 */
export function faultOf(errors: readonly ErrorObject[]): ParamsFault {
  const depth = Math.max(0, ...errors.map(depthOf))
  const deepest = errors.filter((error) => depthOf(error) === depth)
  const places = deepest.filter(({ instancePath }) => instancePath === deepest[0]?.instancePath)
  const forms = places.filter(({ keyword }) => !UNIONS.has(keyword))
  const ofType = forms.filter(
    ({ keyword, data }) => keyword !== 'type' && (keyword !== 'enum' || typeof data === 'string'),
  )
  const union = places.findLast((error) => UNIONS.has(error.keyword))
  const [error] = ofType.length > 0 ? ofType : forms
  if (error === undefined) return { field: 'params', reason: 'are not valid' }

  const place = `params${error.instancePath}`
  if (ofType.length === 0) return { field: place, reason: `must be ${typesOf(forms)}` }
  const words = ofType.length > 1 ? (wordsFor(union) ?? wordsFor(error)) : (wordsFor(error) ?? wordsFor(union))
  return words === undefined || STRUCTURE.has(error.keyword) ? wordsOf(error, place) : { field: place, reason: words }
}

const UNIONS = new Set(['anyOf', 'oneOf', 'if'])
/**
 * Keywords that are about members and not about a value: for them the schema's description says nothing of the fault.
 */
const STRUCTURE = new Set(['additionalProperties', 'required', 'minItems', 'maxItems', 'items', 'false schema'])

const depthOf = ({ instancePath }: ErrorObject) => instancePath.split('/').length

const describedBy = (error: ErrorObject | undefined) => (error?.parentSchema ?? {}) as Described

function typesOf(forms: readonly ErrorObject[]): string {
  const types = forms.flatMap(({ params }) => (params as { type?: string | string[] }).type ?? 'string')
  const words = [...new Set(types.map((type) => TYPES[type] ?? type))]
  const last = words.pop() ?? 'something else'
  return words.length === 0 ? last : `${words.join(', ')} or ${last}`
}

function wordsOf(error: ErrorObject, place: string): ParamsFault {
  const { keyword, params, schemaPath, message = keyword } = error
  const { properties, prefixItems = [] } = describedBy(error)
  switch (keyword) {
    case 'additionalProperties': {
      const known = Object.keys(properties ?? {})
      return {
        field: `${place}/${String(params['additionalProperty']).slice(0, LONGEST_NAME)}`,
        reason: `is unknown: there is ${list(known)}`,
      }
    }
    case 'required':
      return { field: `${place}/${String(params['missingProperty'])}`, reason: 'is missing' }
    case 'minItems': {
      const names = prefixItems.map((one) => one.title ?? 'a value')
      return {
        field: place,
        reason: names.length > 0 ? `must hold ${list(names)}` : `must hold ${params['limit']} or more`,
      }
    }
    case 'items':
    case 'maxItems': {
      const names = prefixItems.map((one) => one.title ?? 'a value')
      const held = names.length > 0 ? `${list(names)} and nothing more` : `${params['limit']} at most`
      return { field: place, reason: params['limit'] === 0 ? 'must be empty' : `must hold ${held}` }
    }
    case 'false schema': {
      const [, one, other] = /dependentSchemas\/(\w+)\/properties\/(\w+)/.exec(schemaPath) ?? []
      const reason = one === undefined ? 'is not allowed' : `and ${one} exclude each other`
      return { field: place, reason: other === undefined ? 'is not allowed' : reason }
    }
    default:
      return { field: place, reason: message }
  }
}

/** `must be data of 20 bytes in any letter case`; undefined where the schema has no words of its own. */
function wordsFor(error: ErrorObject | undefined): string | undefined {
  const { title, description } = describedBy(error)
  // The description of a member says what it is for. Only a type has a title, too.
  if (title === undefined || description === undefined) return undefined
  return `must be ${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, '')
}

function list(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
