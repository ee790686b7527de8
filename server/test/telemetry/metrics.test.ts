import { expect } from 'chai'
import { Registry } from 'prom-client'
import { createRequestMeter } from '../../telemetry/metrics.ts'
import { startNodeProxy, type NodeProxy } from '../support/nodes.ts'
import { startRelayChain, type RelayChain } from '../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../support/relay-server.ts'
import { until } from '../support/until.ts'

describe('createRequestMeter', () => {
  it('tells durations in seconds, by route, verb and status', async () => {
    const registry = new Registry()
    const meter = createRequestMeter(registry)
    for (const durationMs of [0, 1, 1.5, 5, 60_000]) meter.series('/execute', 'POST', 200)(durationMs)
    meter.series('/quota', 'POST', 429)(250)
    const lines = (await registry.getSingleMetricAsString('touchstone_http_request_duration_seconds')).split('\n')
    const valueOf = (suffix: string, ...labels: string[]) =>
      lines.find((line) => line.includes(`${suffix}{`) && labels.every((label) => line.includes(label)))?.split(' ')[1]
    const executed = ['route="/execute"', 'method="POST"', 'status="200"']
    expect(valueOf('_bucket', 'le="0.001"', ...executed)).to.equal('2')
    expect(valueOf('_bucket', 'le="0.005"', ...executed)).to.equal('4')
    expect(valueOf('_bucket', 'le="10"', ...executed)).to.equal('4')
    expect(valueOf('_bucket', 'le="+Inf"', ...executed)).to.equal('5')
    expect(Number(valueOf('_sum', ...executed))).to.be.closeTo(60.0075, 1e-9)
    expect(valueOf('_sum', 'route="/quota"', 'status="429"')).to.equal('0.25')
  })

  it('counts answers by route, verb and status', async () => {
    const registry = new Registry()
    const meter = createRequestMeter(registry)
    for (const status of [200, 404, 200]) meter.series(undefined, 'GET', status)(3)
    expect((await registry.getSingleMetric('touchstone_http_requests_total')?.get())?.values).to.deep.equal([
      { labels: { route: 'other', method: 'GET', status: '200' }, value: 2 },
      { labels: { route: 'other', method: 'GET', status: '404' }, value: 1 },
    ])
  })
})

describe('gaugeState', () => {
  let chain: RelayChain
  let node: NodeProxy
  let server: RelayServer

  before(async () => {
    chain = await startRelayChain('anvil', 1)
    node = await startNodeProxy(chain.node.rpcUrl)
    server = await startRelayServer({ rpcUrl: node.url, signerKeys: chain.signerKeys })
  })
  after(async () => {
    await server?.close()
    await node?.close()
    await chain?.close()
  })

  /** Values by labels, e.g. `signer="0x…",in="chain"`. */
  async function read(name: string): Promise<Record<string, number>> {
    const text = await server.metrics.getSingleMetricAsString(name)
    const lines = text.matchAll(/^\w+(?:\{(.*)\})? (\S+)$/gm)
    return Object.fromEntries([...lines].map(([, labels = '', value]) => [labels, Number(value)]))
  }

  it('shows what waits to be mined, and the quota that it reserves', async () => {
    const [signer] = chain.signers
    await chain.node.request('evm_setAutomine', false)
    const client = chain.client(server.url)
    expect((await client.execute({ channel: 1n })).status).to.equal(200)
    expect((await client.execute({ channel: 2n })).status).to.equal(200)
    expect(await read('touchstone_signer_nonce')).to.deep.equal({
      [`signer="${signer}",in="ledger"`]: 2,
      [`signer="${signer}",in="chain"`]: 0,
    })
    expect(await read('touchstone_relays_last_day')).to.include({ 'status="pending"': 2 })
    const reserved = await read('touchstone_quota')
    expect(reserved['plan="default",amount="used"']).to.be.greaterThan(100_000)
    // The account is looked at again and again.
    await until(async () => Object.values(await read('touchstone_jobs')).some((count) => count > 0))

    await chain.node.request('evm_setAutomine', true)
    await chain.node.request('anvil_mine', 1)
    await until(async () => (await read('touchstone_relays_last_day'))['status="succeeded"'] === 2)
    expect(await read('touchstone_signer_nonce')).to.include({ [`signer="${signer}",in="chain"`]: 2 })
    const charged = await read('touchstone_quota')
    expect(charged['plan="default",amount="used"']).to.be.lessThan(Number(reserved['plan="default",amount="used"']))
    expect(charged['plan="default",amount="allowance"']).to.equal(20_000_000)
    expect(await read('touchstone_relays_total')).to.deep.equal({ 'outcome="succeeded",plan="default"': 2 })
    expect((await read('touchstone_relay_gas_used_total'))['plan="default"']).to.be.greaterThan(100_000)
    expect(await read('touchstone_signer_balance_coins')).to.have.property(`signer="${signer}"`)
  })

  it('tells answers from memory from those of the node', async () => {
    const { chain: reads } = server.services
    const counts = () => read('touchstone_chain_reads_total')
    const before = await counts()
    await reads.id()
    const remembered = await counts()
    expect(remembered['source="memory"']).to.be.greaterThan(Number(before['source="memory"']))
    await reads.balance(chain.target, '0x1')
    const asked = await counts()
    expect(asked['source="node"']).to.be.greaterThan(Number(remembered['source="node"']))
    expect(asked).to.have.property('source="shared"')
  })

  it('shows how old the latest block is', async () => {
    await chain.node.request('anvil_mine', 1)
    expect((await read('touchstone_latest_block_age_seconds'))['']).to.be.within(0, 60)
  })

  it('leaves out what cannot be read, and shows the rest', async () => {
    node.goDown()
    try {
      expect(await read('touchstone_signer_nonce')).to.deep.equal({})
      expect(await read('touchstone_latest_block_age_seconds')).to.deep.equal({})
      expect(await read('touchstone_relays_last_day')).to.include({ 'status="succeeded"': 2 })
    } finally {
      node.comeBack()
    }
    await until(async () => Object.keys(await read('touchstone_signer_nonce')).length === 2)
  })
})
