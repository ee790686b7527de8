import openapiTS, { astToString, type OpenAPI3, type OpenAPITSOptions } from 'openapi-typescript'
import ts from 'typescript'
import { Bundle } from './bundle.ts'

const header = '// Made by `npm run generate`. Never edited: change the schemas in specs/schemas/ instead.\n\n'

/** The TypeScript types of every request, response and component of openapi.yaml. */
export async function typesOfOpenapi(openapi: object): Promise<string> {
  return header + astToString(await openapiTS(openapi as OpenAPI3, { immutable: true, transform: emptyTuple }))
}

/** The TypeScript types of the configuration with its defaults filled in; no part of the HTTP interface. */
export async function typesOfConfig(): Promise<string> {
  const bundle = new Bundle()
  bundle.ref('config')
  return typesOfOpenapi({
    openapi: '3.1.0',
    info: { title: 'Configuration', version: '' },
    paths: {},
    components: { schemas: bundle.components() },
  })
}

/** A list that must be empty is the type `readonly []`, not a list of unknown length. */
const emptyTuple: NonNullable<OpenAPITSOptions['transform']> = (schema) =>
  'maxItems' in schema && schema.maxItems === 0
    ? ts.factory.createTypeOperatorNode(ts.SyntaxKind.ReadonlyKeyword, ts.factory.createTupleTypeNode([]))
    : undefined
