import { expect } from 'chai'
import {
  schemas,
  type ExecuteRequest,
  type QuotaResponse,
  type RpcMethodParams,
  type RpcMethodResult,
} from '../index.ts'
import { compiler } from './judge.ts'

const compile = compiler()

describe('schemas', () => {
  for (const [key, schema] of Object.entries(schemas)) {
    it(`${key} compiles in Ajv's strict mode, is named as its file, and accepts its own examples`, () => {
      expect(schema['$schema']).to.equal('https://json-schema.org/draft/2020-12/schema')
      expect(schema['$id']).to.equal(`https://touchstone.invalid/schemas/${key}.json`)
      expect(schema['title']).to.be.a('string')
      expect(schema['description']).to.be.a('string')
      compile(key)
      for (const { pointer, example } of examplesIn(schema)) {
        const validate = compile(`${key}#${pointer}`)
        validate(example)
        expect(validate.errors ?? [], `${pointer}: ${JSON.stringify(example)}`).to.be.empty
      }
    })
  }

  it('show an example of every request, response, parameter list and result', () => {
    for (const key of Object.keys(schemas).filter((name) => /^(?:rpc-method|relay|quota)\//.test(name))) {
      const { properties } = schemas[key] as { properties: Record<string, { examples?: unknown[] }> }
      for (const [name, part] of Object.entries(properties)) {
        expect(part.examples, `${key} ${name}`).to.be.an('array').that.is.not.empty
      }
    }
  })
})

/** Every `examples` of a schema, with the JSON pointer to the schema that has it. */
function* examplesIn(node: unknown, pointer = ''): Generator<{ pointer: string; example: unknown }> {
  if (typeof node !== 'object' || node === null) return
  const examples: unknown = (node as { examples?: unknown }).examples
  if (Array.isArray(examples)) for (const example of examples) yield { pointer, example }
  for (const [keyword, child] of Object.entries(node)) {
    if (['examples', 'default', 'enum', 'const'].includes(keyword)) continue
    yield* examplesIn(child, `${pointer}/${keyword.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
}

const address = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

// That these compile is the first half of the test; that the schemas agree is the second.
const params = {
  eth_blockNumber: [],
  eth_chainId: [],
  eth_gasPrice: [],
  eth_maxPriorityFeePerGas: [],
  eth_getBalance: [address, 'latest'],
  eth_getLogs: [{ address: [address], topics: [null], paging_options: { logIndex: '0x0', blockNumber: '0x1' } }],
  eth_getTransactionByHash: [`0x${'ab'.repeat(32)}`],
  eth_getTransactionReceipt: [`0x${'ab'.repeat(32)}`],
} satisfies Partial<RpcMethodParams>
const results = {
  eth_chainId: '0x2a',
  eth_getLogs: [],
  eth_getTransactionReceipt: null,
} satisfies Partial<RpcMethodResult>
const request: ExecuteRequest = { address, transaction: { abi: '0x7f23690c', signature: '0x', nonce: '1' } }
const quota: QuotaResponse = { quota: 1, unit: 'lyx' }

describe('generated types', () => {
  it('agree with the schemas', () => {
    for (const [method, value] of Object.entries(params)) {
      expect(compile(`rpc-method/${method}#/properties/params`)(value), method).to.be.true
    }
    for (const [method, value] of Object.entries(results)) {
      expect(compile(`rpc-method/${method}#/properties/result`)(value), method).to.be.true
    }
    expect(compile('relay/execute#/properties/request')(request)).to.be.true
    expect(compile('quota/quota#/properties/response')(quota)).to.be.true
  })
})
