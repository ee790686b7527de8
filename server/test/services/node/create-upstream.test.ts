import { expect } from 'chai'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import { UpstreamRpcError } from '../../../services/node/upstream.ts'
import { type FakeNode, outcomeOf, receivedBy, SENT, startFakeNode, upstreamSetup } from '../../support/fake-node.ts'
import { lasting } from '../../support/lasting.ts'
import { until } from '../../support/until.ts'
import { pino } from 'pino'

describe('createUpstream', () => {
  const { node, leave, closeAll, connect: connectBy, connectBriefly } = upstreamSetup()
  const connect = (...nodes: FakeNode[]) => connectBy('HTTP', ...nodes)
  afterEach(closeAll)

  for (const way of ['HTTP', 'WebSocket'] as const) {
    describe(`by ${way}`, () => {
      it("hands on the node's own error as it came", async () => {
        const error = await outcomeOf(connectBy(way, await node()).request('fail', []))
        expect(error).to.be.instanceOf(UpstreamRpcError).that.includes({ code: 3, data: '0x1234' })
        expect(error).to.have.property('message', 'execution reverted')
      })

      it('turns to the next node when one is away, and back when it is there again', async () => {
        const [first, second] = [await node(), await node()]
        const upstream = connectBy(way, first, second)
        expect(await upstream.request('echo', [1])).to.equal(1)
        const port = Number(new URL(first.url).port)
        await leave(first)
        expect(await upstream.request('echo', [2])).to.equal(2)
        expect(second.calls('echo')).to.have.length(1)
        const again = await node('0x1', port)
        await until(() => again.calls('eth_chainId').length > 0)
        await until(async () => (await upstream.request('echo', [3])) === 3 && again.calls('echo').length > 0)
      })

      it('never uses a node of another chain', async () => {
        const [first, stranger, third] = [await node('0x1'), await node('0x2'), await node('0x1')]
        const upstream = connectBy(way, first, stranger, third)
        await upstream.request('echo', [1])
        await leave(first)
        expect(await upstream.request('echo', [2])).to.equal(2)
        expect(stranger.calls('echo')).to.be.empty
        expect(third.calls('echo')).to.have.length(1)
      })
    })
  }

  it('tells the operator once of a method that the node does not serve', async () => {
    const refuse = () => {
      throw Object.assign(new Error('Method not found'), { code: -32601 })
    }
    const fake = await startFakeNode({ eth_chainId: () => '0x1', eth_getCode: refuse })
    const lines: { method?: string; reason?: string }[] = []
    const log = pino(
      { base: null },
      { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
    )
    const upstream = createUpstream({ rpcUrls: [fake.url], log })
    try {
      for (let count = 0; count < 3; count++) await outcomeOf(upstream.request('eth_getCode', []))
      expect(lines.filter(({ method }) => method === 'eth_getCode')).to.have.length(1)
      expect(lines[0]).to.include({ reason: 'Method not found' })
    } finally {
      await upstream.close()
      await fake.close()
    }
  })

  it('sends what would have to wait as a batch, and gives each caller its own answer', async () => {
    const one = await node()
    const upstream = connect(one)
    const values = Array.from({ length: 200 }, (_, index) => index)
    expect(await Promise.all(values.map((value) => upstream.request('echo', [value])))).to.deep.equal(values)
    expect(one.received.length).to.be.lessThan(20)
  })

  it('hands groups of calls that come at a time over in one request, each in its order', async () => {
    const one = await node()
    const upstream = connect(one)
    const group = (...values: number[]) =>
      upstream.requestTogether?.(values.map((value) => ({ method: 'echo', params: [value] }))) ?? []
    const outcomes = await Promise.all([group(1, 2), group(3), group(4, 5, 6)].flat())
    const values = [1, 2, 3, 4, 5, 6]
    expect(outcomes).to.deep.equal(values.map((value) => ({ status: 'fulfilled', value })))
    expect(receivedBy(one)).to.have.length(1)
    expect(one.calls('echo').map(({ params: [value] }) => value)).to.deep.equal(values)
  })

  it('keeps calls apart that must not fail together', async () => {
    const one = await node()
    const upstream = connect(one)
    await Promise.all(Array.from({ length: 20 }, () => upstream.request('eth_getLogs', [])))
    expect(receivedBy(one).every((body) => !Array.isArray(body))).to.equal(true)
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
    const upstream = connectBriefly('HTTP', one)
    const outcome = await lasting([150, 1500], () => outcomeOf(upstream.request('echo', [1])))
    expect(outcome).to.equal('UPSTREAM_UNAVAILABLE')
    expect(await outcomeOf(upstream.request('echo', [1], { timeoutMs: 20 }))).to.equal('UPSTREAM_UNAVAILABLE')
    one.onRequest = undefined
    expect(await upstream.request('echo', [1])).to.equal(1)
  })

  it('repeats a call over a connection that broke, and sends no transaction twice to a node', async () => {
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
    expect(await upstream.request('eth_sendRawTransaction', ['0xaa'])).to.equal(SENT)
    for (const { calls } of [first, second]) {
      expect(calls('eth_sendRawTransaction').map(({ params }) => params)).to.deep.equal([['0xaa']])
    }
  })

  it('sends a transaction to the next node when the first was not reached', async () => {
    const [first, second] = [await node(), await node()]
    const upstream = connect(first, second)
    await upstream.request('echo', [0])
    await leave(first)
    expect(await upstream.request('eth_sendRawTransaction', ['0x'])).to.equal(SENT)
    expect(second.calls('eth_sendRawTransaction')).to.have.length(1)
  })

  it('lets a caller go away without harm to the others', async () => {
    const one = await node()
    const upstream = connect(one)
    const controller = new AbortController()
    const calls = Array.from({ length: 30 }, (_, index) =>
      outcomeOf(upstream.request('echo', [index], index === 0 ? { signal: controller.signal } : {})),
    )
    controller.abort(new Error('gone'))
    const results = await Promise.all(calls)
    expect(results[0]).to.have.property('message', 'gone')
    expect(results.slice(1)).to.deep.equal(Array.from({ length: 29 }, (_, index) => index + 1))
  })
})
