import { expect } from 'chai'
import { hexlify, id, Interface, randomBytes } from 'ethers'
import { targetInterface } from '../../contracts/deploy/targets.ts'
import { serve } from '../../conformance/test/support/serve.ts'
import { createRelayClient, isRelayError, type Eip1193Provider, type FallbackTransaction } from '../index.ts'
import { startFront, startWorld, succeed, thrownBy, type Fault, type World } from './support/world.ts'

const profileInterface = new Interface([
  'function setData(bytes32 dataKey, bytes dataValue)',
  'function getData(bytes32 dataKey) view returns (bytes)',
])

interface SentBody {
  readonly transaction: { readonly signature: string; readonly nonce: string }
}

/** The body of an execute request, its nonce with all digits. */
const readBody = (text: string) => JSON.parse(text.replace(/"nonce":(\d+)/, '"nonce":"$1"')) as SentBody
const channelOf = (body: SentBody) => BigInt(body.transaction.nonce) >> 128n
const idOf = (body: SentBody) => BigInt(body.transaction.nonce) & ((1n << 128n) - 1n)

const REFUSED: Fault = {
  status: 503,
  text: JSON.stringify({ code: 'SIGNERS_UNAVAILABLE', message: 'no', details: {}, broadcast: false }),
}

describe('a relay client', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world?.close())

  const bodiesOf = (front: { requests: readonly { path: string; body: string }[] }) =>
    front.requests.filter(({ path }) => path === '/execute').map(({ body }) => readBody(body))

  describe('execute', () => {
    it('calls another contract, with coins of the profile', async () => {
      const client = world.client()
      const balance = () => world.provider.request({ method: 'eth_getBalance', params: [world.target, 'latest'] })
      const before = BigInt((await balance()) as string)
      const { transactionHash, via } = await client.execute({ ...succeed(world.target, 42), value: 5n })
      expect(await client.wait(transactionHash)).to.include({ status: 'executed', transactionHash })
      expect(via).to.equal('relay')
      expect(BigInt((await balance()) as string) - before).to.equal(5n)
    })

    it('takes call data of the profile, as it is or as a transaction to the profile', async () => {
      const client = world.client()
      const { address } = world.fixture.profile
      for (const asCall of [(data: string) => data, (data: string) => ({ to: address.toLowerCase(), data })]) {
        const key = hexlify(randomBytes(32))
        const { transactionHash } = await client.execute(
          asCall(profileInterface.encodeFunctionData('setData', [key, '0xabcd'])),
        )
        await client.wait(transactionHash)
        const data = profileInterface.encodeFunctionData('getData', [key])
        const read: unknown = await world.provider.request({
          method: 'eth_call',
          params: [{ to: address, data }, 'latest'],
        })
        expect(profileInterface.decodeFunctionResult('getData', read as string)[0]).to.equal('0xabcd')
      }
    })

    it('creates a contract where the call goes nowhere', async () => {
      const client = world.client()
      // Creation code that returns one byte of code, STOP.
      const { transactionHash } = await client.execute({ data: '0x60016000f3' })
      await client.wait(transactionHash)
      const params = [transactionHash]
      const receipt: unknown = await world.provider.request({ method: 'eth_getTransactionReceipt', params })
      const { logs } = receipt as { logs: { topics: string[] }[] }
      const created = logs.find(({ topics }) => topics[0] === id('ContractCreated(uint256,address,uint256,bytes32)'))
      const address = `0x${created?.topics[2]?.slice(-40)}`
      const code: unknown = await world.provider.request({ method: 'eth_getCode', params: [address, 'latest'] })
      expect(code).to.equal('0x00')
    })

    it('refuses what is no call before anything is sent', async () => {
      const client = world.client({ relayUrl: 'http://127.0.0.1:9', node: 'http://127.0.0.1:9' })
      const { address } = world.fixture.profile
      for (const call of [
        '0x12',
        'hello',
        {},
        { to: '0x12' },
        { to: '0x5fbDB2315678afecb367f032d93F642f64180aa3' },
        { to: world.target, data: '0x1' },
        { to: address, value: 1n, data: '0x12345678' },
      ]) {
        expect(
          await thrownBy(client.execute(call)),
          JSON.stringify(call, (_, v: unknown) => String(v)),
        ).to.be.instanceOf(TypeError)
      }
      expect(await thrownBy(client.execute(undefined as never))).to.include({ message: 'there is no call: undefined' })
      const both = thrownBy(client.execute('0x12345678', { order: 'a', channel: 1n }))
      expect(await both).to.be.instanceOf(TypeError)
      for (const channel of [-1n, -1, 1.5, 2n ** 128n]) {
        expect(await thrownBy(client.execute('0x12345678', { channel }))).to.be.instanceOf(RangeError)
      }
    })

    it('says that an address is no profile', async () => {
      const client = world.client({ profile: world.target })
      expect(isRelayError(await thrownBy(client.execute('0x12345678')), 'PROFILE_NOT_FOUND')).to.equal(true)
    })

    const failures: readonly [what: string, thrown: unknown, says: string][] = [
      ['an error', new Error('header not found'), 'header not found'],
      ['a plain object, as wallets do', { code: -32000, message: 'header not found' }, 'header not found'],
      ['a text', 'header not found', 'header not found'],
      ['nothing', undefined, 'undefined'],
    ]
    for (const [what, thrown, says] of failures) {
      it(`says why the node fails that throws ${what}`, async () => {
        const node: Eip1193Provider = {
          async request() {
            throw thrown
          },
        }
        const error = await thrownBy(world.client({ node }).wait(`0x${'ab'.repeat(32)}`))
        if (!isRelayError(error, 'NODE_FAILED')) throw error as Error
        expect(error.message).to.equal(`the node fails at eth_getTransactionReceipt: ${says}`)
        expect(error.cause).to.equal(thrown)
        expect(error.details.method).to.equal('eth_getTransactionReceipt')
      })
    }

    for (const [status, text, says] of [
      [200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"header not found"}}', 'header not found'],
      [400, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"header not found"}}', 'header not found'],
      [200, 'welcome', 'no JSON-RPC answer'],
    ] as const) {
      it(`says why the node fails that answers ${status} ${text}`, async () => {
        await using node = await serve((_request, response) => void response.writeHead(status).end(text))
        const error = await thrownBy(world.client({ node: node.url }).wait(`0x${'ab'.repeat(32)}`))
        if (!isRelayError(error, 'NODE_FAILED')) throw error as Error
        expect(error.message)
          .to.match(/^the node fails at eth_getTransactionReceipt: /)
          .and.to.include(says)
      })
    }

    it('tells a refusal by its code, with its facts', async () => {
      const error = await thrownBy(
        world.client().execute({ to: world.target, data: targetInterface.encodeFunctionData('refuse', [7]) }),
      )
      if (!isRelayError(error, 'RELAY_CALL_REVERTS')) throw error as Error
      expect(error).to.include({ status: 422, broadcast: false })
      expect(error.details.data).to.equal(
        targetInterface.encodeErrorResult('Refused', [world.fixture.profile.address, 7]),
      )
    })
  })

  describe('channels', () => {
    it('are one for each call under way, and used again once it is mined', async () => {
      await using front = await startFront(world.relayUrl, () => undefined)
      const client = world.client({ relayUrl: front.url })
      const first = await Promise.all(Array.from({ length: 8 }, () => client.execute(succeed(world.target))))
      for (const { transactionHash } of first) await client.wait(transactionHash)
      expect(new Set(bodiesOf(front).map(channelOf)).size).to.equal(8)
      const { transactionHash } = await client.execute(succeed(world.target))
      await client.wait(transactionHash)
      const bodies = bodiesOf(front)
      expect(new Set(bodies.map(channelOf)).size, 'channels').to.equal(8)
      expect(bodies.map(idOf)).to.deep.equal([...Array<bigint>(8).fill(0n), 1n])
      expect(bodies.every(({ transaction }) => BigInt(transaction.nonce) > 2n ** 128n)).to.equal(true)
    })

    it('are those of one client alone', async () => {
      await using front = await startFront(world.relayUrl, () => undefined)
      const clients = [1, 2, 3].map(() => world.client({ relayUrl: front.url }))
      await Promise.all(clients.map((client) => client.execute(succeed(world.target))))
      expect(new Set(bodiesOf(front).map(channelOf)).size).to.equal(3)
    })

    it('do not wait for each other, and calls of one order do', async () => {
      const held = Promise.withResolvers<void>()
      let posted = 0
      const client = world.client({
        fetch: async (url, init) => {
          if (url.endsWith('/execute') && posted++ === 0) await held.promise
          return fetch(url, init)
        },
      })
      const ordered = [1, 2, 3].map((value) => client.execute(succeed(world.target, value), { order: 'a' }))
      await client.execute(succeed(world.target), { order: 'b' })
      await client.execute(succeed(world.target))
      expect(posted, 'of order a one alone').to.equal(3)
      held.resolve()
      const outcomes = await Promise.all(ordered.map(async (call) => client.wait((await call).transactionHash)))
      const blocks = outcomes.map((outcome) => ('blockNumber' in outcome ? outcome.blockNumber : -1n))
      expect(blocks).to.deep.equal([...blocks].sort((a, b) => Number(a - b)))
    })

    it('serve what follows a refused call in order', async () => {
      const client = world.client()
      const refused = client.execute(
        { to: world.target, data: targetInterface.encodeFunctionData('refuse', [1]) },
        { order: 'a' },
      )
      const next = client.execute(succeed(world.target), { order: 'a' })
      expect(isRelayError(await thrownBy(refused), 'RELAY_CALL_REVERTS')).to.equal(true)
      await client.wait((await next).transactionHash)
    })

    it('may be given as a number', async () => {
      await using front = await startFront(world.relayUrl, () => undefined)
      const { transactionHash } = await world
        .client({ relayUrl: front.url })
        .execute(succeed(world.target), { channel: 3 })
      await world.client().wait(transactionHash)
      expect(bodiesOf(front).map(channelOf)).to.deep.equal([3n])
    })

    it('of a given number are shared by two clients: a nonce that the other used is taken anew', async () => {
      const channel = BigInt(hexlify(randomBytes(8)))
      const before = await world.calls()
      const clients = [world.client(), world.client()]
      // Different calls: the same one, signed twice with one nonce, is one call.
      const calls = clients.flatMap((client, index) =>
        [1, 2].map((value) => client.execute(succeed(world.target, 10 * index + value), { channel })),
      )
      const results = await Promise.allSettled(calls)
      // A nonce may be lost twice in a row to the other one; then the call is refused, and nothing was sent.
      for (const result of results) {
        if (result.status === 'fulfilled') await clients[0]?.wait(result.value.transactionHash)
        else expect(result.reason).to.include({ broadcast: false })
      }
      const executed = results.filter(({ status }) => status === 'fulfilled').length
      expect(executed).to.be.above(1)
      expect((await world.calls()) - before).to.equal(executed)
    })
  })

  describe('whose nonce the relay refuses', () => {
    /** A channel with one executed call, and a node that tells its first nonce this many times. */
    async function usedChannel(staleTimes: number) {
      const channel = BigInt(hexlify(randomBytes(8)))
      const { transactionHash } = await world.client().execute(succeed(world.target), { channel })
      await world.client().wait(transactionHash)
      const provider: Eip1193Provider = world.provider
      const node: Eip1193Provider = {
        request: (call) => {
          const isNonce = JSON.stringify(call).includes('"data":"0xb44581d9')
          if (!isNonce || staleTimes-- <= 0) return provider.request(call)
          return Promise.resolve(`0x${(channel << 128n).toString(16).padStart(64, '0')}`)
        },
      }
      return { channel, node }
    }
    const refusal = (details: object) => ({
      status: 400,
      text: JSON.stringify({ code: 'NONCE_USED', message: 'no', details, broadcast: false }),
    })

    it('signs once more with the nonce that the relay expects', async () => {
      const { channel, node } = await usedChannel(Infinity)
      await using front = await startFront(world.relayUrl, () => undefined)
      await world.client({ relayUrl: front.url, node }).execute(succeed(world.target, 2), { channel })
      expect(bodiesOf(front).map(idOf)).to.deep.equal([0n, 1n])
    })

    for (const [what, details] of [
      ['no nonce', {}],
      ['a nonce of another channel', { expectedNonce: '5' }],
      ['a nonce in no digits', { expectedNonce: 'one' }],
    ] as const) {
      it(`signs once more with the nonce of the chain where the relay tells ${what}`, async () => {
        const { channel, node } = await usedChannel(1)
        await using front = await startFront(world.relayUrl, (index) => (index === 0 ? refusal(details) : undefined))
        await world.client({ relayUrl: front.url, node }).execute(succeed(world.target, 2), { channel })
        expect(bodiesOf(front).map(idOf)).to.deep.equal([0n, 1n])
      })
    }
  })

  describe('an answer that is lost', () => {
    it('100 calls through a proxy that cuts every third answer have one effect each', async () => {
      await using front = await startFront(world.relayUrl, (index) => (index % 3 === 2 ? 'cut after' : undefined))
      const client = world.client({ relayUrl: front.url })
      const before = await world.calls()
      const hashes = new Set<string>()
      const next = Array.from({ length: 100 }, (_, index) => index).values()
      const worker = async () => {
        for (const value of next) hashes.add((await client.execute(succeed(world.target, value))).transactionHash)
      }
      await Promise.all(Array.from({ length: 10 }, worker))
      for (const hash of hashes) await client.wait(hash)
      expect(front.requests.length).to.be.above(125)
      expect(hashes.size).to.equal(100)
      expect((await world.calls()) - before).to.equal(100)
    })

    it('is asked for again by the very same body', async () => {
      await using front = await startFront(world.relayUrl, (index) => (index < 2 ? 'cut after' : undefined))
      await world.client({ relayUrl: front.url }).execute(succeed(world.target))
      const bodies = front.requests.map(({ body }) => body)
      expect(bodies).to.have.length(3)
      expect(new Set(bodies).size).to.equal(1)
    })

    it('for good: the transaction is found on the chain', async () => {
      await using front = await startFront(world.relayUrl, () => 'cut after')
      const client = world.client({ relayUrl: front.url, attempts: 2 })
      const before = await world.calls()
      const { transactionHash } = await client.execute(succeed(world.target))
      const outcome = await world.client().wait(transactionHash)
      expect(outcome).to.include({ status: 'executed', transactionHash })
      expect((await world.calls()) - before).to.equal(1)
    })

    it('behind a status of 500 is looked for on the chain, and not asked for again', async () => {
      await using front = await startFront(world.relayUrl, () => 'fail after')
      const { transactionHash } = await world.client({ relayUrl: front.url }).execute(succeed(world.target))
      expect(await world.client().wait(transactionHash)).to.include({ status: 'executed' })
      expect(front.requests.filter(({ path }) => path === '/execute')).to.have.length(1)
    })

    it('for good, and nothing is on the chain: says so, with the request to send again', async () => {
      await using front = await startFront(world.relayUrl, () => 'cut before')
      const client = world.client({ relayUrl: front.url, attempts: 2 })
      const error = await thrownBy(client.execute(succeed(world.target)))
      if (!isRelayError(error, 'ANSWER_LOST')) throw error as Error
      expect(error.details.isExecuted).to.equal(false)
      expect(error.broadcast).to.equal(undefined)
      const headers = { 'content-type': 'application/json' }
      const again = await fetch(`${world.relayUrl}/execute`, { method: 'POST', headers, body: error.details.body })
      expect(again.status).to.equal(200)
    })

    it('is not made up for by a transaction: the call may have been sent', async () => {
      let isFirst = true
      await using front = await startFront(world.relayUrl, () => {
        const fault = isFirst ? 'cut after' : REFUSED
        isFirst = false
        return fault
      })
      const fallback = () => Promise.reject(new Error('sent twice'))
      const client = world.client({ relayUrl: front.url, attempts: 2, fallback })
      const { via } = await client.execute(succeed(world.target))
      expect(via).to.equal('relay')
    })

    it('and then a refusal: the refusal is told, without a word that nothing was sent', async () => {
      await using front = await startFront(world.relayUrl, (index) => (index === 0 ? 'cut after' : undefined))
      const fallback = () => Promise.reject(new Error('sent'))
      const data = targetInterface.encodeFunctionData('refuse', [7])
      const error = await thrownBy(world.client({ relayUrl: front.url, fallback }).execute({ to: world.target, data }))
      expect(error).to.include({ code: 'RELAY_CALL_REVERTS', broadcast: undefined })
    })

    it('and then no room: nobody says what became of the call', async () => {
      const text = JSON.stringify({ code: 'RATE_LIMITED', message: 'slow down', details: {}, broadcast: false })
      await using front = await startFront(world.relayUrl, (index) =>
        index === 0 ? 'cut before' : { status: 429, text },
      )
      const error = await thrownBy(world.client({ relayUrl: front.url }).execute(succeed(world.target)))
      expect(error).to.include({ code: 'ANSWER_LOST', status: 429 })
    })

    it('ends with the deadline', async () => {
      const never = new Promise<never>(() => {})
      const client = world.client({
        fetch: (url, init) =>
          url.endsWith('/execute')
            ? Promise.race([
                never,
                new Promise<never>((_, reject) =>
                  init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
                ),
              ])
            : fetch(url, init),
        // Without HTTP between, whose requests would have the same time.
        node: world.provider,
        timeoutMs: 100,
        deadlineMs: 300,
        attempts: 100,
      })
      const startMs = performance.now()
      expect(isRelayError(await thrownBy(client.execute(succeed(world.target))), 'ANSWER_LOST')).to.equal(true)
      expect(performance.now() - startMs).to.be.below(3_000)
    })

    it('may have a deadline that is shorter than the time of one answer', async () => {
      const { transactionHash } = await world
        .client({ timeoutMs: 20_000, deadlineMs: 9_000 })
        .execute(succeed(world.target))
      expect(transactionHash).to.match(/^0x/)
    })

    for (const ms of [3e9, Infinity]) {
      it(`may have limits that no timer has, such as ${ms} ms`, async () => {
        const client = world.client({ attempts: ms, timeoutMs: ms, deadlineMs: ms })
        const { transactionHash } = await client.execute(succeed(world.target))
        expect(await client.wait(transactionHash, { timeoutMs: ms })).to.include({ status: 'executed' })
      })
    }

    it('ends with the signal, though the relay answers', async () => {
      const abort = new AbortController()
      const client = world.client({
        fetch: async (url, init) => {
          const response = await fetch(url, { ...init, signal: null })
          if (url.endsWith('/execute')) abort.abort(new Error('enough'))
          return response
        },
      })
      expect(await thrownBy(client.execute(succeed(world.target), { signal: abort.signal }))).to.include({
        message: 'enough',
      })
    })

    it('ends with the signal', async () => {
      const abort = new AbortController()
      await using front = await startFront(world.relayUrl, () => {
        abort.abort(new Error('enough'))
        return 'cut before'
      })
      const call = world.client({ relayUrl: front.url }).execute(succeed(world.target), { signal: abort.signal })
      expect(await thrownBy(call)).to.include({ message: 'enough' })
      expect(front.requests).to.have.length(1)
    })
  })

  describe('Retry-After', () => {
    for (const [name, header, atLeastMs] of [
      ['in seconds', () => '1', 900],
      ['as a date', () => new Date(Date.now() + 2_000).toUTCString(), 900],
    ] as const) {
      it(`${name} is kept to`, async () => {
        await using front = await startFront(world.relayUrl, (index) =>
          index === 0
            ? { ...(REFUSED as object), status: 503, text: 'busy', headers: { 'retry-after': header() } }
            : undefined,
        )
        const startMs = performance.now()
        await world.client({ relayUrl: front.url }).execute(succeed(world.target))
        expect(performance.now() - startMs).to.be.above(atLeastMs)
        expect(front.requests).to.have.length(2)
        expect(front.requests[0]?.body).to.equal(front.requests[1]?.body)
      })
    }

    it('beyond the deadline is told at once', async () => {
      const text = JSON.stringify({ code: 'RATE_LIMITED', message: 'slow down', details: {}, broadcast: false })
      await using front = await startFront(world.relayUrl, () => ({
        status: 429,
        headers: { 'retry-after': '3600' },
        text,
      }))
      const error = await thrownBy(world.client({ relayUrl: front.url }).execute(succeed(world.target)))
      expect(error).to.include({ code: 'RATE_LIMITED', retryAfterSeconds: 3600, broadcast: false })
      expect(front.requests).to.have.length(1)
    })

    it('of a spent quota leads to the next period, and is not waited for', async () => {
      const text = JSON.stringify({ code: 'QUOTA_EXCEEDED', message: 'none left', details: {}, broadcast: false })
      await using front = await startFront(world.relayUrl, () => ({
        status: 429,
        headers: { 'retry-after': '1' },
        text,
      }))
      const error = await thrownBy(world.client({ relayUrl: front.url }).execute(succeed(world.target)))
      expect(error).to.include({ code: 'QUOTA_EXCEEDED', retryAfterSeconds: 1 })
      expect(front.requests).to.have.length(1)
    })
  })

  describe('the fallback', () => {
    const send = async (transaction: FallbackTransaction) =>
      (await world.provider.request({ method: 'eth_sendTransaction', params: [transaction] })) as string

    it('sends what the relay refuses, when it says that it sent nothing', async () => {
      await using front = await startFront(world.relayUrl, () => REFUSED)
      const client = world.client({ relayUrl: front.url, attempts: 1, fallback: send })
      const before = await world.calls()
      const { via, transactionHash } = await client.execute(succeed(world.target))
      expect(via).to.equal('transaction')
      expect((await client.wait(transactionHash)).status).to.equal('executed')
      expect((await world.calls()) - before).to.equal(1)
    })

    describe('when the relay does not answer', () => {
      const absent = { relayUrl: 'http://127.0.0.1:1', attempts: 2 }

      it('sends the relay call itself, and what follows in its order', async () => {
        const client = world.client({ ...absent, fallback: send })
        const before = await world.calls()
        await world.setBlockTime(3600)
        try {
          for (const value of [1, 2]) {
            const { via } = await client.execute(succeed(world.target, value), { order: 'a' })
            expect(via).to.equal('transaction')
          }
          await world.mine(1)
        } finally {
          await world.setBlockTime(null)
        }
        expect((await world.calls()) - before).to.equal(2)
      })

      it('goes on in the same order by the relay', async () => {
        let isAway = true
        await using front = await startFront(world.relayUrl, () => (isAway ? 'cut before' : undefined))
        const client = world.client({ relayUrl: front.url, attempts: 2, fallback: send })
        expect(await client.execute(succeed(world.target), { channel: 77 })).to.include({ via: 'transaction' })
        isAway = false
        expect(await client.execute(succeed(world.target), { channel: 77 })).to.include({ via: 'relay' })
        expect(bodiesOf(front).map(idOf)).to.deep.equal([0n, 0n, 1n])
      })

      it('is not executed twice, though the relay has the call as well', async () => {
        await using front = await startFront(world.relayUrl, () => 'cut before')
        const relayed = async () => {
          const headers = { 'content-type': 'application/json' }
          const body = front.requests[0]?.body ?? ''
          const answer = await fetch(`${world.relayUrl}/execute`, { method: 'POST', headers, body })
          return ((await answer.json()) as { transactionHash: string }).transactionHash
        }
        let byRelay: string | undefined
        const client = world.client({
          relayUrl: front.url,
          attempts: 2,
          fallback: async (transaction) => {
            byRelay = await relayed()
            await world.client().wait(byRelay)
            return send(transaction)
          },
        })
        const before = await world.calls()
        expect(await client.execute(succeed(world.target))).to.deep.equal({ transactionHash: byRelay, via: 'relay' })
        expect((await world.calls()) - before).to.equal(1)
      })

      it('tells why the transaction was not sent', async () => {
        const client = world.client({ ...absent, fallback: () => Promise.reject(new Error('the user says no')) })
        expect(await thrownBy(client.execute(succeed(world.target)))).to.include({ message: 'the user says no' })
      })

      it('is not asked where the nonce is used', async () => {
        await using front = await startFront(world.relayUrl, () => 'cut after')
        const provider: Eip1193Provider = world.provider
        const node: Eip1193Provider = {
          request: (call) =>
            call.method === 'eth_getLogs' ? Promise.reject(new Error('no logs')) : provider.request(call),
        }
        const fallback = () => Promise.reject(new Error('sent twice'))
        const client = world.client({ relayUrl: front.url, attempts: 1, node, fallback })
        const error = await thrownBy(client.execute(succeed(world.target)))
        if (!isRelayError(error, 'ANSWER_LOST')) throw error as Error
        expect(error.details.isExecuted).to.equal(true)
      })
    })

    for (const [name, status, text] of [
      ['the relay says nothing about it', 400, JSON.stringify({ code: 'INVALID_REQUEST', message: 'no' })],
      ['the relay has sent something', 500, JSON.stringify({ code: 'INTERNAL', message: 'no', broadcast: true })],
      ['the call reverts', 422, JSON.stringify({ code: 'RELAY_CALL_REVERTS', message: 'no', broadcast: false })],
      ['the relay is another one', 400, 'Failed to execute'],
    ] as const) {
      it(`is not asked where ${name}`, async () => {
        await using front = await startFront(world.relayUrl, () => ({ status, text }))
        const fallback = () => Promise.reject(new Error('sent'))
        const error = await thrownBy(
          world.client({ relayUrl: front.url, attempts: 1, fallback }).execute(succeed(world.target)),
        )
        expect(error).to.include({ name: 'RelayError' })
      })
    }
  })

  it('writes the nonce in quotes for relays that lose digits', async () => {
    await using front = await startFront(world.relayUrl, () => undefined)
    await world.client({ relayUrl: front.url, nonceForm: 'string' }).execute(succeed(world.target))
    expect(front.requests[0]?.body).to.match(/"nonce":"\d{20,}"/)
  })

  it('refuses options that cannot be used', () => {
    const usable = {
      relayUrl: world.relayUrl,
      profile: world.target,
      node: world.rpcUrl,
      controller: { address: world.target, signDigest: () => '0x' },
    }
    expect(() => createRelayClient({ ...usable, relayUrl: 'relay' })).to.throw(TypeError, 'relayUrl')
    expect(() => createRelayClient({ ...usable, profile: '0x12' })).to.throw(TypeError, 'profile')
    expect(() => createRelayClient({ ...usable, controller: { address: '0x12', signDigest: () => '0x' } })).to.throw(
      TypeError,
      'controller',
    )
    for (const given of [{ attempts: 0 }, { timeoutMs: -1 }, { deadlineMs: NaN }]) {
      expect(() => createRelayClient({ ...usable, ...given })).to.throw(TypeError, Object.keys(given)[0])
    }
    expect(() => createRelayClient({ ...usable, controller: {} as never })).to.throw(TypeError, 'controller')
  })
})
