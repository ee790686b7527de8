import { expect } from 'chai'
import { clauses } from '../../index.ts'
import { compiler } from '../ajv.ts'
import { exampleOf, judge, without } from './judge.ts'

const method = exampleOf('plugin/rpc-method')
judge('plugin/rpc-method', {
  accepts: {
    'a method': method,
    'no clauses': { ...method, clauses: [] },
    'options and a schema of its own': { ...method, options: {}, schema: { properties: { params: {}, result: {} } } },
  },
  refuses: {
    'another kind': { ...method, kind: 'relay' },
    'no method': without(method, 'method'),
    'a method without a namespace': { ...method, method: 'chainId' },
    'no clauses at all': without(method, 'clauses'),
    'a clause of no document': { ...method, clauses: ['other.thing'] },
    'a clause twice': { ...method, clauses: ['eth-rpc.batch', 'eth-rpc.batch'] },
    'a need that is no name': { ...method, needs: [1] },
    'a handler that is no function': { ...method, handle: {} },
    'no handler': without(method, 'handle'),
    'options that are no schema': { ...method, options: 'none' },
    'a schema without a result': { ...method, schema: { properties: { params: {} } } },
    'an unknown member': { ...method, handler: 'function' },
  },
})

const relay = exampleOf('plugin/relay')
judge('plugin/relay', {
  accepts: { 'a relay': relay },
  refuses: {
    'an id in capitals': { ...relay, id: 'LSP25' },
    'a path without a slash': { ...relay, path: 'execute' },
    'no key manager': { ...relay, keyManagerInterfaceIds: [] },
    'a malformed interface id': { ...relay, keyManagerInterfaceIds: ['0x5ac7'] },
    'no verify': without(relay, 'verify'),
    'no submit': without(relay, 'submit'),
  },
})

const quota = exampleOf('plugin/quota')
judge('plugin/quota', {
  accepts: { 'a model': quota },
  refuses: {
    'an unknown unit': { ...quota, unit: 'wei' },
    ...Object.fromEntries(
      ['open', 'remaining', 'reserve', 'settle'].map((name) => [`no ${name}`, without(quota, name)]),
    ),
  },
})

describe('plugin manifests', () => {
  it('can name every clause', () => {
    const validate = compiler()('plugin/rpc-method')
    expect(validate({ ...method, clauses: Object.keys(clauses) })).to.be.true
  })
})
