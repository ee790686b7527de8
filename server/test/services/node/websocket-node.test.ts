import { expect } from 'chai'
import { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { NodeFailure } from '../../../services/node/node-connection.ts'
import { byWebSocket } from '../../../../testbed/processes.ts'
import { createChain } from '../../../services/chain/create-chain.ts'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import { UpstreamRpcError } from '../../../services/node/upstream.ts'
import { WebSocketNode } from '../../../services/node/websocket-node.ts'
import { type FakeNode, outcomeOf, receivedBy, SENT, upstreamSetup } from '../../support/fake-node.ts'
import { nodeKinds } from '../../support/nodes.ts'
import { until } from '../../support/until.ts'

describe('WebSocketNode', () => {
  const { node, leave, closeAll, connect: connectBy, connectBriefly: connectBrieflyBy } = upstreamSetup()
  const connectBriefly = (one: FakeNode) => connectBrieflyBy('WebSocket', one)
  const connect = (...nodes: FakeNode[]) => connectBy('WebSocket', ...nodes)
  afterEach(closeAll)

  it('has one connection for all calls, and another for logs', async () => {
    const one = await node()
    const upstream = connect(one)
    const values = Array.from({ length: 200 }, (_, index) => index)
    expect(await Promise.all(values.map((value) => upstream.request('echo', [value])))).to.deep.equal(values)
    expect(one.webSockets).to.have.length(1)
    await Promise.all(Array.from({ length: 20 }, () => upstream.request('eth_getLogs', [])))
    expect(one.webSockets).to.have.length(2)
  })

  it('sends the calls of one turn in one piece', async () => {
    const one = await node()
    const upstream = connect(one)
    await upstream.request('echo', [0])
    const { _writev } = Socket.prototype
    let pieces = 0
    Socket.prototype._writev = function (...args) {
      if (this.remotePort === Number(new URL(one.url).port)) pieces++
      return _writev?.apply(this, args)
    }
    try {
      await Promise.all([1, 2, 3, 4, 5].map((value) => upstream.request('echo', [value])))
      expect(pieces).to.equal(1)
      await upstream.request('echo', [6])
      expect(pieces).to.equal(2)
    } finally {
      if (_writev) Socket.prototype._writev = _writev
    }
  })

  it('acknowledges an answer where it has nothing to send, so that the node holds the next one back no longer', async () => {
    const one = await node()
    const acknowledged = new Promise((resolve) => {
      one.onMessage = (socket, { id, method }) => {
        socket.once('pong', resolve)
        if (method === 'echo') socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 1 }))
      }
    })
    const upstream = connectBriefly(one)
    const never = outcomeOf(upstream.request('never', []))
    expect(await upstream.request('echo', [1])).to.equal(1)
    await acknowledged
    expect(await never).to.equal('UPSTREAM_UNAVAILABLE')
  })

  describe('heads', () => {
    const tellHead = (socket: WebSocket) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0x1' } }))

    it('are told as often as the node tells of one, also by a connection that was opened anew', async () => {
      const one = await node()
      const sockets: WebSocket[] = []
      one.onMessage = (socket, { id, method, params }) => {
        if (method === 'eth_subscribe') sockets.push(socket)
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: params[0] ?? '0x1' }))
      }
      const connection = new WebSocketNode(one.webSocketUrl)
      let heads = 0
      connection.onHead = () => heads++
      try {
        for (let round = 1; round <= 2; round++) {
          expect(await connection.call('echo', [round], 5_000)).to.equal(round)
          sockets.forEach(tellHead)
          await until(() => heads === round)
          sockets.pop()?.terminate()
          await until(() => !connection.isOpen)
        }
      } finally {
        await connection.close()
      }
      expect(one.calls('eth_subscribe').map(({ params }) => params)).to.deep.equal([['newHeads'], ['newHeads']])
    })

    it('are not asked for where nobody wants to know, nor by the connection for logs', async () => {
      const one = await node()
      const upstream = connect(one)
      await Promise.all([upstream.request('echo', [1]), upstream.request('eth_getLogs', [])])
      expect(one.calls('eth_subscribe')).to.be.empty
      const watching = createUpstream({ rpcUrls: [one.webSocketUrl], watchesHeads: true })
      await Promise.all([watching.request('echo', [1]), watching.request('eth_getLogs', [])])
      await watching.close()
      expect(one.calls('eth_subscribe')).to.have.length(1)
    })

    for (const [name, start] of Object.entries(nodeKinds)) {
      it(`of ${name} end what was known of the last one, whatever its age`, async () => {
        const real = await start()
        const upstream = createUpstream({ rpcUrls: [byWebSocket(real.rpcUrl)], watchesHeads: true })
        const chain = createChain({ upstream, confirmations: 10, headMaxAgeMs: 3_600_000 })
        upstream.onHead = () => chain.headIsOld()
        try {
          const before = Number(await chain.blockNumber())
          await real.request('evm_mine')
          await until(async () => Number(await chain.blockNumber()) === before + 1)
        } finally {
          await upstream.close()
          await real.close()
        }
      })
    }

    it('are no reason to fail for a node that refuses to tell', async () => {
      const one = await node()
      one.onMessage = (socket, { id, method, params }) =>
        socket.send(
          JSON.stringify(
            method === 'eth_subscribe'
              ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }
              : { jsonrpc: '2.0', id, result: params[0] ?? '0x1' },
          ),
        )
      const watching = createUpstream({ rpcUrls: [one.webSocketUrl], watchesHeads: true })
      expect(await watching.request('echo', [7])).to.equal(7)
      await watching.close()
    })
  })

  it('says who asks where the URL names somebody', async () => {
    const one = await node()
    const webSocketUrl = one.webSocketUrl.replace('//', '//us%er:pass%3Awörd@')
    await connect({ ...one, webSocketUrl }).request('echo', [1])
    expect(one.webSockets).to.deep.equal([`Basic ${Buffer.from('us%er:pass:wörd').toString('base64')}`])
  })

  it('gives each caller its answer as soon as the node has it, also of calls that are handed over together', async () => {
    const one = await node()
    const upstream = connectBriefly(one)
    const never = outcomeOf(upstream.request('never', []))
    expect(await upstream.request('echo', [1])).to.equal(1)
    const methods = ['echo', 'fail', 'never', 'echo']
    const asked = upstream.requestTogether?.(methods.map((method) => ({ method, params: [7] }))) ?? []
    expect(await asked[3]).to.deep.equal({ status: 'fulfilled', value: 7 })
    expect(await asked[1])
      .to.have.property('reason')
      .that.is.instanceOf(UpstreamRpcError)
    expect([receivedBy(one)].flat(2).map(({ method }) => method)).to.deep.equal(['never', 'echo', ...methods])
    expect(await asked[2])
      .to.have.property('reason')
      .that.includes({ code: 'UPSTREAM_UNAVAILABLE' })
    expect(await never).to.equal('UPSTREAM_UNAVAILABLE')
  })

  it('turns to the next node when one answers with something else', async () => {
    const [first, second] = [await node(), await node()]
    const troubles: FakeNode['onMessage'][] = [
      (socket) => socket.send('<html>'),
      (socket, { id }) => socket.send(`{"jsonrpc":"2.0","id":${id}}`),
      (socket) => socket.send('null'),
    ]
    for (const trouble of troubles) {
      const upstream = connect(first, second)
      expect(await upstream.request('echo', [1])).to.equal(1)
      first.onMessage = trouble
      const before = second.calls('echo').length
      expect(await upstream.request('echo', [5])).to.equal(5)
      expect(second.calls('echo').length - before).to.equal(1)
      first.onMessage = undefined
    }
  })

  it('says so when no node answers in time, and tries a silent one over a new connection', async () => {
    const one = await node()
    const upstream = connectBriefly(one)
    await upstream.request('echo', [0])
    one.onMessage = () => {}
    expect(await outcomeOf(upstream.request('echo', [1]))).to.equal('UPSTREAM_UNAVAILABLE')
    one.onMessage = undefined
    expect(await upstream.request('echo', [2])).to.equal(2)
    expect(one.webSockets).to.have.length(2)
    // One that still answers others is not silent.
    const slow = outcomeOf(upstream.request('never', []))
    expect(await upstream.request('echo', [3])).to.equal(3)
    expect(await slow).to.equal('UPSTREAM_UNAVAILABLE')
    expect(await upstream.request('echo', [4])).to.equal(4)
    expect(one.webSockets).to.have.length(2)
  })

  it('opens a connection anew when the node has closed it', async () => {
    const one = await node()
    const upstream = connect(one)
    await upstream.request('echo', [0])
    one.onMessage = (socket, { id, params }) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: params[0] }))
      socket.close()
    }
    for (let value = 1; value < 5; value++) expect(await upstream.request('echo', [value])).to.equal(value)
    expect(one.webSockets.length).to.be.greaterThan(3)
  })

  it('repeats a call over a connection that broke, and sends no transaction twice to a node', async () => {
    const [first, second] = [await node(), await node()]
    const upstream = connect(first, second)
    await upstream.request('echo', [0])
    first.onMessage = (socket) => {
      first.onMessage = undefined
      socket.terminate()
    }
    expect(await upstream.request('echo', [1])).to.equal(1)
    expect([first.calls('echo').length, second.calls('echo').length]).to.deep.equal([3, 0])

    first.onMessage = (socket) => socket.terminate()
    expect(await upstream.request('eth_sendRawTransaction', ['0xaa'])).to.equal(SENT)
    for (const { calls } of [first, second]) {
      expect(calls('eth_sendRawTransaction').map(({ params }) => params)).to.deep.equal([['0xaa']])
    }
  })

  it('tells when a node was not reached, so that a transaction may go to the next one', async () => {
    const gone = await node()
    await leave(gone)
    const failure = await outcomeOf(new WebSocketNode(gone.webSocketUrl).call('eth_sendRawTransaction', ['0x'], 200))
    expect(failure).to.be.instanceOf(NodeFailure).that.includes({ stage: 'unreached' })
  })

  it('refuses an answer that is too large as the node would, and goes on', async () => {
    const one = await node()
    const upstream = connect(one)
    one.onMessage = (socket, { id }) => {
      one.onMessage = undefined
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 'x'.repeat(65 * 1024 * 1024) }))
    }
    expect(await outcomeOf(upstream.request('eth_getLogs', [], { timeoutMs: 10_000 }))).to.include({ code: 413 })
    expect(await upstream.request('eth_getLogs', [])).to.deep.equal([])
  })

  it('opens no connection any more once it is closed', async () => {
    const one = await node()
    const closed = new WebSocketNode(one.webSocketUrl)
    await closed.close()
    expect(await closed.call('echo', [1], 1_000).catch((error: unknown) => error)).to.be.instanceOf(NodeFailure)
    expect(one.webSockets).to.have.length(0)
  })

  it('fails what waits when it is closed', async () => {
    const upstream = connect(await node())
    const waiting = outcomeOf(upstream.request('never', []))
    await upstream.request('echo', [1])
    await upstream.close()
    expect(await waiting).to.equal('UPSTREAM_UNAVAILABLE')
  })
})
