import { expect } from 'chai'
import { startChain, type RunningChain } from '../../../../contracts/chain.ts'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import { readReceipt, type Upstream } from '../../../services/node/upstream.ts'

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
