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
