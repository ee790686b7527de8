import { expect } from 'chai'
import { ServiceError } from '../../../core/errors.ts'
import { createUpstream } from '../../../services/chain/create-upstream.ts'
import { UpstreamRpcError, type Upstream } from '../../../services/chain/upstream.ts'
import { startFakeNode, type FakeNode } from '../../support/fake-node.ts'
import { until } from '../../support/until.ts'

describe('createUpstream', () => {
  const open: { close(): Promise<void> }[] = []
  const node = async (chainId = '0x1', port = 0): Promise<FakeNode> => {
    const started = await startFakeNode(
      {
        eth_chainId: () => chainId,
        echo: ([value]) => value,
        fail: () => {
          throw Object.assign(new Error('execution reverted'), { code: 3, data: '0x1234' })
        },
      },
      port,
    )
    open.push(started)
    return started
  }
  const connect = (...nodes: FakeNode[]): Upstream => {
    const upstream = createUpstream({ rpcUrls: nodes.map(({ url }) => url), requestTimeoutMs: 200 })
    open.push(upstream)
    return upstream
  }
  afterEach(() => Promise.all(open.splice(0).map((one) => one.close())))

  const outcome = async (call: Promise<unknown>): Promise<unknown> => {
    try {
      return await call
    } catch (error) {
      return error instanceof ServiceError ? error.code : error
    }
  }

  it("hands on the node's own error as it came", async () => {
    const error = await outcome(connect(await node()).request('fail', []))
    expect(error).to.be.instanceOf(UpstreamRpcError).that.includes({ code: 3, data: '0x1234' })
    expect(error).to.have.property('message', 'execution reverted')
  })

  it('sends what would have to wait as a batch, and gives each caller its own answer', async () => {
    const one = await node()
    const upstream = connect(one)
    const values = Array.from({ length: 200 }, (_, index) => index)
    expect(await Promise.all(values.map((value) => upstream.request('echo', [value])))).to.deep.equal(values)
    expect(one.received.length).to.be.lessThan(20)
  })

  it('keeps calls apart that must not fail together', async () => {
    const one = await node()
    const upstream = connect(one)
    await Promise.all(Array.from({ length: 20 }, () => upstream.request('eth_getLogs', [])))
    expect(one.received.every((body) => !Array.isArray(body))).to.equal(true)
  })

  it('does without batches where the node takes none, or fewer at a time', async () => {
    const one = await node()
    const upstream = connect(one)
    const length = (body: unknown) => (Array.isArray(body) ? body.length : 1)
    const original = { error: { code: -32600, message: 'batch too large' }, jsonrpc: '2.0', id: null }
    let refused = 0
    one.onRequest = (response, body) => {
      const requests = Array.isArray(body) ? body : [body]
      if (requests.length > 3 && ++refused) return void response.end(JSON.stringify(original))
      const answers = requests.map(({ id, params }) => ({ jsonrpc: '2.0', id, result: params[0] }))
      response.end(JSON.stringify(Array.isArray(body) ? answers.reverse() : answers[0]))
    }
    const values = Array.from({ length: 100 }, (_, index) => index)
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all(values.map((value) => upstream.request('echo', [value])))).to.deep.equal(values)
    }
    expect(refused).to.be.greaterThan(0)
    expect(Math.max(...one.received.slice(-20).map(length))).to.be.most(3)
  })

  it('turns to the next node when one is away, and back when it is there again', async () => {
    const [first, second] = [await node(), await node()]
    const upstream = connect(first, second)
    expect(await upstream.request('echo', [1])).to.equal(1)
    const port = Number(new URL(first.url).port)
    await first.close()
    expect(await upstream.request('echo', [2])).to.equal(2)
    expect(second.calls('echo')).to.have.length(1)
    const again = await node('0x1', port)
    await until(() => again.calls('eth_chainId').length > 0)
    await until(async () => (await upstream.request('echo', [3])) === 3 && again.calls('echo').length > 0)
  })

  it('turns to the next node when one is silent, busy or not a node', async () => {
    const [first, second] = [await node(), await node()]
    const troubles: FakeNode['onRequest'][] = [
      () => {},
      (response) => response.writeHead(503).end('{"jsonrpc":"2.0","id":1,"result":1}'),
      (response) => response.end('<html>'),
      (response) => response.end('{"jsonrpc":"2.0","id":1}'),
    ]
    for (const trouble of troubles) {
      const upstream = connect(first, second)
      expect(await upstream.request('echo', [1])).to.equal(1)
      first.onRequest = trouble
      const before = second.calls('echo').length
      expect(await upstream.request('echo', [5])).to.equal(5)
      // Known to be unwell now: asked last.
      expect(await upstream.request('echo', [6])).to.equal(6)
      expect(first.calls('echo').filter(({ params }) => params[0] === 6)).to.be.empty
      expect(second.calls('echo').length - before).to.equal(2)
      first.onRequest = undefined
    }
  })

  it('says so when no node answers in time', async () => {
    const one = await node()
    one.onRequest = () => {}
    const upstream = connect(one)
    const start = performance.now()
    expect(await outcome(upstream.request('echo', [1]))).to.equal('UPSTREAM_UNAVAILABLE')
    expect(performance.now() - start).to.be.within(150, 1500)
    expect(await outcome(upstream.request('echo', [1], { timeoutMs: 20 }))).to.equal('UPSTREAM_UNAVAILABLE')
    one.onRequest = undefined
    expect(await upstream.request('echo', [1])).to.equal(1)
  })

  it('never uses a node of another chain', async () => {
    const [first, stranger, third] = [await node('0x1'), await node('0x2'), await node('0x1')]
    const upstream = connect(first, stranger, third)
    await upstream.request('echo', [1])
    await first.close()
    open.splice(open.indexOf(first), 1)
    expect(await upstream.request('echo', [2])).to.equal(2)
    expect(stranger.calls('echo')).to.be.empty
    expect(third.calls('echo')).to.have.length(1)
  })

  it('repeats a call over a connection that broke, but never a transaction that may have arrived', async () => {
    const [first, second] = [await node(), await node()]
    const upstream = connect(first, second)
    await upstream.request('echo', [0])
    let broken = 0
    first.onRequest = (response) => {
      broken++
      first.onRequest = undefined
      response.destroy()
    }
    expect(await upstream.request('echo', [1])).to.equal(1)
    expect([broken, first.calls('echo').length, second.calls('echo').length]).to.deep.equal([1, 3, 0])

    first.onRequest = (response) => response.destroy()
    expect(await outcome(upstream.request('eth_sendRawTransaction', ['0x']))).to.equal('UPSTREAM_UNAVAILABLE')
    expect([...first.calls('eth_sendRawTransaction'), ...second.calls('eth_sendRawTransaction')]).to.have.length(1)
  })

  it('sends a transaction to the next node when the first was not reached', async () => {
    const [first, second] = [await node(), await node()]
    const upstream = connect(first, second)
    await upstream.request('echo', [0])
    await first.close()
    open.splice(open.indexOf(first), 1)
    expect(await upstream.request('eth_sendRawTransaction', ['0x'])).to.equal(null)
    expect(second.calls('eth_sendRawTransaction')).to.have.length(1)
  })

  it('lets a caller go away without harm to the others', async () => {
    const one = await node()
    const upstream = connect(one)
    const controller = new AbortController()
    const calls = Array.from({ length: 30 }, (_, index) =>
      outcome(upstream.request('echo', [index], index === 0 ? { signal: controller.signal } : {})),
    )
    controller.abort(new Error('gone'))
    const results = await Promise.all(calls)
    expect(results[0]).to.have.property('message', 'gone')
    expect(results.slice(1)).to.deep.equal(Array.from({ length: 29 }, (_, index) => index + 1))
  })
})
