import { expect } from 'chai'
import type { Config } from '../../../../specs/index.ts'
import { OperatorError } from '../../../core/errors.ts'
import { findBundler } from '../../../services/relayer/bundler.ts'
import type { Upstream } from '../../../services/node/upstream.ts'
import { largestTransactionBytes } from '../../../ethereum/transaction.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'

describe('findBundler', () => {
  let chain: RelayChain
  before(async () => {
    chain = await startRelayChain('hardhat')
  })
  after(() => chain.close())

  const find = (contract: string | null) => {
    const upstream = {
      request: (method: string, params: readonly unknown[]) => chain.node.request(method, ...params),
    } as unknown as Upstream
    const relay = { maxTransactionBytes: 131_072, maxFeePerGasWei: '500000000000', bundle: { contract, maxCalls: 7 } }
    return findBundler(upstream, relay as Config['relay'], 42n)
  }
  const faultOf = (contract: string) =>
    find(contract).then(
      () => undefined,
      (error: unknown) => error,
    )

  it('asks nothing where no contract is configured', async () => {
    expect(await find(null)).to.equal(undefined)
  })

  it('finds the contract, however its address is spelt, and tells what fits into a transaction', async () => {
    const contract = await chain.bundler()
    const limits = await find(contract.toLowerCase())
    expect(limits).to.include({ contract, maxCalls: 7, maxGas: 16_777_216n })
    const fees = { chainId: 42n, gasCap: 16_777_216n, maxFeePerGasWei: 500_000_000_000n }
    expect(largestTransactionBytes(limits?.maxDataBytes ?? 0, fees)).to.equal(131_072)
  })

  it('refuses an address without a contract, and that of another contract', async () => {
    const nobody = '0x000000000000000000000000000000000000dEaD'
    const [none, another] = [await faultOf(nobody), await faultOf(chain.target)]
    expect(none).to.be.instanceOf(OperatorError)
    expect(String(none)).to.include(`relay.bundle.contract: ${nobody} holds no contract on this chain`)
    expect(another).to.be.instanceOf(OperatorError)
    expect(String(another)).to.include('touchstone bundler deploy')
  })
})
