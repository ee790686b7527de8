import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ConfigError } from '../../core/errors.ts'
import { environmentVariables, type Environment } from '../../config/environment.ts'
import { loadConfig, redactConfig, parseConfig } from '../../config/load.ts'

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

  it('says how to name a node where there is no file', async () => {
    const error: unknown = await loadConfig(undefined, keys).catch((thrown: unknown) => thrown)
    expect(String(error)).to.include('--config').and.include('TOUCHSTONE_CHAIN_RPC_URLS')
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
    [
      'an unknown key that is like none',
      `${chain}\nlimits: { everything: 1 }`,
      'unknown member limits.everything; there are limits.',
    ],
    [
      'a wrong unit',
      'chain: { rpcUrls: ["http://a"], requestTimeoutMs: 5s }',
      'relay.yaml:1: chain.requestTimeoutMs must be integer',
    ],
    ['a wrong type', `${chain}\nlisten: { port: "many" }`, 'relay.yaml:2: listen.port must be integer'],
    [
      'a value that is none of those that there are',
      `${chain}\nregistration: anyone`,
      'relay.yaml:2: registration must be one of open, registered',
    ],
    [
      'a value of another form',
      `${chain}\nquota: { plans: { default: { model: transactionCount } } }`,
      'relay.yaml:2: quota.plans.default.model must be like "gas" or "transaction-count"',
    ],
    [
      'an amount in wei without quotes',
      `${chain}\nsigners: { lowBalanceWei: 5 }`,
      'relay.yaml:2: signers.lowBalanceWei must be string like "1000000000000000000"',
    ],
    [
      'a name of another form',
      `${chain}\nquota: { plans: { Gold: { model: gas } } }`,
      'the name quota.plans.Gold must be like "basic"',
    ],
    [
      'an address that is none',
      `${chain}\nrelay: { bundle: { contract: '0x12' } }`,
      'relay.bundle.contract must match',
    ],
    ['no node', 'listen: {}', 'relay.yaml: chain is missing'],
    [
      'a default plan that is not there',
      `${chain}\nquota: { defaultPlan: gold }`,
      "there is no plan 'gold'; there are default",
    ],
    [
      'a node whose URL is none',
      'chain: { rpcUrls: [http://a, http://b:99999/key] }',
      'relay.yaml:1: chain.rpcUrls.1 is no URL',
    ],
    ['broken YAML', 'chain: {', 'relay.yaml'],
    ['a list', '[]', 'relay.yaml'],
    ['an environment variable that sets nothing', chain, 'TOUCHSTONE_PORT', { ...keys, TOUCHSTONE_PORT: '1' }],
    [
      'an environment variable that is misspelt',
      chain,
      'TOUCHSTONE_CHAIN_RPC_URL sets nothing; did you mean TOUCHSTONE_CHAIN_RPC_URLS?',
      { ...keys, TOUCHSTONE_CHAIN_RPC_URL: 'http://b' },
    ],
    [
      'one beside those that Kubernetes sets',
      chain,
      'TOUCHSTONE_PORT sets nothing',
      { ...keys, TOUCHSTONE_RELAY_SERVICE_HOST: '10.0.0.1', TOUCHSTONE_PORT: '1' },
    ],
    [
      'a wrong type in the environment',
      chain,
      'environment: TOUCHSTONE_LISTEN_PORT: listen.port must be integer',
      { ...keys, TOUCHSTONE_LISTEN_PORT: 'many' },
    ],
    ['no signer', chain, 'TOUCHSTONE_SIGNER_KEYS', {}],
    [
      'a keystore that is not there',
      `${chain}\nsigners: { keystores: [{ file: a, passwordFile: b }] }`,
      'keystores/0/file',
    ],
    ['another database', chain, 'DATABASE_URL', { ...keys, DATABASE_URL: 'mysql://a' }],
    ['a port that is none', chain, 'DATABASE_URL', { ...keys, DATABASE_URL: 'postgres://a:99999/db' }],
    ['several hosts', chain, 'several hosts', { ...keys, DATABASE_URL: 'postgresql://user:a@h1:5432,h2:5432/db' }],
    ['a password that is not encoded', chain, '%23', { ...keys, DATABASE_URL: 'postgres://a:b#c@host/db' }],
  ]
  for (const [name, text, says, environment] of refused) {
    it(`refuses ${name} in one line`, async () => {
      const lines = await faults(text, environment)
      expect(lines[0]).to.include(says).and.not.include('\n')
    })
  }

  it('says each fault once', async () => {
    const relay = `relay: { bundle: { contract: '0x12' }, minValiditySeconds: soon }`
    const lines = await faults(
      `${chain}\ndatabase: { folder: 5 }\n${relay}\nquota: { plans: { Gold: { model: gas } } }`,
    )
    expect(lines).to.have.length(4)
  })

  it('takes the URL of a database behind a socket, which needs no host', async () => {
    const url = 'postgresql://relay:hunter2@/db?host=/run/postgresql'
    const loaded = await load(chain, { ...keys, DATABASE_URL: url })
    expect(loaded.secrets.databaseUrl).to.equal(url)
    expect(JSON.stringify(redactConfig(loaded))).not.to.include('hunter2')
  })

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

const SECRET = 'hunter2'
const KEY = '9aa3d95b3bc440fa88ea12eaa4456161'

function shown(tree: object, databaseUrl?: string): string {
  const config = parseConfig({ chain: { rpcUrls: ['http://127.0.0.1:8545'] }, ...tree }, 'test', '/srv')
  const secrets = { signerKeys: [], keystores: [], ...(databaseUrl !== undefined && { databaseUrl }) }
  return JSON.stringify(redactConfig({ config, secrets }))
}

describe('redactConfig', () => {
  const urls = [
    `https://user:${SECRET}@node.example/rpc`,
    `https://${SECRET}@node.example/rpc`,
    `https://node.example/rpc?apikey=${SECRET}`,
    `https://node.example/rpc?${SECRET}`,
    `https://node.example/rpc#${SECRET}`,
    `https://node.example/v3/${KEY}`,
    `https://node.example/v3/${KEY.toUpperCase()}/`,
    `https://node.example/${SECRET}/rpc`,
    `https://node.example/v3/hunter-2-hunter-2`,
    `https://${KEY}.node.example/rpc`,
    `wss://:${SECRET}@node.example`,
    `https://user:1?ter2@node.example/rpc`,
    `https://user:1#ter2@node.example/rpc`,
  ]
  for (const url of urls) {
    it(`shows no credential of ${url}`, () => {
      const text = shown({ chain: { rpcUrls: [url] } })
      expect(text).to.not.match(/hunter|ter2|9aa3d95b/i)
      expect(text).to.include('(redacted)')
    })
  }

  it('is not asked for a URL that is none, which is refused and not quoted', () => {
    const url = `https://user:hun/ter2@node.example/rpc`
    expect(() => shown({ chain: { rpcUrls: [url] } }))
      .to.throw(ConfigError)
      .with.property('message', 'test: chain.rpcUrls.0 is no URL')
  })

  it('shows what of a URL is no secret', () => {
    const plain = ['http://127.0.0.1:8545', 'https://rpc.mainnet.lukso.network', 'wss://node.example:8546/v1/eth-rpc']
    for (const url of plain) expect(shown({ chain: { rpcUrls: [url] } })).to.include(JSON.stringify(url))
    expect(shown({ chain: { rpcUrls: [`https://u:p@node.example:8546/v3/${KEY}?a=b`] } })).to.include(
      '"https://(redacted)@node.example:8546/v3/(redacted)?(redacted)"',
    )
  })

  const databaseUrls = [
    `postgresql://relay:${SECRET}@db.example/relay`,
    `postgresql://relay:hun/ter2@db.example/relay`,
    `postgresql://relay:hunter2@pw@db.example/relay`,
    `postgresql://db.example/relay?user=relay&password=${SECRET}`,
    `postgres://relay:${SECRET}@one,two:5432/relay?sslmode=require`,
    `postgresql:///relay?password=${SECRET}`,
  ]
  for (const url of databaseUrls) {
    it(`shows no credential of ${url}`, () => {
      const text = shown({}, url)
      expect(text).to.not.match(/hunter|ter2|pw/)
      expect(text).to.match(/"databaseUrl":"postgres(ql)?:\/\//)
    })
  }

  it('shows no credential in the options of plugins, however deep, under whatever name', () => {
    const options = {
      apiKey: SECRET,
      nested: { list: [{ clientSecret: SECRET, pin: { password: 4711 } }], url: `https://a:${SECRET}@b.example` },
      text: `see postgresql://a:${SECRET}@b.example/c`,
      bare: `user:${SECRET}@b.example`,
      jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.9aa3d95b3bc440fa',
      pem: '-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----',
      words: 'test test test test test test test test test test test junk',
      hex: `0x${KEY}${KEY}`,
      [KEY]: true,
      enabled: true,
      limit: 12,
      address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    }
    const text = shown({ plugins: { options: { 'relay/lsp6': options } } })
    expect(text).to.not.match(/hunter|4711|9aa3d95b|eyJ|junk/)
    expect(text).to.include('"enabled":true').and.include('"limit":12').and.include('0x5FbDB2315678afecb367f032')
  })

  it('shows no key of a signer where the name of its variable belongs, and no password of a keystore', () => {
    const misplaced = `ac${KEY}${KEY}`.slice(0, 64)
    expect(shown({ signers: { privateKeysFromEnv: misplaced } })).to.not.include(misplaced)
    const config = parseConfig({ chain: { rpcUrls: ['http://a.example'] }, log: {} }, 'test', '/srv/hunter2')
    const keystores = [{ file: '/run/relayer.json', json: '{}', password: SECRET }]
    const text = JSON.stringify(redactConfig({ config, secrets: { signerKeys: [`0x${KEY}${KEY}`], keystores } }))
    expect(text).to.not.match(/hunter|9aa3d95b/)
    expect(text).to.include('1 (redacted)').and.include('/run/relayer.json')
  })

  it('shows everything else as it is', () => {
    const config = parseConfig({ chain: { rpcUrls: ['http://127.0.0.1:8545'] } }, 'test', '/srv')
    const shownAsIs = redactConfig({ config, secrets: { signerKeys: [], keystores: [] } })
    expect(shownAsIs).to.deep.include(config)
  })
})
