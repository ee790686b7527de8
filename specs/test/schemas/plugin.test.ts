import { expect } from 'chai'
import { clauses } from '../../index.ts'
import { compiler, altered, exampleOf, judge, lacking } from '../judge.ts'

const method = exampleOf('plugin/rpc-method')
judge('plugin/rpc-method', {
  accepts: {
    'a method': method,
    'no clauses': { ...method, clauses: [] },
    'options and a schema of its own': { ...method, options: {}, schema: { properties: { params: {}, result: {} } } },
  },
  refuses: {
    ...lacking(method, ['kind', 'method', 'clauses', 'needs', 'handle']),
    'another kind': { ...method, kind: 'relay' },
    'a method without a namespace': { ...method, method: 'chainId' },
    'a clause of no document': { ...method, clauses: ['other.thing'] },
    'a clause twice': { ...method, clauses: ['eth-rpc.batch', 'eth-rpc.batch'] },
    ...altered(method, { needs: ['chain', 'chain'], schema: {} }),
    'a need that is no name': { ...method, needs: ['the chain'] },
    'a handler that is no function': { ...method, handle: {} },
    'options that are no schema': { ...method, options: 'none' },
    'a schema without a result': { ...method, schema: { properties: { params: {} } } },
    'an unknown member': { ...method, handler: 'function' },
  },
})

const relay = exampleOf('plugin/relay')
judge('plugin/relay', {
  accepts: { 'a relay': relay },
  refuses: {
    ...lacking(relay, ['kind', 'id', 'path', 'clauses', 'needs', 'keyManagerInterfaceIds', 'verify', 'submit']),
    ...altered(relay, {
      kind: 'quota',
      clauses: ['other.thing'],
      needs: ['the chain'],
      options: 'none',
      schema: { properties: { request: {} } },
      verify: {},
      submit: {},
      handle: 'function',
    }),
    'an interface id twice': { ...relay, keyManagerInterfaceIds: ['0x5ac79908', '0x5ac79908'] },
    'an id in capitals': { ...relay, id: 'LSP25' },
    'a path without a slash': { ...relay, path: 'execute' },
    'no key manager': { ...relay, keyManagerInterfaceIds: [] },
    'a malformed interface id': { ...relay, keyManagerInterfaceIds: ['0x5ac7'] },
  },
})

const quota = exampleOf('plugin/quota')
judge('plugin/quota', {
  accepts: { 'a model': quota },
  refuses: {
    ...lacking(quota, ['kind', 'id', 'unit', 'clauses', 'needs', 'open', 'remaining', 'reserve', 'settle']),
    ...altered(quota, {
      kind: 'relay',
      id: 'Gas',
      unit: 'wei',
      clauses: ['other.thing'],
      needs: ['the chain'],
      options: 'none',
      open: {},
      remaining: {},
      reserve: {},
      settle: {},
      handle: 'function',
    }),
  },
})

describe('plugin manifests', () => {
  it('can name every clause about servers, and none about clients', () => {
    const validate = compiler()('plugin/rpc-method')
    const [ofClients, ofServers] = [true, false].map((wanted) =>
      Object.entries(clauses).flatMap(([id, { document }]) => ((document === 'client') === wanted ? [id] : [])),
    )
    expect(validate({ ...method, clauses: ofServers })).to.be.true
    expect(ofClients).to.not.be.empty
    expect(validate({ ...method, clauses: ofClients })).to.be.false
  })
})
