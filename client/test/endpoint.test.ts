import { expect } from 'chai'
import { serve } from '../../conformance/test/support/serve.ts'
import { endpointsBelow } from '../endpoint.ts'
import { startWorld, succeed, type World } from './support/world.ts'

const urlOf = (base: string, path?: string) => endpointsBelow(base, 'relayUrl')(path).url

describe('endpointsBelow', () => {
  it('puts a path below that of the base, and keeps the query', () => {
    expect(urlOf('https://relay.example', '/quota')).to.equal('https://relay.example/quota')
    expect(urlOf('https://relay.example/v1//', '/quota')).to.equal('https://relay.example/v1/quota')
    expect(urlOf('https://relay.example/v1/?key=a%2Fb#top', '/quota')).to.equal(
      'https://relay.example/v1/quota?key=a%2Fb',
    )
    expect(urlOf('https://node.example/v1/?key=a')).to.equal('https://node.example/v1/?key=a')
  })

  it('gives each path its own endpoint, in any order', () => {
    const at = endpointsBelow('https://relay.example/v1', 'relayUrl')
    expect([at('/execute'), at('/quota'), at()].map(({ url }) => new URL(url).pathname)).to.deep.equal([
      '/v1/execute',
      '/v1/quota',
      '/v1',
    ])
  })

  it('makes a header of user and password, in UTF-8, whatever characters they have', () => {
    for (const [base, user] of [
      ['https://me:secret@relay.example', 'me:secret'],
      ['https://me@relay.example', 'me:'],
      ['https://:key@relay.example', ':key'],
      ['https://jürg:a%3Ab%20%zz€@relay.example', 'jürg:a:b %zz€'],
    ] as const) {
      const { url, headers } = endpointsBelow(base, 'relayUrl')('/quota')
      expect(url).to.equal('https://relay.example/quota')
      expect(Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString()).to.equal(user)
    }
    expect(endpointsBelow('https://relay.example', 'relayUrl')().headers).to.deep.equal({})
  })

  it('takes a relative base in a page', () => {
    Object.assign(globalThis, { location: { href: 'https://dapp.example/app/' } })
    try {
      expect(urlOf('/relay', '/quota')).to.equal('https://dapp.example/relay/quota')
      expect(urlOf('https://relay.example', '/quota')).to.equal('https://relay.example/quota')
    } finally {
      Reflect.deleteProperty(globalThis, 'location')
    }
  })

  it('refuses what is no URL of http or https, and repeats no password', () => {
    for (const base of ['relay.example', 'localhost:3000', 'wss://me:secret@node.example', 'https://me:secret@', '']) {
      expect(() => urlOf(base), base).to.throw(TypeError, /^relayUrl is no http or https URL$/)
    }
  })
})

describe('a relay client whose URLs have users and queries', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world?.close())

  it('sends both, to the relay and to the node', async () => {
    const seen = new Set<string>()
    const startFront = (target: string) =>
      serve((request, response, body) => {
        const { pathname, search } = new URL(request.url ?? '/', 'http://front')
        seen.add(`${pathname.split('/').slice(0, 3).join('/')} ${search} ${request.headers.authorization}`)
        const sent = { method: request.method ?? 'GET', headers: { 'content-type': 'application/json' } }
        void fetch(`${target}${pathname}`, { ...sent, ...(request.method === 'POST' && { body }) }).then(
          async (answer) =>
            response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
        )
      })
    await using relay = await startFront(world.relayUrl)
    await using node = await startFront(world.rpcUrl)
    const withUser = (url: string, user: string) => `${url.replace('://', `://${user}@`)}/?key=k`
    const client = world.client({ relayUrl: withUser(relay.url, 'me:a'), node: withUser(node.url, 'me:b') })
    const { transactionHash } = await client.execute(succeed(world.target))
    await client.wait(transactionHash)
    await client.quota()
    const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`
    expect([...seen]).to.include.members([
      `/execute ?key=k ${basic('me:a')}`,
      `/quota ?key=k ${basic('me:a')}`,
      `/ ?key=k ${basic('me:b')}`,
    ])
    expect([...seen].every((line) => line.includes(' ?key=k Basic '))).to.equal(true)
  })

  it('refuses a node by another protocol before anything is sent', () => {
    expect(() => world.client({ node: 'ws://127.0.0.1:8546' })).to.throw(TypeError, 'node is no http or https URL')
  })
})
