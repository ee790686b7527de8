import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { schemas, type Config } from '../../index.ts'
import { altered, exampleOf, judge, lacking } from '../judge.ts'

const config = exampleOf('config')
const chain = config['chain'] as Record<string, unknown>

judge('config', {
  accepts: {
    'a node and nothing else': config,
    'every member': exampleOf('config', 1),
    'a node by WebSocket': { chain: { ...chain, rpcUrls: ['wss://node.example/rpc', 'ws://127.0.0.1:8545'] } },
    'a database in memory': { ...config, database: { folder: null } },
    'a plan of some model': {
      ...config,
      quota: { defaultPlan: 'a', plans: { a: { model: 'gas', options: { x: 1 } } } },
    },
  },
  refuses: {
    ...lacking(config, ['chain']),
    ...altered(config, { $schema: 1, chain: {}, registration: 1 }),
    // Each group refuses a member that it does not know: a typo is never a silent default.
    ...altered(
      { chain },
      Object.fromEntries(
        ['listen', 'database', 'signers', 'relay', 'quota', 'plugins', 'limits', 'shutdown', 'log'].map((group) => [
          group,
          { typo: 1 },
        ]),
      ),
    ),
    'an empty host': { ...config, listen: { host: '' } },
    'a base path with a slash at its end': { ...config, listen: { basePaths: ['/api/'] } },
    'no base path': { ...config, listen: { basePaths: [] } },
    'a port below zero': { ...config, listen: { port: -1 } },
    'no time at all for a node': { chain: { ...chain, requestTimeoutMs: 0 } },
    'hours for a node': { chain: { ...chain, requestTimeoutMs: 3_600_000 } },
    'a node twice': { chain: { rpcUrls: ['http://a', 'http://a'] } },
    'negative depth': { chain: { ...chain, confirmations: -1 } },
    'an empty folder': { ...config, database: { folder: '' } },
    'no folder but a number': { ...config, database: { folder: 0 } },
    'wei with a unit': { ...config, signers: { lowBalanceWei: '0.1 ether' } },
    'a fee with a unit': { ...config, relay: { maxFeePerGasWei: '500 gwei' } },
    'negative padding': { ...config, relay: { gasPaddingPercent: -1 } },
    'a cap below any transaction': { ...config, relay: { gasCap: 20_999 } },
    'a password file without a keystore': { ...config, signers: { keystores: [{ passwordFile: 'a' }] } },
    'a password in the file': { ...config, signers: { keystores: [{ file: 'a', passwordFile: 'b', password: 'c' }] } },
    'no plan': { ...config, quota: { plans: {} } },
    'a plan in capitals': { ...config, quota: { plans: { Monthly: { model: 'gas' } } } },
    'a plan of a malformed model': { ...config, quota: { plans: { a: { model: 'Gas' } } } },
    'a plan with a typo': { ...config, quota: { plans: { a: { model: 'gas', option: {} } } } },
    'options that are no object': { ...config, quota: { plans: { a: { model: 'gas', options: 1 } } } },
    'an external plugin twice': { ...config, plugins: { external: ['a', 'a'] } },
    'an external plugin without a name': { ...config, plugins: { external: [''] } },
    'plugin options that are no object': { ...config, plugins: { options: { 'quota/gas': 1 } } },
    'a body of nothing': { ...config, limits: { bodyBytes: 0 } },
    'an empty batch': { ...config, limits: { batchSize: 0 } },
    'no time for an answer': { ...config, limits: { answerSeconds: 0 } },
    'an answer that may take for ever': { ...config, limits: { answerSeconds: 601 } },
    'no nesting': { ...config, limits: { nestingDepth: 1 } },
    ...altered(config, {
      relay: { gasPaddingPercent: 1001 },
      limits: { bodyBytes: 2 ** 27 },
      shutdown: { graceSeconds: 86_400 },
    }),
    'a cap beyond any block': { ...config, relay: { gasCap: 10 ** 10 } },
    'an endless batch': { ...config, limits: { batchSize: 10_001 } },
    'bottomless nesting': { ...config, limits: { nestingDepth: 1001 } },
    'unending depth': { chain: { ...chain, confirmations: 100_001 } },
    'a keystore without a name': { ...config, signers: { keystores: [{ file: '', passwordFile: 'b' }] } },
    'a password file without a name': { ...config, signers: { keystores: [{ file: 'a', passwordFile: '' }] } },
    'a default plan without a name': { ...config, quota: { defaultPlan: '' } },
    'no call to the node': { ...config, limits: { upstreamCalls: 0 } },
    'no time for headers': { ...config, limits: { headersSeconds: 0 } },
    'no time for a request': { ...config, limits: { requestSeconds: 0 } },
    'no time between requests': { ...config, limits: { keepAliveSeconds: 0 } },
    'negative drain': { ...config, shutdown: { drainSeconds: -1 } },
    'negative grace': { ...config, shutdown: { graceSeconds: -1 } },
    'no URL': { chain: { rpcUrls: [] } },
    'a URL of another scheme': { chain: { rpcUrls: ['ftp://node'] } },
    'an unknown member': { ...config, port: 3000 },
    'an unknown member inside': { chain: { ...chain, timeoutMs: 1 } },
    'a port that is none': { ...config, listen: { port: 70000 } },
    'seconds as text': { ...config, shutdown: { graceSeconds: '10s' } },
    'wei as a number': { ...config, signers: { lowBalanceWei: 1e18 } },
    'a key where its variable is named': { ...config, signers: { privateKeysFromEnv: `0x${'11'.repeat(32)}` } },
    'a keystore without a password file': { ...config, signers: { keystores: [{ file: 'a.json' }] } },
    'a budget below nothing': { ...config, unregistered: { gasPerHour: -1 } },
    'a hash of code that is none': { ...config, unregistered: { knownCodes: ['0x12'] } },
    'a plan whose cap is below any transaction': { ...config, quota: { plans: { a: { model: 'gas', gasCap: 1 } } } },
    'an unknown registration': { ...config, registration: 'closed' },
    'a plan without a model': { ...config, quota: { plans: { a: {} } } },
    'options of no plugin kind': { ...config, plugins: { options: { 'service/chain': {} } } },
    'an unknown log level': { ...config, log: { level: 'verbose' } },
  },
})

describe('config', () => {
  it('fills in every default', () => {
    const ajv = new Ajv2020({ strict: true, useDefaults: true })
    const filled = structuredClone(config)
    expect(ajv.compile<Config>(schemas['config'] ?? {})(filled)).to.be.true
    expect(filled).to.deep.equal({
      listen: {
        host: '127.0.0.1',
        port: 3000,
        basePaths: ['/', '/api', '/v1', '/v1/relayer', '/api/v1'],
        trustedProxies: 0,
      },
      chain: { rpcUrls: ['http://127.0.0.1:8545'], requestTimeoutMs: 10_000, confirmations: 12, headMaxAgeMs: 0 },
      database: { folder: '.touchstone/database', keepDays: null },
      signers: { privateKeysFromEnv: 'TOUCHSTONE_SIGNER_KEYS', keystores: [], lowBalanceWei: '100000000000000000' },
      relay: {
        gasPaddingPercent: 20,
        gasCap: 10_000_000,
        maxFeePerGasWei: '500000000000',
        maxTransactionBytes: 131072,
        bundle: { contract: null, maxCalls: 16 },
        minValiditySeconds: null,
      },
      quota: {
        defaultPlan: 'default',
        acceptedMessages: ['hash'],
        windowSeconds: 5,
        plans: { default: { model: 'gas', options: {} } },
      },
      registration: 'registered',
      unregistered: {
        gasPerHour: 10_000_000,
        gasPerDay: 20_000_000,
        codeGasPerHour: 8_000_000,
        codeGasPerDay: 10_000_000,
        unknownCodeGasPerHour: 1_000_000,
        unknownCodeGasPerDay: 2_000_000,
        knownCodes: [],
      },
      plugins: { external: [], options: {} },
      limits: {
        bodyBytes: 1_048_576,
        batchSize: 1000,
        answerSeconds: 20,
        nestingDepth: 32,
        requestsPerMinute: 6000,
        relaysPerMinute: 600,
        upstreamCalls: 2000,
        connections: 2000,
        connectionsPerAddress: 500,
        headersSeconds: 10,
        requestSeconds: 30,
        keepAliveSeconds: 65,
      },
      shutdown: { drainSeconds: 0, graceSeconds: 10 },
      log: { level: 'info' },
    })
  })

  it('describes every member', () => {
    for (const { path, schema } of members(schemas['config'])) {
      expect(schema, path).to.have.property('description').that.matches(/\.$/)
    }
  })
})

function* members(schema: unknown, path = ''): Generator<{ path: string; schema: object }> {
  const { properties = {} } = schema as { properties?: Record<string, object> }
  for (const [name, member] of Object.entries(properties)) {
    yield { path: `${path}/${name}`, schema: member }
    yield* members(member, `${path}/${name}`)
  }
}
