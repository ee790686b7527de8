import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { pino } from 'pino'
import { createUpstream, type NodesUpstream } from '../../../../services/node/create-upstream.ts'
import { LOG_CALLS_AT_A_TIME } from '../../../../services/node/node-connection.ts'
import { startFakeNode, type FakeNode, type Handlers, outcomeOf, SENT } from '../../../support/fake-node.ts'
import { lasting } from '../../../support/lasting.ts'
import { until } from '../../../support/until.ts'

/** A call is not held to be slow before. */
const LEAST_SLOW_MS = 10
const HASH = `0x${'ab'.repeat(32)}`

describe('NodePool', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(open.splice(0).map((one) => one.close())))

  /** A chain in the nodes' hands: block `number` of `branch`. */
  const block = (number: number, branch = 'a') => ({
    number: `0x${number.toString(16)}`,
    hash: hashOf(number, branch),
    parentHash: hashOf(number - 1, branch),
  })
  const hashOf = (number: number, branch: string) =>
    `0x${(number < 0 ? 0 : number).toString(16).padStart(63, '0')}${number < 5 ? 'a' : branch}`

  interface Scripted extends FakeNode {
    height: number
    branch: string
  }

  async function node(handlers: Handlers = {}, port = 0): Promise<Scripted> {
    const state = { height: 10, branch: 'a' }
    const fake = await startFakeNode(
      {
        eth_chainId: () => '0x1',
        eth_getBlockByNumber: ([tag]: string[]) => {
          const number = tag === 'latest' ? state.height : Number(tag)
          return number > state.height ? null : block(number, state.branch)
        },
        eth_getBalance: () => `0x${state.height.toString(16)}`,
        eth_sendRawTransaction: () => SENT,
        echo: ([value]) => value,
        ...handlers,
      },
      port,
    )
    open.push(fake)
    return Object.defineProperties(fake, {
      height: {
        get: () => state.height,
        set: (height: number) => {
          state.height = height
        },
      },
      branch: {
        get: () => state.branch,
        set: (branch: string) => {
          state.branch = branch
        },
      },
    }) as Scripted
  }
  const connect = (...nodes: FakeNode[]) => connectTo(nodes.map(({ url }) => url))
  function connectTo(rpcUrls: string[]): NodesUpstream {
    const upstream = createUpstream({ rpcUrls, requestTimeoutMs: 4_000 })
    open.push(upstream)
    return upstream
  }
  const leave = async (gone: FakeNode) => {
    await gone.close()
    open.splice(open.indexOf(gone), 1)
  }
  const headOf = async (upstream: NodesUpstream) => Number(await upstream.request('eth_blockNumber', []))
  const headHashOf = async (upstream: NodesUpstream) =>
    (await upstream.request<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash
  const balanceOf = async (upstream: NodesUpstream) =>
    Number(await upstream.request('eth_getBalance', ['0x', 'latest']))

  it('asks no node that is two blocks behind, and takes it back when it has caught up', async () => {
    const [late, good] = [await node(), await node()]
    const upstream = connect(late, good)
    expect(await headOf(upstream)).to.equal(10)
    good.height = 12
    await until(async () => (await headOf(upstream)) === 12)
    const before = late.calls('eth_getBalance').length
    for (let round = 0; round < 20; round++) expect(await balanceOf(upstream)).to.equal(12)
    expect(late.calls('eth_getBalance').length).to.equal(before)
    await leave(good)
    expect(await outcomeOf(balanceOf(upstream))).to.equal('UPSTREAM_UNAVAILABLE')
    late.height = 12
    await until(async () => (await outcomeOf(balanceOf(upstream))) === 12)
  })

  it('holds nothing against a node whose turn for logs others have', async () => {
    const release = Promise.withResolvers<unknown[]>()
    const busy = await node({ eth_getLogs: () => release.promise })
    const told: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void told.push(line) })
    const upstream = createUpstream({ rpcUrls: [busy.url], requestTimeoutMs: 4_000, log })
    open.push(upstream)
    await headOf(upstream)
    const ask = (timeoutMs: number) => outcomeOf(upstream.request('eth_getLogs', [], { timeoutMs }))
    const first = Array.from({ length: LOG_CALLS_AT_A_TIME }, () => ask(60_000))
    const late = [ask(50), ask(50)]
    // Longer than they wait.
    const oldMs = performance.now() + 100
    await until(() => performance.now() > oldMs && busy.calls('eth_getLogs').length === LOG_CALLS_AT_A_TIME)
    release.resolve([])
    expect(await Promise.all(late)).to.deep.equal(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE'])
    expect(await Promise.all(first)).to.deep.equal(first.map(() => []))
    expect(told).to.deep.equal([])
  })

  it('tells the best head although the node that is left is one block behind it', async () => {
    const [good, late] = [await node(), await node()]
    const upstream = connect(good, late)
    await headOf(upstream)
    good.height = 11
    await until(async () => (await headOf(upstream)) === 11)
    await leave(good)
    let told = 0
    upstream.onReorganised = () => void told++
    expect([await headOf(upstream), await balanceOf(upstream)]).to.deep.equal([11, 10])
    late.height = 11
    await until(async () => (await balanceOf(upstream)) === 11)
    // What was read one block back may be kept somewhere as what belongs to block 11.
    await until(async () => (await balanceOf(upstream)) === 11 && told > 0)
  })

  it('goes back when the nodes have given up the head, and says so', async () => {
    const nodes = [await node(), await node()]
    const upstream = connect(...nodes)
    let told = 0
    upstream.onReorganised = () => void told++
    expect(await headOf(upstream)).to.equal(10)
    for (const one of nodes) Object.assign(one, { height: 8, branch: 'b' })
    await until(async () => (await headOf(upstream)) === 8)
    expect(told).to.be.greaterThan(0)
  })

  it('does not go back for one node of two, nor follow it onto a fork', async () => {
    const [first, second] = [await node(), await node()]
    const upstream = connect(first, second)
    await headOf(upstream)
    let told = 0
    upstream.onReorganised = () => void told++
    for (const [height, branch] of [
      [8, 'a'],
      [10, 'b'],
      [11, 'b'],
    ] as const) {
      Object.assign(second, { height, branch })
      const looks = second.calls('eth_getBlockByNumber').length
      await until(async () => {
        expect(await headOf(upstream)).to.equal(10)
        return second.calls('eth_getBlockByNumber').length > looks + 2
      })
    }
    expect(told).to.equal(0)
  })

  it('follows two nodes of three onto their chain', async () => {
    const [first, second, third] = [await node(), await node(), await node()]
    const upstream = connect(first, second, third)
    await headOf(upstream)
    let told = 0
    upstream.onReorganised = () => void told++
    for (const one of [second, third]) Object.assign(one, { height: 10, branch: 'b' })
    await until(async () => (await headHashOf(upstream)) === hashOf(10, 'b'))
    expect(told).to.be.greaterThan(0)
  })

  it('answers nothing from a block that the first node alone has shown, however slow the others are', async () => {
    const calm = 40
    let isSlow = false
    const slowly = async ([tag]: string[]) => {
      if (isSlow) await sleep(4 * LEAST_SLOW_MS)
      return block(tag === 'latest' ? good.height : Number(tag))
    }
    const first = await node({
      // Its chain parts from that of the others above block 10.
      eth_getBlockByNumber: ([tag]: string[]) => {
        const number = tag === 'latest' ? first.height : Number(tag)
        return { ...block(number), ...(number > 10 && { hash: hashOf(number, 'b') }) }
      },
      eth_getBalance: () => (first.height > 10 ? '0xbad' : '0xa'),
    })
    const good = await node({ eth_getBlockByNumber: slowly })
    const upstream = connect(first, good, await node({ eth_getBlockByNumber: slowly, eth_getBalance: () => '0xb' }))
    for (let round = 0; round < calm; round++) await headOf(upstream)
    isSlow = true
    first.height = good.height = 11
    const answers = Array.from({ length: 4 }, async () => [await headHashOf(upstream), await balanceOf(upstream)])
    for (const answer of await Promise.all(answers)) expect(answer).to.deep.equal([hashOf(11, 'a'), 11])
  })

  it('asks for a block by its number where it was asked for one, and not for the head', async () => {
    const upstream = connect(await node(), await node())
    await headOf(upstream)
    const { number, hash } = await upstream.request<{ number: string; hash: string }>('eth_getBlockByNumber', [
      '0x7',
      false,
    ])
    expect({ number, hash }).to.deep.equal({ number: '0x7', hash: hashOf(7, 'a') })
  })

  it('waits for a node that hangs no longer than for a slow answer, and not again', async () => {
    const [silent, good] = [await node(), await node()]
    const upstream = connect(silent, good)
    for (let value = 0; value < 40; value++) await upstream.request('echo', [value])
    silent.onRequest = () => {}
    expect(await lasting([0, 2_000], () => upstream.request('echo', [1]))).to.equal(1)
    const before = silent.calls('echo').length
    for (let value = 0; value < 20; value++) expect(await upstream.request('echo', [value])).to.equal(value)
    expect(silent.calls('echo').length).to.equal(before)
  })

  it('asks a second node for few of the calls that are slow', async () => {
    const gate: (() => void)[] = []
    const release = () => {
      for (const answer of gate.splice(0)) answer()
    }
    const first = await node({ slow: () => new Promise((resolve) => gate.push(() => resolve(1))) })
    const second = await node({ slow: release })
    const upstream = connectTo([first.webSocketUrl, second.webSocketUrl])
    const calls = Array.from({ length: 200 }, () => upstream.request('slow', []))
    // The node answers others meanwhile: it is not silent.
    await upstream.request('echo', [1])
    expect(first.calls('slow')).to.have.length(200)
    await Promise.all(calls)
    expect(second.calls('slow').length).to.be.within(1, 200 * 0.1 + 20)
  })

  it('leaves a node alone for as long as it says, and asks it again then', async () => {
    const [busy, good] = [await node(), await node()]
    const upstream = connect(busy, good)
    await upstream.request('echo', [0])
    busy.onRequest = (response) => response.writeHead(429, { 'retry-after': '1' }).end()
    const begunMs = performance.now()
    expect(await upstream.request('echo', [1])).to.equal(1)
    busy.onRequest = undefined
    const before = busy.received.length
    while (performance.now() - begunMs < 900) expect(await upstream.request('echo', [2])).to.equal(2)
    expect(busy.received.length).to.equal(before)
    await until(() => busy.received.length > before)
  })

  it('refuses at once while the only node wants to be left alone, and says for how long', async () => {
    const busy = await node()
    const upstream = connect(busy)
    await upstream.request('echo', [0])
    busy.onRequest = (response) => response.writeHead(429, { 'retry-after': '60' }).end()
    await outcomeOf(upstream.request('echo', [1]))
    const before = busy.received.length
    const error = await upstream.request('echo', [2]).catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 'UPSTREAM_UNAVAILABLE', retryAfterSeconds: 60 })
    expect(busy.received.length).to.equal(before)
  })

  it('asks the other node when one fails, although it was behind when it was last heard', async () => {
    let isHeld = false
    const first = await node()
    const second = await node({
      eth_getBlockByNumber: ([tag]: string[]) => {
        if (!isHeld) return block(tag === 'latest' ? second.height : Number(tag))
        isHeld = false
        return new Promise(() => {})
      },
    })
    const upstream = connect(first, second)
    await headOf(upstream)
    isHeld = true
    first.height = second.height = 13
    await until(async () => (await headOf(upstream)) === 13)
    first.onRequest = (response) => response.writeHead(429, { 'retry-after': '60' }).end()
    expect(await balanceOf(upstream)).to.equal(13)
  })

  it('refuses the node of another chain at the start, whichever is named first', async () => {
    const foreign = await node({ eth_chainId: () => '0x2' })
    const upstream = connect(foreign, await node(), await node())
    expect(await upstream.request('eth_chainId', [])).to.equal('0x1')
    for (let value = 0; value < 5; value++) await upstream.request('echo', [value])
    expect(foreign.calls('echo')).to.be.empty
  })

  it('refuses a node that has come back as another chain, with the same id too, until it is the right one again', async () => {
    for (const other of [
      { eth_chainId: () => '0x2' },
      { eth_getBlockByNumber: () => ({ ...block(7), hash: HASH }) },
    ] as Handlers[]) {
      const first = await node()
      const port = Number(new URL(first.url).port)
      const upstream = connect(first)
      expect(await upstream.request('echo', [1])).to.equal(1)
      await leave(first)
      const foreign = await node(other, port)
      for (const call of ['echo', 'eth_chainId', 'eth_sendRawTransaction']) {
        const error = await upstream.request(call, ['0x']).catch((thrown: unknown) => thrown)
        expect(error, call).to.include({ code: 'UPSTREAM_UNAVAILABLE' })
        expect(error).to.have.property('details').that.deep.equals({ wrongChain: true })
      }
      expect(foreign.calls('eth_sendRawTransaction')).to.be.empty
      await leave(foreign)
      await node({}, port)
      await until(async () => (await outcomeOf(upstream.request('echo', [2]))) === 2)
    }
  })

  it('sends the same bytes in the same order to a second node when the first one hangs', async () => {
    const [silent, good] = [await node(), await node()]
    const upstream = connect(silent, good)
    await upstream.request('echo', [0])
    silent.onRequest = () => {}
    const calls = ['0x01', '0x02', '0x03'].map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
    const outcomes = await Promise.all(upstream.requestTogether?.(calls) ?? [])
    expect(outcomes).to.deep.equal(calls.map(() => ({ status: 'fulfilled', value: SENT })))
    for (const one of [silent, good]) {
      expect(one.calls('eth_sendRawTransaction').map(({ params }) => params[0])).to.deep.equal(['0x01', '0x02', '0x03'])
    }
  })

  describe('what decides about money', () => {
    const confirm = { confirm: true }
    const receipt = (more = {}) => ({
      transactionHash: HASH,
      blockHash: hashOf(9, 'a'),
      blockNumber: '0x9',
      status: '0x1',
      ...more,
    })
    const receiptsOf = (...receipts: unknown[]) =>
      Promise.all(receipts.map((one) => node({ eth_getTransactionReceipt: () => one })))
    const askReceipt = (upstream: NodesUpstream) =>
      outcomeOf(upstream.request('eth_getTransactionReceipt', [HASH], confirm))

    it('is the nonce that both nodes have seen', async () => {
      const nodes = await Promise.all(['0x7', '0x5'].map((count) => node({ eth_getTransactionCount: () => count })))
      const upstream = connect(...nodes)
      expect(await upstream.request('eth_getTransactionCount', ['0x', 'latest'], confirm)).to.equal('0x5')
    })

    it('is the head that both nodes have seen', async () => {
      const nodes = [await node(), await node()] as const
      nodes[1].height = 9
      const head = await connect(...nodes).request('eth_getBlockByNumber', ['latest', false], confirm)
      expect(head).to.have.property('number', '0x9')
    })

    it('is a receipt that a second node shows, in other words too', async () => {
      const nodes = await receiptsOf(receipt(), receipt({ blockNumber: 9, blobGasPrice: '0x1' }))
      expect(await askReceipt(connect(...nodes))).to.deep.equal(receipt())
    })

    it('is not a receipt that a second node contradicts', async () => {
      for (const [one, other] of [
        [{}, { status: '0x0' }],
        [{}, { blockHash: HASH }],
        [{ effectiveGasPrice: '0x7' }, { effectiveGasPrice: '0x8' }],
        [{ l1Fee: '0x7' }, { l1Fee: '0x0' }],
      ]) {
        const nodes = await receiptsOf(receipt(one), receipt(other))
        expect(await askReceipt(connect(...nodes)), JSON.stringify(other)).to.equal('UPSTREAM_UNAVAILABLE')
      }
    })

    it('is a receipt from before Byzantium, in which one node says null and the other nothing', async () => {
      const nodes = await receiptsOf(receipt({ status: null }), receipt({ status: undefined }))
      expect(await askReceipt(connect(...nodes))).to.deep.equal(receipt({ status: null }))
    })

    it('is a receipt whose price a second node does not tell', async () => {
      const told = receipt({ effectiveGasPrice: '0x7', l1Fee: '0x0' })
      const nodes = await receiptsOf(told, receipt({ effectiveGasPrice: null }))
      expect(await askReceipt(connect(...nodes))).to.deep.equal(told)
    })

    it('is a receipt whose block the second node has, though it shows no receipts', async () => {
      expect(await askReceipt(connect(...(await receiptsOf(null, receipt()))))).to.deep.equal(receipt())
      const elsewhere = receipt({ blockHash: HASH })
      expect(await askReceipt(connect(...(await receiptsOf(null, elsewhere))))).to.equal('UPSTREAM_UNAVAILABLE')
    })

    it('is what two nodes of three say', async () => {
      const nodes = await receiptsOf(receipt({ status: '0x0' }), receipt(), receipt())
      expect(await askReceipt(connect(...nodes))).to.deep.equal(receipt())
    })

    it('is what one node says where there is no second', async () => {
      const [good, gone] = await receiptsOf(receipt(), null)
      const upstream = connect(good as FakeNode, gone as FakeNode)
      await upstream.request('echo', [1])
      await leave(gone as FakeNode)
      expect(await askReceipt(upstream)).to.deep.equal(receipt())
    })
  })
})
