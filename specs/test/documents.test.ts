import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv, type SchemaObject } from 'ajv'
import { expect } from 'chai'
import { parse } from 'yaml'
import { errorCatalogue, schemas } from '../index.ts'

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const openapi = parse(textOf('../openapi.yaml')) as OpenApi
const openrpc = JSON.parse(textOf('../openrpc.json')) as { methods: { name: string }[] }

interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, unknown> }>>
}

describe('openapi.yaml', () => {
  it('is OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openapi) as never)
    expect(errors ?? []).to.deep.equal([])
    expect(valid).to.be.true
  })

  it('leads nowhere that is not there', () => {
    expectResolved(openapi)
  })

  it('names every status that the catalogue has for a path', () => {
    for (const [path, operations] of Object.entries(openapi.paths)) {
      const expected = Object.values(errorCatalogue)
        .filter(({ endpoints }) => endpoints.includes(path))
        .flatMap(({ status, rpcCode }) => (path === '/api/eth-rpc' && rpcCode !== undefined ? [] : (status ?? [])))
      const [operation] = Object.values(operations)
      expect(Object.keys(operation?.responses ?? {})).to.have.members(['200', ...new Set(expected.map(String))])
    }
  })

  it('has every endpoint that the catalogue speaks of', () => {
    const endpoints = new Set(Object.values(errorCatalogue).flatMap((entry) => entry.endpoints))
    expect(Object.keys(openapi.paths)).to.have.members([...endpoints])
  })
})

describe('openrpc.json', () => {
  it('is OpenRPC 1.3', () => {
    // Its types speak of the document only, not of the schema that the package exports.
    const meta = createRequire(import.meta.url)('@open-rpc/meta-schema') as { openrpcDocument: SchemaObject }
    const ajv = new Ajv({ strict: false, logger: false, validateSchema: false, validateFormats: false })
    // The dialect that it leads to is on the network only; our schemas are judged in schemas.test.ts.
    const dialect = { definitions: { JSONSchemaObject: { properties: { $ref: { type: 'string' } } } } }
    ajv.addSchema({ type: ['object', 'boolean'] }, 'https://meta.json-schema.tools')
    ajv.addSchema(dialect, 'https://meta.json-schema.tools/')
    const validate = ajv.compile(meta.openrpcDocument)
    validate(openrpc)
    expect(validate.errors ?? []).to.deep.equal([])
  })

  it('has every method', () => {
    const methods = Object.keys(schemas).filter((key) => key.startsWith('rpc-method/'))
    expect(openrpc.methods.map(({ name }) => `rpc-method/${name}`)).to.have.members(methods)
  })

  it('leads nowhere that is not there', () => {
    expectResolved(openrpc)
  })
})

function expectResolved(document: unknown): void {
  for (const { $ref } of references(document)) {
    const steps = $ref.split('/').slice(1)
    const found = steps.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], document)
    expect(found, $ref).to.be.an('object')
  }
}

function* references(node: unknown): Generator<{ $ref: string }> {
  if (typeof node !== 'object' || node === null) return
  if ('$ref' in node && typeof node.$ref === 'string') yield { $ref: node.$ref }
  for (const child of Object.values(node)) yield* references(child)
}
