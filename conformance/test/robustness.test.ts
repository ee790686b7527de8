import { expect } from 'chai'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { check, UsageError } from '../index.ts'
import { renderTerminal } from '../lib/report/terminal.ts'
import { withProxy } from './support/with-proxy.ts'
import { serve } from './support/serve.ts'
import { startProvisionedChain, type ProvisionedChain } from './support/provisioned-chain.ts'

type Respond = (request: IncomingMessage, response: ServerResponse) => void

const json =
  (body: unknown): Respond =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }

/** Targets that answer every request alike. */
const answering: Readonly<Record<string, Respond>> = {
  'always 200 {}': json({}),
  'always 200 {"result":"0x1"}': json({ jsonrpc: '2.0', id: 1, result: '0x1' }),
  'always 200 null': json(null),
  'always 404': (_request, response) => response.writeHead(404).end('Not Found'),
  'always 500 with an error object': (_request, response) =>
    response.writeHead(500).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}'),
  'always HTML': (_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><p>Hello'),
  'always a redirect to itself': (request, response) => response.writeHead(302, { location: request.url }).end(),
}

/** Targets whose answers cannot be read. */
const silent: Readonly<Record<string, Respond>> = {
  'never answers': () => undefined,
  'closes the connection': (request) => request.socket.destroy(),
  'speaks something else': (request) => request.socket.end('SSH-2.0-OpenSSH_9.7\r\n'),
}

describe('a target that is no relay', function () {
  let chain: ProvisionedChain

  before(async () => {
    chain = await startProvisionedChain()
  })
  after(() => chain.close())

  const judge = (relayUrl: string) => check({ relayUrl, fixture: chain.fixture, timeoutMs: 300, receiptTimeoutMs: 300 })

  for (const [name, answer] of Object.entries(answering)) {
    it(`is not judged, and says why in one sentence: ${name}`, async () => {
      await using server = await serve(answer)
      const report = await judge(server.url)
      expect(report.verdict).to.equal('error')
      expect(report.notes[0]).to.match(/^every (answer|request) is .*\?$/)
      const statuses = new Set(report.clauses.map(({ status }) => status))
      expect([...statuses]).to.deep.equal(['untestable'])
      expect(report.traffic.requests).to.be.below(20)
      expect(renderTerminal(report, { colour: false }).trim().split('\n')).to.have.length(1)
    })
  }

  it('is judged when it tells valid requests from others, however it refuses', async () => {
    await using server = await serve((_request, response, body) => {
      const isChainId = body.includes('"eth_chainId"')
      response.writeHead(isChainId ? 200 : 404).end(isChainId ? '{"jsonrpc":"2.0","id":1,"result":"0x1"}' : '')
    })
    expect((await judge(server.url)).verdict).to.equal('nonconformant')
  })

  for (const [name, answer] of Object.entries(silent)) {
    it(`is not judged: ${name}`, async () => {
      await using server = await serve(answer)
      const thrown: unknown = await judge(server.url).catch((error: unknown) => error)
      expect(thrown).to.be.instanceOf(UsageError)
      expect((thrown as Error).message).to.include(`the target does not answer at ${server.url}`)
    })
  }

  it('is not judged where nobody answers, and a proxy that is not used is named', async () => {
    const judged = withProxy(() => judge('http://0.0.0.0:1'))
    const thrown: unknown = await judged.catch((error: unknown) => error)
    expect(thrown).to.be.instanceOf(UsageError)
    expect((thrown as Error).message).to.include('the connection was refused (no proxy is used')
  })

  it('passes no required check and ends soon when some of its paths never answer', async () => {
    await using server = await serve((request, response) => {
      if (request.url === '/quota') response.end('{}')
    })
    const { verdict, clauses, traffic } = await judge(server.url)
    expect(verdict).to.equal('nonconformant')
    expect(clauses.filter(({ level, status }) => level === 'required' && status === 'passed')).to.deep.equal([])
    expect(traffic.timeouts).to.be.within(1, 10)
  })
})
