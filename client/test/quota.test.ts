import { expect } from 'chai'
import { Wallet } from 'ethers'
import { serve } from '../../conformance/test/support/serve.ts'
import { isRelayError } from '../index.ts'
import { startFront, startWorld, thrownBy, type World } from './support/world.ts'

describe('quota()', () => {
  const HOUR_MS = 3_600_000
  let world: World
  before(async () => {
    world = await startWorld({ clockOffsetMs: HOUR_MS })
  })
  after(() => world?.close())

  const told = async (text: string) => {
    await using relay = await serve((_request, response) => void response.end(text))
    return await world.client({ relayUrl: relay.url }).quota()
  }

  it('takes the clock of the relay once, when that of the machine is off', async () => {
    await using front = await startFront(world.relayUrl, () => undefined)
    const client = world.client({ relayUrl: front.url })
    const { quota, totalQuota, resetDate } = await client.quota()
    expect(quota).to.equal(1_000_000_000_000n)
    expect(totalQuota).to.equal(1_000_000_000_000n)
    expect(resetDate?.getUTCDate()).to.equal(1)
    expect(front.requests).to.have.length(2)
    await client.quota()
    expect(front.requests, 'it is remembered').to.have.length(3)
  })

  it('takes it from the header Date of another relay', async () => {
    const timestamps: number[] = []
    await using relay = await serve((_request, response, body) => {
      const { timestamp } = JSON.parse(body) as { timestamp: number }
      timestamps.push(timestamp)
      const now = Math.floor(Date.now() / 1000) - 600
      response.setHeader('date', new Date(now * 1000).toUTCString())
      if (Math.abs(timestamp - now) <= 5) response.end('{"quota":1,"unit":"transactionCount"}')
      else response.writeHead(400).end('too late')
    })
    expect(await world.client({ relayUrl: relay.url }).quota()).to.deep.equal({ quota: 1n, unit: 'transactionCount' })
    expect(timestamps).to.have.length(2)
  })

  for (const sendDate of [true, false]) {
    it(`tells a refusal that no clock explains at once, ${sendDate ? 'with' : 'without'} the header Date`, async () => {
      await using relay = await serve((_request, response) => {
        response.sendDate = sendDate
        response.writeHead(401).end('no')
      })
      const error = await thrownBy(world.client({ relayUrl: relay.url }).quota())
      expect(isRelayError(error, 'UNKNOWN')).to.equal(true)
      expect(relay.requests).to.have.length(1)
    })
  }

  for (const status of [502, 503, 504]) {
    it(`asks once more where a proxy answers ${status}`, async () => {
      await using relay = await serve((_request, response) => {
        if (relay.requests.length === 1) response.writeHead(status).end()
        else response.end('{"quota":1,"unit":"gas"}')
      })
      expect(await world.client({ relayUrl: relay.url }).quota()).to.deep.equal({ quota: 1n, unit: 'gas' })
    })
  }

  it('signs anew for each attempt', async () => {
    let first = true
    await using front = await startFront(world.relayUrl, () => {
      if (!first) return undefined
      first = false
      return { status: 503, headers: { 'retry-after': '1' }, text: '' }
    })
    await world.client({ relayUrl: front.url }).quota()
    const [one, other] = front.requests.map(({ body }) => JSON.parse(body) as { timestamp: number; signature: string })
    expect(one?.timestamp).not.to.equal(other?.timestamp)
    expect(one?.signature).not.to.equal(other?.signature)
  })

  for (const [text, expected] of [
    ['{"quota":123456789012345678901234567890,"unit":"gas"}', { quota: 123456789012345678901234567890n, unit: 'gas' }],
    [
      '{"quota":9007199254740993,"unit":"gas","totalQuota":9007199254740995,"resetDate":1769904000}',
      { quota: 9007199254740993n, unit: 'gas', totalQuota: 9007199254740995n, resetDate: new Date(1769904000_000) },
    ],
    ['{"quota":1.5,"unit":"lyx"}', { quota: 1_500_000_000_000_000_000n, unit: 'lyx' }],
    ['{"quota":1e-18,"unit":"lyx"}', { quota: 1n, unit: 'lyx' }],
    ['{"quota":2.5E+3,"unit":"gas"}', { quota: 2500n, unit: 'gas' }],
    ['{"quota":2.999,"unit":"gas"}', { quota: 2n, unit: 'gas' }],
    ['{"quota":-3,"unit":"gas"}', { quota: -3n, unit: 'gas' }],
    [
      '{"quota":7,"note":"not 12 \\" 13","unit":"transactionCount","totalQuota":null,"resetDate":null}',
      { quota: 7n, unit: 'transactionCount' },
    ],
  ] as const) {
    it(`reads ${text} with all digits`, async () => {
      expect(await told(text)).to.deep.equal(expected)
    })
  }

  for (const text of [
    '',
    'ok',
    '[]',
    '{"quota":1}',
    '{"unit":"gas"}',
    '{"quota":"many","unit":"gas"}',
    '{"quota":1,"unit":"LYX"}',
    '{"quota":01,"unit":"gas"}',
  ]) {
    it(`does not take ${JSON.stringify(text)} for a quota`, async () => {
      expect(isRelayError(await thrownBy(told(text)), 'UNKNOWN')).to.equal(true)
    })
  }

  it('ends with the signal while the relay says nothing', async () => {
    const abort = new AbortController()
    await using relay = await serve(() => abort.abort(new Error('enough')))
    const client = world.client({ relayUrl: relay.url, timeoutMs: Infinity, deadlineMs: Infinity })
    expect(await thrownBy(client.quota({ signal: abort.signal }))).to.include({ message: 'enough' })
    expect(relay.requests).to.have.length(1)
  })

  it('is not asked for when the signal comes while the controller signs', async () => {
    const abort = new AbortController()
    await using relay = await serve((_request, response) => void response.end('{}'))
    const { address } = new Wallet(world.fixture.controllers.full.privateKey)
    const signDigest = async () => {
      abort.abort(new Error('enough'))
      return `0x${'11'.repeat(64)}1b`
    }
    const client = world.client({ relayUrl: relay.url, controller: { address, signDigest } })
    expect(await thrownBy(client.quota({ signal: abort.signal }))).to.include({ message: 'enough' })
    expect(relay.requests).to.have.length(0)
  })

  it('says when nobody answers', async () => {
    const client = world.client({ relayUrl: 'http://127.0.0.1:9', attempts: 1 })
    const error = await thrownBy(client.quota())
    expect(isRelayError(error, 'UNKNOWN')).to.equal(true)
    expect(error)
      .to.have.property('message')
      .that.matches(/fetch failed: \S/)
  })
})
