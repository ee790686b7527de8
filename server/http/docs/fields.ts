import type { JsonSchema, WithComponents } from './documents.ts'

/** A member of a request or an answer, as a reader wants it. */
export interface Field {
  /** With the names of the objects around it: `transaction.nonce`. */
  readonly name: string
  readonly type: string
  /** What it means. */
  readonly what: string
  readonly isRequired: boolean
}

/** Objects in objects are shown up to this depth. */
const MAX_DEPTH = 3

/** The members of an object's schema, those of objects within it included; none for another type. */
export function fieldsOf(document: WithComponents, schema: JsonSchema, depth = 0): Field[] {
  const { properties = {}, required = [] } = resolve(document, schema)
  return Object.entries(properties).flatMap(([name, member]) => {
    const resolved = resolve(document, member)
    const field = {
      name,
      type: typeOf(document, resolved),
      what: member.description ?? resolved.description ?? '',
      isRequired: required.includes(name),
    }
    const inner = depth + 1 < MAX_DEPTH ? fieldsOf(document, resolved, depth + 1) : []
    return [field, ...inner.map((one) => ({ ...one, name: `${name}.${one.name}` }))]
  })
}

/** Whole examples of a schema. */
export function examplesOf(document: WithComponents, schema: JsonSchema): readonly unknown[] {
  return resolve(document, schema).examples ?? []
}

/** @throws Error for a reference that leads nowhere: the documents are generated */
function resolve(document: WithComponents, schema: JsonSchema): JsonSchema {
  const { $ref, ...beside } = schema
  if ($ref === undefined) return schema
  const name = $ref.slice($ref.lastIndexOf('/') + 1)
  const found = document.components?.schemas?.[name]
  if (!found) throw new Error(`no schema ${$ref}`)
  return { ...resolve(document, found), ...beside }
}

function typeOf(document: WithComponents, schema: JsonSchema): string {
  const alternatives = schema.oneOf ?? schema.anyOf
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (alternatives) {
    const types = alternatives.map((one) => typeOf(document, resolve(document, one)))
    return [...new Set(types)].join(' or ')
  }
  if (schema.items) return `list of ${schema.title ?? typeOf(document, resolve(document, schema.items))}`
  const type = typeof schema.type === 'object' ? schema.type.join(' or ') : (schema.type ?? 'any')
  return schema.title !== undefined && type !== 'object' ? `${schema.title} (${type})` : type
}
