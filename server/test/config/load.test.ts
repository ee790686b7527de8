import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ConfigError } from '../../core/errors.ts'
import { environmentVariables, type Environment } from '../../config/environment.ts'
import { loadConfig, redactConfig } from '../../config/load.ts'

const key = `0x${'11'.repeat(32)}`
const keys = { TOUCHSTONE_SIGNER_KEYS: key }

describe('config/load', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'touchstone-config-'))
  })
  after(() => rm(folder, { recursive: true }))

  async function load(text: string, environment: Environment = keys, name = 'relay.yaml') {
    const file = path.join(folder, name)
    await writeFile(file, text)
    return loadConfig(file, environment)
  }

  async function faults(text: string, environment: Environment = keys): Promise<readonly string[]> {
    try {
      await load(text, environment)
    } catch (error) {
      if (error instanceof ConfigError) return error.lines
      throw error
    }
    return expect.fail('the configuration was accepted')
  }

  it('fills in the defaults', async () => {
    const { config } = await load('chain: { rpcUrls: ["http://127.0.0.1:8545"] }')
    expect(config.listen).to.include({ host: '127.0.0.1', port: 3000, trustedProxies: 0 })
    expect(config.listen.basePaths).to.include('/')
    expect(config.registration).to.equal('registered')
    expect(config.quota.plans).to.have.nested.property('default.model', 'gas')
  })

  it('reads JSON as well as YAML', async () => {
    const { config } = await load(
      '{ "chain": { "rpcUrls": ["http://node"] }, "listen": { "port": 1 } }',
      keys,
      'a.json',
    )
    expect(config.listen.port).to.equal(1)
  })

  it('puts the environment over the file', async () => {
    const { config } = await load('chain: { rpcUrls: ["http://file"] }\nlisten: { port: 1, host: file }', {
      ...keys,
      TOUCHSTONE_LISTEN_PORT: '8080',
      TOUCHSTONE_CHAIN_RPC_URLS: 'http://a, http://b',
      TOUCHSTONE_DATABASE_FOLDER: 'null',
      TOUCHSTONE_RELAY_MIN_VALIDITY_SECONDS: '45',
    })
    expect(config.listen).to.include({ host: 'file', port: 8080 })
    expect(config.chain.rpcUrls).to.deep.equal(['http://a', 'http://b'])
    expect(config.database.folder).to.equal(null)
    expect(config.relay.minValiditySeconds).to.equal(45)
  })

  it('needs no file', async () => {
    const { config, baseFolder } = await loadConfig(undefined, { ...keys, TOUCHSTONE_CHAIN_RPC_URLS: 'http://a' })
    expect(config.chain.rpcUrls).to.deep.equal(['http://a'])
    expect(baseFolder).to.equal(process.cwd())
  })

  it('takes paths relative to the file', async () => {
    const { config } = await load('chain: { rpcUrls: ["http://a"] }\ndatabase: { folder: data }')
    expect(config.database.folder).to.equal(path.join(folder, 'data'))
  })

  const chain = 'chain: { rpcUrls: ["http://a"] }'
  const refused: [name: string, text: string, says: string, environment?: Environment][] = [
    ['an unknown key', `${chain}\nlisen: {}`, 'relay.yaml:2: unknown member lisen; did you mean listen?'],
    [
      'an unknown inner key',
      `${chain}\nlisten: { prot: 1 }`,
      'relay.yaml:2: unknown member listen.prot; did you mean listen.port?',
    ],
    ['an unknown key that is like none', `${chain}\nwhatever: 1`, 'unknown member whatever'],
    [
      'a wrong unit',
      'chain: { rpcUrls: ["http://a"], requestTimeoutMs: 5s }',
      'relay.yaml:1: chain.requestTimeoutMs must be integer',
    ],
    ['a wrong type', `${chain}\nlisten: { port: "many" }`, 'relay.yaml:2: listen.port must be integer'],
    ['no node', 'listen: {}', 'relay.yaml: chain is missing'],
    ['a default plan that is not there', `${chain}\nquota: { defaultPlan: gold }`, "'gold'"],
    ['broken YAML', 'chain: {', 'relay.yaml'],
    ['a list', '[]', 'relay.yaml'],
    ['an environment variable that sets nothing', chain, 'TOUCHSTONE_PORT', { ...keys, TOUCHSTONE_PORT: '1' }],
    [
      'a wrong type in the environment',
      chain,
      'listen.port must be integer',
      { ...keys, TOUCHSTONE_LISTEN_PORT: 'many' },
    ],
    ['no signer', chain, 'TOUCHSTONE_SIGNER_KEYS', {}],
    [
      'a keystore that is not there',
      `${chain}\nsigners: { keystores: [{ file: a, passwordFile: b }] }`,
      'keystores/0/file',
    ],
    ['another database', chain, 'DATABASE_URL', { ...keys, DATABASE_URL: 'mysql://a' }],
  ]
  for (const [name, text, says, environment] of refused) {
    it(`refuses ${name} in one line`, async () => {
      const lines = await faults(text, environment)
      expect(lines[0]).to.include(says).and.not.include('\n')
    })
  }

  it('never quotes a secret', async () => {
    const secret = '22'.repeat(31)
    const lines = await faults(chain, { TOUCHSTONE_SIGNER_KEYS: `${key},${secret}` })
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include('key 2').and.not.include(secret)
    const loaded = await load(chain, { ...keys, DATABASE_URL: 'postgresql://user:hunter2@host/db' })
    expect(JSON.stringify(redactConfig(loaded)))
      .to.include('host/db')
      .and.not.include('hunter2')
      .and.not.include(key)
  })

  it('names every variable once', () => {
    const names = environmentVariables().map(({ name }) => name)
    expect(names).to.include('TOUCHSTONE_CHAIN_REQUEST_TIMEOUT_MS')
    expect(new Set(names).size).to.equal(names.length)
  })
})
