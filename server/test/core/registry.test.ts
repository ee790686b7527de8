import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Services, defineRpcMethod } from '../../core/define.ts'
import {
  discoverExternal,
  discoverFolder,
  createRegistry,
  servicesFor,
  type PluginOptions,
} from '../../core/registry.ts'
import { PluginError } from '../../core/errors.ts'
import '../../services/chain/chain.ts'

const method = (name: string, more = '') => `export default {
  kind: 'rpc-method', method: '${name}', clauses: [], needs: [], handle: () => '0x1', ${more} }`
const ownSchema = `schema: { properties: { params: { type: 'array', maxItems: 0 }, result: { type: 'string' } } }`

describe('core/registry', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'touchstone-plugins-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  async function write(file: string, source: string): Promise<void> {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(path.join(folder, file), source)
  }

  async function load(files: Record<string, string>, options?: PluginOptions) {
    for (const [file, source] of Object.entries(files)) await write(file, source)
    return createRegistry(await discoverFolder(folder), options)
  }

  async function failure(loading: Promise<unknown>): Promise<PluginError> {
    const error = await loading.then(
      () => expect.fail('the plugin was accepted'),
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(PluginError)
    expect((error as PluginError).message).not.to.include('\n')
    expect((error as PluginError).message).to.include((error as PluginError).file)
    return error as PluginError
  }

  it('finds a plugin by folder and its schema by kind and id', async () => {
    const { rpcMethods } = await load({ 'rpc-method/eth_chainId.js': method('eth_chainId') })
    const chainId = rpcMethods.get('eth_chainId')
    expect(chainId?.validateParams([])).to.equal(true)
    expect(chainId?.validateParams(['0x1'])).to.equal(false)
    expect(chainId?.validateResult('1')).to.equal(false)
  })

  it('takes the schema that a plugin brings', async () => {
    const { rpcMethods } = await load({ 'rpc-method/x_new.js': method('x_new', ownSchema) })
    expect(rpcMethods.get('x_new')?.validateParams([])).to.equal(true)
    expect(rpcMethods.get('x_new')?.validateParams([1])).to.equal(false)
  })

  it('fills in defaults of options without touching the module', async () => {
    const options = `${ownSchema}, options: { type: 'object', additionalProperties: false,
      properties: { limit: { type: 'integer', default: 7 } } }`
    const { rpcMethods } = await load({ 'rpc-method/x_new.js': method('x_new', options) })
    expect(rpcMethods.get('x_new')?.options).to.deep.equal({ limit: 7 })
  })

  const broken: [name: string, file: string, source: string, field: string, options?: PluginOptions][] = [
    ['a wrong name', 'rpc-method/eth_chainId.js', method('eth_chainID', ownSchema), 'method'],
    [
      'an unknown clause',
      'rpc-method/x_new.js',
      method('x_new', `${ownSchema}, clauses: ['eth-rpc.nope']`),
      'clauses/0',
    ],
    ['a missing schema', 'rpc-method/x_new.js', method('x_new'), 'schema'],
    [
      'an invalid schema',
      'rpc-method/x_new.js',
      method('x_new', `schema: { properties: { params: { type: 'lot' }, result: {} } }`),
      'schema/properties/params',
    ],
    ['a missing handler', 'rpc-method/eth_chainId.js', method('eth_chainId', 'handle: undefined'), 'handle'],
    ['a member that nobody knows', 'rpc-method/eth_chainId.js', method('eth_chainId', 'handel: 1'), 'manifest'],
    ['a wrong kind for the folder', 'relay/eth_chainId.js', method('eth_chainId'), 'kind'],
    ['no kind', 'rpc-method/eth_chainId.js', 'export default { method: "eth_chainId" }', 'kind'],
    ['no default export', 'rpc-method/eth_chainId.js', 'export const method = 1', 'default'],
    ['throwing at import', 'rpc-method/eth_chainId.js', 'throw new Error("first line\\nsecond")', ''],
    [
      'options where it takes none',
      'rpc-method/eth_chainId.js',
      method('eth_chainId'),
      'options',
      { 'rpc-method/eth_chainId': { a: 1 } },
    ],
    [
      'a bad option',
      'rpc-method/x_new.js',
      method('x_new', `${ownSchema}, options: { type: 'object', properties: { limit: { type: 'integer' } } }`),
      'options/limit',
      { 'rpc-method/x_new': { limit: 'many' } },
    ],
    [
      'options of a quota model, which its plans have',
      'quota/calls.js',
      `export default { kind: 'quota', id: 'calls', unit: 'transactionCount', clauses: [], needs: [],
        open() {}, reserve() {}, settle() {}, remaining() {} }`,
      'options',
      { 'quota/calls': {} },
    ],
    [
      'options for a plugin that is not there',
      'rpc-method/eth_chainId.js',
      method('eth_chainId'),
      'options',
      { 'rpc-method/other': {} },
    ],
  ]
  for (const [name, file, source, field, options] of broken) {
    it(`stops at ${name}`, async () => {
      const error = await failure(load({ [file]: source }, options))
      expect(error.field).to.equal(field)
      if (!options || field !== 'options' || name.includes('takes none')) expect(error.file).to.equal(file)
    })
  }

  const misspelt: [name: string, source: string, says: string, options?: PluginOptions][] = [
    ['a member', method('x_new', `${ownSchema}, need: []`), "manifest: has no member 'need'; did you mean needs?"],
    [
      'a clause',
      method('x_new', `${ownSchema}, clauses: ['relay.quota.units']`),
      "there is no clause 'relay.quota.units'; did you mean relay.quota.unit?",
    ],
    [
      'an option',
      method(
        'x_new',
        `${ownSchema}, options: { type: 'object', additionalProperties: false, properties: { limit: {} } }`,
      ),
      "options: has no member 'allowance'; there are limit",
      { 'rpc-method/x_new': { allowance: 1 } },
    ],
    [
      'the plugin that takes options',
      method('x_new', ownSchema),
      'there is no such plugin to take them; did you mean rpc-method/x_new?',
      { 'rpc-method/x_mew': {} },
    ],
  ]
  for (const [name, source, says, options] of misspelt) {
    it(`says what is meant where ${name} is misspelt`, async () => {
      const error = await failure(load({ 'rpc-method/x_new.js': source }, options))
      expect(error.message).to.include(says)
    })
  }

  it('stops at a duplicate id and names both files', async () => {
    await write('rpc-method/eth_chainId.js', method('eth_chainId'))
    await write('external/eth_chainId.js', method('eth_chainId'))
    const discovered = [
      ...(await discoverFolder(folder)),
      ...(await discoverExternal(['./external/eth_chainId.js'], folder)),
    ]
    const error = await failure(Promise.resolve().then(() => createRegistry(discovered)))
    expect(error.field).to.equal('method')
    expect(error.message).to.include('rpc-method/eth_chainId.js').and.to.include('./external/eth_chainId.js')
  })

  it('loads external plugins by path and by package name, one or many', async () => {
    await write('plugins/x_one.js', method('x_one', ownSchema))
    await write('node_modules/some-relay-methods/package.json', '{"type":"module","exports":"./main.js"}')
    await write(
      'node_modules/some-relay-methods/main.js',
      `const base = { kind: 'rpc-method', clauses: [], needs: [], handle() {}, ${ownSchema} }
      export default [{ ...base, method: 'x_two' }, { ...base, method: 'x_three' }]`,
    )
    const found = await discoverExternal(['./plugins/x_one.js', 'some-relay-methods'], folder)
    expect([...createRegistry(found).rpcMethods.keys()]).to.deep.equal(['x_one', 'x_two', 'x_three'])
  })

  it('names a package that is not installed', async () => {
    const error = await failure(discoverExternal(['no-such-package'], folder))
    expect(error.file).to.equal('no-such-package')
  })

  it('hands over the services a plugin needs and no others', async () => {
    const { rpcMethods } = await load({ 'rpc-method/x_new.js': method('x_new', `${ownSchema}, needs: ['clock']`) })
    const loaded = rpcMethods.get('x_new')
    if (!loaded) return expect.fail('not loaded')
    const services: unknown = { clock: { nowMs: () => 5 }, secret: {} }
    const none: unknown = {}
    expect(Object.keys(servicesFor(loaded, services as Services))).to.deep.equal(['clock'])
    expect(() => servicesFor(loaded, none as Services))
      .to.throw(PluginError, "there is no service 'clock'")
      .with.property('field', 'needs/0')
  })
})

const plugin = { clauses: [], needs: ['chain'] } as const

describe('defineRpcMethod', () => {
  it('takes params and result of a listed method from its schema: what drifts does not compile', () => {
    const right = defineRpcMethod({
      ...plugin,
      method: 'eth_getBalance',
      handle: ([address, block], { chain }) => chain.balance(address, block),
    })
    expect(right).to.include({ kind: 'rpc-method', method: 'eth_getBalance' })
    defineRpcMethod({
      ...plugin,
      method: 'eth_getBalance',
      // @ts-expect-error the schema has two params
      handle: ([address, block, more], { chain }) => chain.balance(address, more ?? block),
    })
    defineRpcMethod({
      ...plugin,
      method: 'eth_getTransactionReceipt',
      // @ts-expect-error the result is a receipt
      handle: ([hash], { chain }) => chain.transaction(hash),
    })
  })

  it('leaves other methods to their authors', () => {
    const own = defineRpcMethod({
      ...plugin,
      method: 'acme_head',
      handle: async ([prefix]: readonly [string], { chain }) => prefix + (await chain.blockNumber()),
    })
    expect(own.method).to.equal('acme_head')
  })
})
