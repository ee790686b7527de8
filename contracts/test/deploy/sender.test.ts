import { expect } from 'chai'
import { JsonRpcProvider, toQuantity, type TransactionRequest } from 'ethers'
import { startChain, testSigner, type RunningChain } from '../../chain.ts'
import { seedPairedLogs } from '../../deploy/seeds.ts'
import { createSender } from '../../deploy/sender.ts'

describe('createSender', () => {
  /** The most gas that a block has on EthereumJS's development chain. */
  const BLOCK_GAS_LIMIT = 4_700_000

  let chain: RunningChain

  before(async () => {
    chain = await startChain()
    await chain.provider.request({ method: 'evm_setBlockGasLimit', params: [toQuantity(BLOCK_GAS_LIMIT)] })
    await chain.provider.request({ method: 'evm_mine' })
  })

  after(() => chain.close())

  /** Lets contracts emit logs: one of the transactions takes more than four million gas. */
  async function seedBy(provider: JsonRpcProvider): Promise<number> {
    try {
      return (await seedPairedLogs(await createSender(testSigner(chain).connect(provider)))).count
    } finally {
      provider.destroy()
    }
  }

  it('gives no transaction more gas than a block has', async () => {
    expect(await seedBy(new JsonRpcProvider(chain.rpcUrl))).to.be.above(1000)
  })

  it('gives enough gas where the node leaves the refunds out of its estimate', async () => {
    class WithoutRefunds extends JsonRpcProvider {
      override async estimateGas(transaction: TransactionRequest): Promise<bigint> {
        return ((await super.estimateGas(transaction)) * 3n) / 4n
      }
    }
    expect(await seedBy(new WithoutRefunds(chain.rpcUrl))).to.be.above(1000)
  })
})
