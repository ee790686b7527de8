import { expect } from 'chai'
import { type Upstream, budgetUpstream, readReceipt } from '../../../services/node/upstream.ts'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import { startFakeNode, type FakeNode } from '../../support/fake-node.ts'
import { until } from '../../support/until.ts'
import { startChain, type RunningChain } from '../../../../contracts/chain.ts'

describe('budgetUpstream', () => {
  let node: FakeNode
  let upstream: Upstream
  let released: PromiseWithResolvers<void>

  before(async () => {
    released = Promise.withResolvers<void>()
    node = await startFakeNode({
      eth_getBalance: () => released.promise.then(() => '0x1'),
      eth_gasPrice: () => '0x7',
      eth_sendRawTransaction: () => '0x2',
      eth_call: () => {
        throw new Error('refused')
      },
    })
    upstream = budgetUpstream(createUpstream({ rpcUrls: [node.url] }), 2)
  })
  after(async () => {
    await upstream?.close()
    await node?.close()
  })

  const outcome = (method: string) =>
    upstream.request(method, []).catch((error: unknown) => (error as { code?: unknown }).code)

  it('refuses what is beyond it at once, and serves again when there is room', async () => {
    const slow = [outcome('eth_getBalance'), outcome('eth_getBalance')]
    await until(() => node.calls('eth_getBalance').length === 2)
    expect(await outcome('eth_gasPrice')).to.equal('UPSTREAM_UNAVAILABLE')
    expect(node.calls('eth_gasPrice')).to.deep.equal([])
    expect(await outcome('eth_sendRawTransaction'), 'what is stored is sent').to.equal('0x2')
    released.resolve()
    expect(await Promise.all(slow)).to.deep.equal(['0x1', '0x1'])
    expect(await outcome('eth_gasPrice')).to.equal('0x7')
  })

  it('counts calls that fail no longer than they take', async () => {
    for (let count = 0; count < 5; count++) expect(await outcome('eth_call')).to.equal(-32000)
    expect(await outcome('eth_gasPrice')).to.equal('0x7')
  })
})

for (const hardfork of ['berlin', 'london'] as const) {
  describe(`a receipt of a chain at ${hardfork}`, () => {
    let chain: RunningChain
    let upstream: Upstream
    before(async () => {
      chain = await startChain({ hardfork })
      upstream = createUpstream({ rpcUrls: [chain.rpcUrl] })
    })
    after(async () => {
      await upstream.close()
      await chain.close()
    })

    it('has the price that was paid for the gas', async () => {
      const [from, to] = chain.accounts.map(({ address }) => address)
      const [paid, value] = [8_000_000_000, 1]
      const transaction = { from, to, value: `0x${value}`, gasPrice: `0x${paid.toString(16)}` }
      const before = BigInt(await upstream.request<string>('eth_getBalance', [from, 'latest']))
      const hash = await upstream.request<string>('eth_sendTransaction', [transaction])
      const after = BigInt(await upstream.request<string>('eth_getBalance', [from, 'latest']))
      const receipt = (await readReceipt(upstream, hash)) as { gasUsed: string; effectiveGasPrice: string }
      expect(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).to.equal(before - after - BigInt(value))
    })

    it('is null for what is not mined', async () => {
      expect(await readReceipt(upstream, `0x${'12'.repeat(32)}`)).to.equal(null)
    })
  })
}
