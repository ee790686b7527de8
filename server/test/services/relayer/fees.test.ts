import { expect } from 'chai'
import { createFeeSource } from '../../../services/relayer/fees.ts'
import { UpstreamRpcError, type Upstream } from '../../../services/node/upstream.ts'

const CEILING = 1_000n

describe('createFeeSource', () => {
  let nowMs: number
  let answers: Record<string, unknown>
  let asked: string[]

  const upstream: Upstream = {
    request: async <Result>(method: string) => {
      asked.push(method)
      const answer = answers[method]
      if (answer instanceof Error) throw answer
      return answer as Result
    },
    close: async () => {},
  }
  const source = () =>
    createFeeSource({
      upstream,
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      maxFeePerGasWei: CEILING,
    })
  const unknownMethod = () => new UpstreamRpcError({ code: -32601, message: 'no such method' })
  const failureOf = (work: Promise<unknown>) => work.then(String, (error: { code: string }) => error.code)

  beforeEach(() => {
    nowMs = 0
    asked = []
    answers = {
      eth_getBlockByNumber: { baseFeePerGas: '0x64', gasLimit: '0x1c9c380' },
      eth_maxPriorityFeePerGas: '0xa',
      eth_gasPrice: '0x32',
    }
  })

  it('offers twice the base fee and the tip', async () => {
    expect(await source().current()).to.deep.equal({ type: 2, maxFeePerGas: 210n, maxPriorityFeePerGas: 10n })
  })

  it('offers the price where the chain has no base fee, whatever the node says of tips', async () => {
    answers['eth_maxPriorityFeePerGas'] = unknownMethod()
    for (const baseFee of [{}, { baseFeePerGas: null }]) {
      answers['eth_getBlockByNumber'] = { gasLimit: '0x1c9c380', ...baseFee }
      expect(await source().current()).to.deep.equal({ type: 0, gasPrice: 50n })
    }
  })

  it('never offers more than the ceiling, and nothing when the chain asks for more', async () => {
    answers['eth_getBlockByNumber'] = { baseFeePerGas: '0x3e8' }
    answers['eth_maxPriorityFeePerGas'] = '0x7d0'
    expect(await source().current()).to.deep.equal({ type: 2, maxFeePerGas: CEILING, maxPriorityFeePerGas: CEILING })
    answers['eth_getBlockByNumber'] = { baseFeePerGas: '0x3e9' }
    expect(await failureOf(source().current())).to.equal('SIGNERS_UNAVAILABLE')
    answers['eth_getBlockByNumber'] = {}
    answers['eth_gasPrice'] = '0x3e9'
    expect(await failureOf(source().current())).to.equal('SIGNERS_UNAVAILABLE')
  })

  it('fails where the node fails, and asks again', async () => {
    const fees = source()
    // Without a tip, a transaction would wait for ever.
    for (const failure of [new Error('gone'), new UpstreamRpcError({ code: -32005, message: 'too many requests' })]) {
      answers['eth_maxPriorityFeePerGas'] = failure
      expect(await fees.current().catch((error: Error) => error.message)).to.equal(failure.message)
    }
    answers['eth_maxPriorityFeePerGas'] = '0xa'
    expect(await fees.current()).to.include({ type: 2 })
  })

  it('asks once for all who come at the same time, and again after a second', async () => {
    const fees = source()
    await Promise.all([fees.current(), fees.current(), fees.blockGasLimit()])
    nowMs = 1_000
    await fees.current()
    expect(asked).to.have.length(2)
    nowMs = 1_001
    await fees.current()
    expect(asked).to.have.length(4)
  })

  it('tells the fees of some time ago without asking, unless they are above the ceiling', async () => {
    const fees = source()
    expect(fees.recent()).to.equal(undefined)
    const now = await fees.current()
    nowMs = 3_600_000
    asked = []
    expect(fees.recent()).to.deep.equal(now)
    expect(asked).to.be.empty
    answers['eth_getBlockByNumber'] = { baseFeePerGas: '0x3e9' }
    expect(await failureOf(fees.current())).to.equal('SIGNERS_UNAVAILABLE')
    expect(fees.recent()).to.equal(undefined)
  })

  it('tells what a block holds, and null where the chain does not say', async () => {
    expect(await source().blockGasLimit()).to.equal(30_000_000n)
    answers['eth_getBlockByNumber'] = { baseFeePerGas: '0x64' }
    expect(await source().blockGasLimit()).to.equal(null)
  })

  describe('for the same nonce again', () => {
    it('raises both members by more than the tenth that nodes want', async () => {
      const previous = { type: 2, maxFeePerGas: 400n, maxPriorityFeePerGas: 40n } as const
      expect(await source().raised(previous)).to.deep.equal({
        type: 2,
        maxFeePerGas: 501n,
        maxPriorityFeePerGas: 51n,
      })
      expect(await source().raised({ type: 0, gasPrice: 400n })).to.deep.equal({ type: 0, gasPrice: 501n })
    })

    it('offers at least what a new transaction would', async () => {
      const previous = { type: 2, maxFeePerGas: 4n, maxPriorityFeePerGas: 0n } as const
      expect(await source().raised(previous)).to.deep.equal({
        type: 2,
        maxFeePerGas: 210n,
        maxPriorityFeePerGas: 10n,
      })
      answers['eth_getBlockByNumber'] = {}
      expect(await source().raised({ type: 0, gasPrice: 4n })).to.deep.equal({ type: 0, gasPrice: 50n })
    })

    it('offers nothing above the ceiling', async () => {
      const atMost = { type: 2, maxFeePerGas: 799n, maxPriorityFeePerGas: 0n } as const
      expect(await source().raised(atMost)).to.include({ maxFeePerGas: 999n })
      expect(await source().raised({ ...atMost, maxFeePerGas: 800n })).to.equal(null)
      expect(await source().raised({ type: 0, gasPrice: 800n })).to.equal(null)
    })
  })
})
