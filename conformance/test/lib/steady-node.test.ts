import { expect } from 'chai'
import { Untestable } from '../../lib/outcome.ts'
import { type Attempt, type Outcome, steadyNode } from '../../lib/steady-node.ts'
import { inWorld, type World } from '../../lib/world.ts'

const hash = `0x${'ab'.repeat(32)}`
const late = { error: { message: 'header not found' } }
const receipt = { result: { blockNumber: '0x5' } }

/** A world in which pauses take no time. */
const hasty = { ask: (asked: string, live: () => Promise<unknown>) => (asked === 'pause' ? undefined : live()) }

describe('a node that may be several', () => {
  let asked: string[]

  /** Asks a node that gives these outcomes, one after the other, and the last one from then on. */
  function nodeWith(...outcomes: Outcome[]): Attempt {
    asked = []
    const node = steadyNode(async (method, params = []) => {
      asked.push([method, ...params].join(' '))
      return (outcomes.length > 1 ? outcomes.shift() : outcomes[0])!
    })
    return (...question) => inWorld(hasty as unknown as World, () => node(...question))
  }

  it('shows no state from before a receipt that it has shown', async () => {
    const node = nodeWith(receipt, { result: '0x4' }, { result: '0x6' }, late, { result: '0x07' })
    await node('eth_getTransactionReceipt', [hash])
    expect(await node('eth_call', ['call', 'latest'])).to.deep.equal({ result: '0x07' })
    expect(asked.slice(1)).to.deep.equal([
      'eth_blockNumber',
      'eth_blockNumber',
      'eth_call call 0x6',
      'eth_call call 0x6',
    ])
  })

  it('shows again what it has shown: a head, a block, a receipt, a transaction in its block', async () => {
    const node = nodeWith(
      { result: '0x5' },
      { result: '0x4' },
      { result: '0x5' },
      { result: null },
      { result: { number: '0x5' } },
      receipt,
      { result: null },
      receipt,
      { result: { blockNumber: null } },
      receipt,
    )
    expect(await node('eth_blockNumber')).to.deep.equal({ result: '0x5' })
    expect(await node('eth_blockNumber')).to.deep.equal({ result: '0x5' })
    expect(await node('eth_getBlockByNumber', ['0x5', false])).to.deep.equal({ result: { number: '0x5' } })
    expect(await node('eth_getTransactionReceipt', [hash])).to.equal(receipt)
    expect(await node('eth_getTransactionReceipt', [hash])).to.equal(receipt)
    expect(await node('eth_getTransactionByHash', [hash])).to.equal(receipt)
    expect(asked).to.have.length(10)
  })

  it('is asked once for what nobody has shown, and for a call that reverts', async () => {
    const reverted = { error: { message: 'execution reverted: block is not found in the registry' } }
    const node = nodeWith({ result: '0x5' }, { result: null }, { result: null }, late, { result: '0x5' }, reverted)
    await node('eth_blockNumber')
    expect(await node('eth_getTransactionReceipt', [hash])).to.deep.equal({ result: null })
    expect(await node('eth_getBlockByNumber', ['0x6', false])).to.deep.equal({ result: null })
    expect(await node('eth_getBalance', ['account', '0x6'])).to.equal(late)
    expect(await node('eth_call', ['call', 'latest'])).to.equal(reverted)
    expect(await node('eth_call', ['call', 'pending'])).to.equal(reverted)
    expect(asked).to.have.length(7)
  })

  it('is no truth when its head stays behind a block that it has shown, until it is asked anew', async () => {
    const node = nodeWith(receipt, { result: '0x4' })
    await node('eth_getTransactionReceipt', [hash])
    const thrown = await node('eth_getBalance', ['account', 'latest']).catch((error: unknown) => error)
    expect(thrown).to.be.instanceOf(Untestable)
    expect((thrown as Error).message).to.equal("the chain's node has shown block 5, and is at block 4")
    expect(await node('eth_blockNumber')).to.deep.equal({ result: '0x4' })
  })
})
