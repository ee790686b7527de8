import { expect } from 'chai'
import { parseConfig, redactConfig } from '../../config/load.ts'

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
    `https://user:hun/ter2@node.example/rpc`,
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
