import { expect } from 'chai'
import { once } from 'node:events'
import { connect } from 'node:net'
import { lasting } from '../support/lasting.ts'
import { largeLog, rpcMethod, startRpcServer, type RpcServer } from '../support/rpc-server.ts'
import { until } from '../support/until.ts'

const ADDRESS = `0x${'11'.repeat(20)}`
const request = (method: string, id: number, params: unknown[] = []) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const batch = (length: number, method: string, params: unknown[] = []) =>
  `[${Array.from({ length }, (_, id) => request(method, id, params)).join(',')}]`

describe('batches', () => {
  let server: RpcServer
  let [running, most] = [0, 0]
  let held: (() => void)[] = []

  before(async () => {
    server = await startRpcServer(
      [
        rpcMethod('eth_chainId', async () => '0x1'),
        rpcMethod('eth_getBalance', async () => {
          most = Math.max(most, ++running)
          await new Promise<void>((resolve) => held.push(resolve))
          running--
          return '0x1'
        }),
        rpcMethod('eth_getLogs', async () => [largeLog]),
      ],
      { concurrentBatches: 2, concurrentCallsPerBatch: 3, batchResponseBytes: 100_000 },
    )
  })
  beforeEach(() => {
    ;[running, most, held] = [0, 0, []]
  })
  after(() => server.close())

  /** Lets every call go on until all are done. */
  async function release(done: () => boolean): Promise<void> {
    await until(() => {
      for (const resolve of held.splice(0)) resolve()
      return done()
    })
  }

  it('run a few calls at a time, however many there are', async () => {
    let done = 0
    const posts = Array.from({ length: 6 }, () =>
      server.post(batch(50, 'eth_getBalance', [ADDRESS, 'latest'])).then(() => done++),
    )
    await release(() => done === 6)
    await Promise.all(posts)
    expect(most).to.be.within(3, 6)
  })

  it('keep neither single requests nor short batches waiting', async () => {
    let done = 0
    const posts = Array.from({ length: 4 }, () =>
      server.post(batch(50, 'eth_getBalance', [ADDRESS, 'latest'])).then(() => done++),
    )
    await until(() => held.length >= 6)
    expect(await server.call('eth_chainId')).to.equal('0x1')
    expect((await server.post(batch(10, 'eth_chainId'))).json).to.have.length(10)
    expect(done).to.equal(0)
    await release(() => done === 4)
    await Promise.all(posts)
  })

  it('let others have a turn of the event loop after each millisecond, however many calls they hold', async () => {
    let turn = 0
    let isWatching = true
    const watch = () => {
      turn++
      if (isWatching) setImmediate(watch)
    }
    watch()
    const callsByTurn = new Map<number, number>()
    const busy = await startRpcServer([
      rpcMethod('eth_chainId', () => {
        const endMs = performance.now() + 2
        while (performance.now() < endMs);
        callsByTurn.set(turn, (callsByTurn.get(turn) ?? 0) + 1)
        return '0x1'
      }),
    ])
    try {
      expect((await busy.post(batch(60, 'eth_chainId'))).json).to.have.length(60)
      expect(Math.max(...callsByTurn.values())).to.equal(1)
    } finally {
      isWatching = false
      await busy.close()
    }
  })

  it('end with errors where their answers would be too large', async () => {
    const { json } = await server.post(batch(20, 'eth_getLogs', [{}]))
    const answers = json as { id: number; result?: unknown; error?: { code: number } }[]
    expect(answers.map(({ id }) => id)).to.deep.equal(Array.from({ length: 20 }, (_, id) => id))
    const refused = answers.filter(({ error }) => error?.code === -32003)
    // Two of them fit, however many run at the same time.
    expect(refused.length).to.equal(18)
    expect(answers.length - refused.length).to.equal(answers.filter(({ result }) => result).length)
  })

  describe('of which the node answers nothing', () => {
    const ANSWER_MS = 300
    const IN_TIME = [ANSWER_MS - 10, 3 * ANSWER_MS] as const
    let hurried: RpcServer
    let asked = 0
    before(async () => {
      const never = rpcMethod('eth_gasPrice', () => {
        asked++
        return new Promise(() => {})
      })
      const limits = { concurrentBatches: 1, concurrentCallsPerBatch: 3, answerMs: ANSWER_MS }
      hurried = await startRpcServer(
        [
          rpcMethod('eth_chainId', async () => '0x1'),
          rpcMethod('eth_getLogs', async () => [{ ...largeLog, data: `0x${'00'.repeat(100_000)}` }]),
          never,
        ],
        limits,
      )
    })
    beforeEach(() => (asked = 0))
    after(() => hurried.close())

    type Answers = { id: number; error?: { code: number; message: string } }[]
    const LATE = [-32000, 'Upstream unavailable: the node did not answer in time']

    it('end in time, each call with its error, and begin nothing after it', async () => {
      const { json } = await lasting(IN_TIME, () => hurried.post(batch(50, 'eth_gasPrice')))
      const told = (json as Answers).map(({ id, error }) => [id, error?.code, error?.message])
      expect(told).to.deep.equal(Array.from({ length: 50 }, (_, id) => [id, ...LATE]))
      expect(asked).to.equal(3)
    })

    it('end in time while they wait for others, too', async () => {
      const posts = () => Promise.all(Array.from({ length: 5 }, () => hurried.post(batch(20, 'eth_gasPrice'))))
      for (const { json } of await lasting(IN_TIME, posts)) expect(json).to.have.length(20)
      // Their places are free again.
      expect((await hurried.post(batch(20, 'eth_chainId'))).json).to.deep.include({
        jsonrpc: '2.0',
        id: 19,
        result: '0x1',
      })
    })

    it('end in time while somebody does not read an answer', async () => {
      const { hostname, port, pathname } = new URL(hurried.url)
      const body = batch(40, 'eth_getLogs', [{}])
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      await once(socket, 'readable')
      const { json } = await lasting([0, 4 * ANSWER_MS], () => hurried.post(batch(20, 'eth_chainId')))
      expect(json).to.have.length(20)
      socket.destroy()
    })

    it('are no exception: a single request ends in time', async () => {
      const { json } = await lasting(IN_TIME, () => hurried.post(request('eth_gasPrice', 7)))
      expect((json as Answers[number]).error).to.deep.equal({ code: LATE[0], message: LATE[1] })
    })
  })

  it('give their places back when their callers are gone', async () => {
    const { hostname, port, pathname } = new URL(server.url)
    const body = batch(50, 'eth_getBalance', [ADDRESS, 'latest'])
    for (let round = 0; round < 4; round++) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      const before = held.length
      await until(() => held.length > before)
      socket.destroy()
      await release(() => running === 0)
    }
    expect((await server.post(batch(50, 'eth_chainId'))).json).to.have.length(50)
  })
})
