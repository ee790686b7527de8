import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { connectChain } from '../../lib/chain-truth.ts'
import { Untestable } from '../../lib/outcome.ts'
import { serve } from '../support/serve.ts'

const served = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'
const errorOf = (code: number, message: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } })
const untestable = (thrown: unknown) => expect(thrown).to.be.instanceOf(Untestable)

describe('the node of the suite', () => {
  /** A node that serves until it is told how to refuse. */
  async function startNode() {
    const node = {
      refuse: undefined as ((response: ServerResponse) => void) | undefined,
      /** So many requests are refused; absent: all. */
      refusals: Infinity,
    }
    const server = await serve((_request, response) => {
      if (node.refuse && node.refusals-- > 0) node.refuse(response)
      else response.end(served)
    })
    return Object.assign(node, server, { chain: await connectChain(server.url) })
  }

  const limits: Record<string, (response: ServerResponse) => void> = {
    'HTTP 429': (response) => response.writeHead(429).end('Too Many Requests'),
    'HTTP 429 with Retry-After': (response) => response.writeHead(429, { 'retry-after': '0' }).end(),
    'HTTP 429 with an error of JSON-RPC': (response) => response.writeHead(429).end(errorOf(-32000, 'slow down')),
    '-32005': (response) => response.end(errorOf(-32005, 'limit exceeded')),
    'words alone': (response) => response.end(errorOf(-32000, "You've exceeded the RPS limit of your plan")),
    'HTTP 503': (response) => response.writeHead(503).end('<html>busy</html>'),
  }
  for (const [name, refuse] of Object.entries(limits)) {
    it(`is asked again where it limits the run by ${name}`, async () => {
      await using node = await startNode()
      Object.assign(node, { refuse, refusals: 2 })
      expect(await node.chain.attempt('eth_call', [])).to.deep.equal({ result: '0x1' })
      expect(node.requests).to.have.length(1 + 3)
    })
  }

  it('is asked again when it is back', async () => {
    const first = await serve((_request, response) => response.end(served))
    const chain = await connectChain(first.url)
    await first[Symbol.asyncDispose]()
    const answer = chain.send('eth_blockNumber')
    await using second = await serve((_request, response) => response.end(served), Number(new URL(first.url).port))
    expect(await answer).to.equal('0x1')
    expect(second.requests).to.have.length(1)
  })

  it('gives no answer, and no error to judge by, where it names too long a time', async () => {
    await using node = await startNode()
    node.refuse = (response) => response.writeHead(429, { 'retry-after': '3600' }).end(errorOf(3, 'execution reverted'))
    untestable(await node.chain.attempt('eth_call', []).catch((thrown: unknown) => thrown))
    expect(node.requests).to.have.length(1 + 2)
  })

  it('is not waited for where it has never answered', async () => {
    await using server = await serve((_request, response) => response.writeHead(503).end())
    untestable(await connectChain(server.url).catch((thrown: unknown) => thrown))
    expect(server.requests).to.have.length(2)
  })

  it('refuses a filter that selects too much by the code of a limit', async () => {
    await using node = await startNode()
    node.refuse = (response) => response.end(errorOf(-32005, 'query returned more than 10000 results'))
    expect(await node.chain.attempt('eth_getLogs', [{}])).to.have.nested.property('error.code', -32005)
    expect(node.requests).to.have.length(1 + 1)
  })

  for (const [chainId, heads, what] of [
    ['0x1', ['0x5', '0x5'], 'may be several, of which one is late'],
    ['0x7a69', ['0x5', '0x4'], 'may go back on a development chain'],
  ] as const) {
    it(what, async () => {
      const told = ['0x5', '0x4', '0x5']
      await using server = await serve((_request, response, body) => {
        const isHead = body.includes('eth_blockNumber')
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: isHead ? told.shift() : chainId }))
      })
      const chain = await connectChain(server.url)
      expect([await chain.send('eth_blockNumber'), await chain.send('eth_blockNumber')]).to.deep.equal(heads)
    })
  }

  it('gets one question at a time while it limits the run', async () => {
    await using node = await startNode()
    const together = 5
    let refused = 0
    const isUnderWay = new Set<ServerResponse>()
    let most = 0
    Object.assign(node, {
      refuse: (response: ServerResponse) => {
        if (refused++ < together) return response.writeHead(429).end()
        isUnderWay.add(response)
        most = Math.max(most, isUnderWay.size)
        setImmediate(() => {
          isUnderWay.delete(response)
          response.end(served)
        })
      },
    })
    await Promise.all(Array.from({ length: together }, () => node.chain.send('eth_blockNumber')))
    expect(most).to.equal(1)
    expect(node.requests).to.have.length(1 + 2 * together)
  })
})
