import { expect } from 'chai'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import { fillOmissions } from '../../../services/node/omissions.ts'
import { HttpNode } from '../../../services/node/http-node.ts'
import { UpstreamRpcError, type Upstream } from '../../../services/node/upstream.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { startChain, type RunningChain } from '../../../../contracts/chain.ts'

describe('fillOmissions', () => {
  type Answer = (params: readonly unknown[]) => unknown

  let answers: Record<string, Answer>
  let asked: { method: string; options: unknown }[]

  const upstream = fillOmissions({
    request: async <Result>(method: string, params: readonly unknown[], options: unknown) => {
      asked.push({ method, options })
      return answers[method]?.(params) as Result
    },
    close: async () => {},
  })
  const refuses = (code: number, message: string) => (): never => {
    throw new UpstreamRpcError({ code, message })
  }
  const outcome = (method: string, params: readonly unknown[] = []) =>
    upstream.request(method, params, { timeoutMs: 7 }).catch((error: Error) => error.message)

  beforeEach(() => {
    asked = []
    answers = {
      // What EthereumJS says.
      eth_maxPriorityFeePerGas: refuses(-32601, 'Method not found'),
      eth_getBalance: ([, block]) =>
        block === 'pending' ? refuses(-32602, '"pending" is not yet supported')() : '0x5',
      eth_getBlockByNumber: () => ({ baseFeePerGas: '0x3b9aca00' }),
      eth_gasPrice: () => '0x3b9aca07',
    }
  })

  describe('the priority fee that the node does not serve', () => {
    it('is what the gas price is above the base fee, and none where it is below', async () => {
      expect(await outcome('eth_maxPriorityFeePerGas')).to.equal('0x7')
      expect(new Set(asked.map(({ options }) => options))).to.deep.equal(new Set([{ timeoutMs: 7 }]))
      answers['eth_gasPrice'] = () => '0x1'
      expect(await outcome('eth_maxPriorityFeePerGas')).to.equal('0x0')
    })

    it('is not made up for a node that is busy, and not on a chain without base fees', async () => {
      for (const block of [{}, { baseFeePerGas: null }]) {
        answers['eth_getBlockByNumber'] = () => block
        expect(await outcome('eth_maxPriorityFeePerGas')).to.equal('Method not found')
      }
      answers['eth_maxPriorityFeePerGas'] = refuses(-32005, 'too many requests')
      asked = []
      expect(await outcome('eth_maxPriorityFeePerGas')).to.equal('too many requests')
      expect(asked).to.have.length(1)
    })

    it('is the answer of a node that serves it', async () => {
      answers['eth_maxPriorityFeePerGas'] = () => '0x9'
      expect(await outcome('eth_maxPriorityFeePerGas')).to.equal('0x9')
      expect(asked).to.have.length(1)
    })
  })

  describe('the balance in a pending block that the node does not know', () => {
    it('is the latest one', async () => {
      expect(await outcome('eth_getBalance', ['0x1', 'pending'])).to.equal('0x5')
    })

    it('is refused by a node that is busy, as other blocks are by one that refuses them', async () => {
      answers['eth_getBalance'] = refuses(-32005, 'too many requests')
      expect(await outcome('eth_getBalance', ['0x1', 'pending'])).to.equal('too many requests')
      answers['eth_getBalance'] = refuses(-32000, 'missing trie node')
      expect(await outcome('eth_getBalance', ['0x1', '0x1'])).to.equal('missing trie node')
      expect(asked).to.have.length(2)
    })
  })
})

for (const hardfork of ['berlin', 'london'] as const) {
  describe(`a receipt of a chain at ${hardfork}`, () => {
    let chain: RunningChain
    let upstream: Upstream
    before(async () => {
      chain = await startChain({ hardfork })
      upstream = fillOmissions(createUpstream({ rpcUrls: [chain.rpcUrl] }))
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
      const receipt = await upstream.request<{ gasUsed: string; effectiveGasPrice: string }>(
        'eth_getTransactionReceipt',
        [hash],
      )
      expect(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).to.equal(before - after - BigInt(value))
    })

    it('is null for what is not mined', async () => {
      expect(await upstream.request('eth_getTransactionReceipt', [`0x${'12'.repeat(32)}`])).to.equal(null)
    })
  })
}

describe('a server in front of a node that leaves out what it can', () => {
  class Sparing extends HttpNode {
    override async call(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
      const isUnserved =
        method === 'eth_maxPriorityFeePerGas' || (method === 'eth_getBalance' && params[1] === 'pending')
      if (isUnserved) throw new UpstreamRpcError({ code: -32601, message: `${method} does not exist` })
      const answer = await super.call(method, params, timeoutMs)
      if (method !== 'eth_getTransactionReceipt' || answer === null) return answer
      return { ...(answer as object), effectiveGasPrice: undefined }
    }
  }

  let chain: RelayChain
  let server: RelayServer
  before(async () => {
    chain = await startRelayChain('hardhat')
    server = await startRelayServer({
      rpcUrl: chain.node.rpcUrl,
      signerKeys: chain.signerKeys,
      compose: { edges: { connect: (url) => new Sparing(url) } },
    })
  })
  after(async () => {
    await server.close()
    await chain.close()
  })

  it('answers what the document demands', async () => {
    const [account = ''] = chain.signers
    const latest = await chain.node.request<string>('eth_getBalance', account, 'latest')
    expect(await server.services.chain.balance(account, 'pending')).to.equal(latest)
    const [block, gasPrice] = await Promise.all([
      chain.node.request<{ baseFeePerGas: string }>('eth_getBlockByNumber', 'latest', false),
      chain.node.request<string>('eth_gasPrice'),
    ])
    const fee = BigInt(gasPrice) - BigInt(block.baseFeePerGas)
    expect(await server.services.chain.maxPriorityFeePerGas()).to.equal(`0x${fee.toString(16)}`)
  })

  it('offers a tip for relay calls', async () => {
    const { status, json } = await chain.client(server.url).execute()
    expect(status).to.equal(200)
    const hash = String(json.transactionHash)
    const sent = await chain.node.request<{ maxPriorityFeePerGas: string }>('eth_getTransactionByHash', hash)
    expect(Number(sent.maxPriorityFeePerGas)).to.be.above(0)
    expect(await server.services.chain.receipt(hash))
      .to.have.property('effectiveGasPrice')
      .that.is.a('string')
  })
})
