import { schemas, type JsonSchema } from '../../specs/index.ts'

const folder = 'rpc-method/'

/** One JSON-RPC method, as its schema file describes it. */
export interface RpcMethodSchema {
  readonly name: string
  readonly description: string
  readonly params: ParamsSchema
  readonly result: JsonSchema
}

interface ParamsSchema {
  readonly prefixItems?: readonly (JsonSchema & { readonly title: string; readonly description?: string })[]
  readonly minItems?: number
  readonly examples?: readonly (readonly unknown[])[]
}

/** Every method that has a file in `specs/schemas/rpc-method/`. */
export function rpcMethods(): RpcMethodSchema[] {
  return Object.entries(schemas)
    .filter(([key]) => key.startsWith(folder))
    .map(([key, schema]) => {
      const { description, properties } = schema as {
        description: string
        properties: { params: ParamsSchema; result: JsonSchema }
      }
      return { name: key.slice(folder.length), description, ...properties }
    })
}

/**
 * Collects schemas of `specs/schemas/` as the components of one document: every `$ref` into another file becomes a
 * `$ref` to `#/components/schemas/<name>`, and what it leads to becomes a component.
 */
export class Bundle {
  readonly #components = new Map<string, unknown>()

  /**
   * @param reference `<key>` or `<key>#<pointer>`, e.g. `relay/execute#/properties/request`
   * @returns the reference to its component
   */
  ref(reference: string): { $ref: string } {
    const [key = '', pointer = ''] = reference.split('#')
    const name = componentName(key, pointer)
    if (!this.#components.has(name)) {
      // The name is taken before the component is filled, because a schema may refer to itself.
      this.#components.set(name, {})
      this.#components.set(name, this.inline(reference))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  /** The schema itself, to be used in place. Schemas that it refers to become components. */
  inline(reference: string): unknown {
    const [key = '', pointer = ''] = reference.split('#')
    return this.#rewrite(resolve(key, pointer), key)
  }

  /** Adds a component that no file holds. */
  add(name: string, schema: JsonSchema): { $ref: string } {
    this.#components.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** Everything collected so far, by name. */
  components(): Record<string, unknown> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #rewrite(node: unknown, key: string): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#rewrite(item, key))
    if (!isRecord(node)) return node
    return Object.fromEntries(
      Object.entries(node)
        .filter(([keyword]) => !omitted.has(keyword))
        .map(([keyword, value]) =>
          keyword === '$ref' && typeof value === 'string'
            ? [keyword, this.ref(absolute(value, key)).$ref]
            : [keyword, this.#rewrite(value, key)],
        ),
    )
  }
}

/** Members that only a file has: its id, notes for its authors, and definitions, which become components. */
const omitted = new Set(['$schema', '$id', '$comment', '$defs'])

/** `rpc-method/eth_getLogs#/$defs/filter` is `rpc-method.eth_getLogs.filter`. */
function componentName(key: string, pointer: string): string {
  const steps = pointer.split('/').filter((step) => step !== '' && step !== '$defs' && step !== 'properties')
  return [...key.split('/'), ...steps].join('.')
}

/** A reference as the file `key` writes it, as `<key>#<pointer>`. */
function absolute(reference: string, key: string): string {
  const url = new URL(reference, `file:///${key}.json`)
  return `${url.pathname.slice(1).replace(/\.json$/, '')}${url.hash}`
}

function resolve(key: string, pointer: string): unknown {
  const found = pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((node, step) => (isRecord(node) ? node[step] : undefined), schemas[key])
  if (found === undefined) throw new Error(`specs/schemas/${key}.json has no '${pointer}'`)
  return found
}

const isRecord = (node: unknown): node is Record<string, unknown> => typeof node === 'object' && node !== null
