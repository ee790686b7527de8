import { expect } from 'chai'
import { ServiceError } from '../../../core/errors.ts'
import { type CachedChain, createChain } from '../../../services/chain/create-chain.ts'
import { ScriptedChain } from '../../support/scripted-chain.ts'
import { until } from '../../support/until.ts'

const ADDRESS = `0x${'11'.repeat(20)}`
const HASH = `0x${'22'.repeat(32)}`

describe('createChain', () => {
  let node: ScriptedChain
  let chain: CachedChain

  beforeEach(async () => {
    node = new ScriptedChain(100)
    chain = createChain({ upstream: node, confirmations: 10 })
    // Asks once what kind of node it is.
    await chain.gasPrice()
    node.mine()
    await chain.blockNumber()
    node.forget()
  })

  const times = (count: number, call: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, call))
  const mineReceipt = (depth = 0) => {
    if (depth === 0) node.mine()
    node.receipts.set(HASH, node.blocks.at(-1 - depth)?.hash ?? '')
  }
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

  describe('identical calls at the same time', () => {
    it('are made once', async () => {
      await chain.blockNumber()
      for (const [method, call] of [
        ['eth_getBalance', () => chain.balance(ADDRESS, 'latest')],
        ['eth_getTransactionReceipt', () => chain.receipt(HASH)],
        ['eth_gasPrice', () => chain.gasPrice()],
      ] as const) {
        await times(50, call)
        expect(node.asked(method), method).to.equal(1)
      }
    })

    it('are made once too for who comes while the call is under way, if the head proves to be the same', async () => {
      node.hold()
      const first = chain.balance(ADDRESS, 'latest')
      await until(() => node.heldCount === 1)
      const late = times(20, () => chain.balance(ADDRESS, 'latest'))
      await nextTurn()
      node.release()
      await Promise.all([first, late])
      expect(node.asked('eth_getBalance')).to.equal(1)
    })

    it('share no answer that was read before one of them asked', async () => {
      node.hold()
      const early = chain.receipt(HASH)
      const earlyHead = chain.blockNumber()
      const earlyBalance = chain.balance(ADDRESS, 'latest')
      await until(() => node.heldCount === 3)
      // The relay has sent a transaction, its block is there, and a client that knows so asks now.
      mineReceipt()
      node.balance = 5n
      const late = chain.receipt(HASH)
      const lateHead = chain.blockNumber()
      const lateBalance = chain.balance(ADDRESS, 'latest')
      await nextTurn()
      node.release()
      expect([await early, await earlyHead, await earlyBalance]).to.deep.equal([null, '0x65', '0x0'])
      expect([(await late)?.blockNumber, await lateHead, await lateBalance]).to.deep.equal(['0x66', '0x66', '0x5'])
    })

    it('fail together only if they began together', async () => {
      const failing = { ...node, request: () => Promise.reject(new Error('gone')), close: () => node.close() }
      const dead = createChain({ upstream: failing, confirmations: 10 })
      const outcomes = await Promise.allSettled([dead.id(), dead.id(), dead.blockNumber()])
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected'])
    })
  })

  describe('what is final', () => {
    it('is asked once, and needs no look at the head', async () => {
      mineReceipt(10)
      await chain.receipt(HASH)
      node.forget()
      const [one, other] = [await chain.receipt(HASH), await chain.receipt(HASH)]
      expect(one).to.equal(other)
      expect(node.calls).to.be.empty
      for (let round = 0; round < 2; round++) await chain.balance(ADDRESS, '0x5b')
      expect(node.asked('eth_getBalance')).to.equal(1)
    })

    it('is not what has one block less on top', async () => {
      mineReceipt(9)
      await chain.receipt(HASH)
      node.mine()
      node.forget()
      await chain.receipt(HASH)
      expect(node.asked('eth_getTransactionReceipt')).to.equal(1)
      node.forget()
      await chain.receipt(HASH)
      expect(node.calls).to.be.empty
    })

    it('needs a look at the head in front of a development node', async () => {
      node.clientVersion = 'anvil/v1.7.1'
      chain = createChain({ upstream: node, confirmations: 10 })
      mineReceipt(10)
      await chain.receipt(HASH)
      await chain.gasPrice()
      node.forget()
      await chain.receipt(HASH)
      expect(node.calls.map(({ method }) => method)).to.deep.equal(['eth_getBlockByNumber'])
    })
  })

  describe('where the head may be a second old', () => {
    const { now } = performance
    const passMs = (ms: number) => {
      performance.now = () => now.call(performance) + ms
    }
    afterEach(() => (performance.now = now))

    beforeEach(async () => {
      chain = createChain({ upstream: node, confirmations: 10, headMaxAgeMs: 1_000 })
      await chain.gasPrice()
      await chain.blockNumber()
      node.forget()
    })

    it('everything is answered from memory for a second, and not for longer', async () => {
      const balance = await chain.balance(ADDRESS, 'latest')
      node.forget()
      node.balance = 5n
      node.mine()
      expect([await chain.blockNumber(), await chain.balance(ADDRESS, 'latest')]).to.deep.equal(['0x65', balance])
      expect(node.calls).to.be.empty
      passMs(1_000)
      expect([await chain.blockNumber(), await chain.balance(ADDRESS, 'latest')]).to.deep.equal(['0x66', '0x5'])
    })

    it('nobody is told an older head than the block of a receipt that was told', async () => {
      mineReceipt()
      expect((await chain.receipt(HASH))?.blockNumber).to.equal('0x66')
      expect(await chain.blockNumber()).to.equal('0x66')
    })

    it('a block that the chain does not have is named with all of its digits', async () => {
      const asked = chain.balance(ADDRESS, '0xffffffffffffffff')
      expect(await asked.catch(String)).to.include('no block 18446744073709551615')
    })

    it('a block that is newer than the last look is found', async () => {
      node.mine()
      node.balance = 5n
      expect(await chain.balance(ADDRESS, '0x66')).to.equal('0x5')
    })

    it('nothing older is told once a node has told of a new head', async () => {
      await chain.balance(ADDRESS, 'latest')
      node.balance = 5n
      node.mine()
      chain.headIsOld()
      expect([await chain.balance(ADDRESS, 'latest'), await chain.blockNumber()]).to.deep.equal(['0x5', '0x66'])
      node.forget()
      await times(5, () => chain.balance(ADDRESS, 'latest'))
      expect(node.calls).to.be.empty
    })

    describe('in front of a development node, which changes balances without a block', () => {
      beforeEach(async () => {
        node.clientVersion = 'anvil/v1.7.1'
        chain = createChain({ upstream: node, confirmations: 0, headMaxAgeMs: 1_000 })
        await chain.gasPrice()
        await chain.blockNumber()
      })
      const balances = () => Promise.all(['latest', '0x65', '0x0'].map((block) => chain.balance(ADDRESS, block)))

      it('they come from memory for a second, and not for longer', async () => {
        await balances()
        node.forget()
        node.balance = 5n
        expect(await balances()).to.deep.equal(['0x0', '0x0', '0x0'])
        expect(node.calls).to.be.empty
        passMs(1_000)
        expect(await balances()).to.deep.equal(['0x5', '0x5', '0x5'])
      })

      it('what was asked before the last look and answered after it is not kept', async () => {
        node.hold()
        const early = chain.balance(ADDRESS, 'latest')
        await until(() => node.heldCount === 1)
        passMs(1_000)
        const look = chain.blockNumber()
        await until(() => node.heldCount === 2)
        node.releaseLatest()
        await look
        node.release()
        expect(await early).to.equal('0x0')
        node.balance = 5n
        expect(await chain.balance(ADDRESS, 'latest')).to.equal('0x5')
      })
    })
  })

  describe('without a look at the head for five seconds', () => {
    const { now } = performance
    const passSeconds = (seconds: number) => {
      performance.now = () => now.call(performance) + seconds * 1000
    }
    afterEach(() => (performance.now = now))

    it('what is final is proven anew: a reorganisation deeper than `confirmations` is seen', async () => {
      mineReceipt(10)
      const before = await chain.receipt(HASH)
      node.rewind(20)
      node.mine(40)
      expect(await chain.receipt(HASH), 'unseen until then').to.equal(before)
      passSeconds(6)
      expect(await chain.receipt(HASH)).to.equal(null)
    })

    it('so are logs that were fetched ahead', async () => {
      node.logsIn = (block) => (block < 50 ? 100 : 0)
      const filter = { fromBlock: '0x0', toBlock: '0x30' }
      const last = (await chain.logs(filter)).at(-1)
      node.rewind(97)
      node.mine(120)
      passSeconds(6)
      const { blockNumber = '', logIndex = '' } = last ?? {}
      const next = await chain
        .logs({ ...filter, paging_options: { blockNumber, logIndex } })
        .catch((error: unknown) => (error as { code: string }).code)
      expect(next).to.equal('RPC_RESOURCE_NOT_FOUND')
    })

    it('the chain id is asked again after a reorganisation, and only then', async () => {
      await chain.id()
      node.forget()
      passSeconds(6)
      await chain.id()
      expect(node.asked('eth_chainId')).to.equal(0)
      node.rewind(1)
      passSeconds(12)
      await chain.id()
      expect(node.asked('eth_chainId')).to.be.greaterThan(0)
    })

    it('the chain id is not told of a node that is of another chain, and is while no node answers', async () => {
      const id = await chain.id()
      const outcome = async (error: ServiceError) => {
        node.request = () => Promise.reject(error)
        return chain.id().catch((thrown: unknown) => (thrown as ServiceError).code)
      }
      passSeconds(6)
      expect(await outcome(new ServiceError('UPSTREAM_UNAVAILABLE', 'gone'))).to.equal(id)
      const foreign = { details: { wrongChain: true } }
      expect(await outcome(new ServiceError('UPSTREAM_UNAVAILABLE', 'foreign', foreign))).to.equal(
        'UPSTREAM_UNAVAILABLE',
      )
    })
  })

  describe('what belongs to the head', () => {
    it('is asked once per block', async () => {
      await chain.blockNumber()
      for (let block = 0; block < 3; block++) {
        node.forget()
        for (let round = 0; round < 3; round++)
          expect(await chain.gasPrice()).to.equal(`0x${(node.height + 1).toString(16)}`)
        expect(node.asked('eth_gasPrice')).to.equal(1)
        node.mine()
      }
    })

    it('is never kept of a block that nobody has looked at yet', async () => {
      await chain.gasPrice()
      mineReceipt()
      await chain.receipt(HASH)
      node.rewind(1)
      expect(await chain.receipt(HASH)).to.equal(null)
    })

    it('is not kept when the head moves between question and answer', async () => {
      await chain.blockNumber()
      node.hold()
      const first = chain.balance(ADDRESS, 'latest')
      await until(() => node.heldCount === 1)
      node.mine()
      const head = chain.blockNumber()
      await until(() => node.heldCount === 2)
      node.balance = 7n
      node.releaseLatest()
      await head
      node.release()
      expect(await first).to.equal('0x0')
      expect(await chain.balance(ADDRESS, 'latest')).to.equal('0x7')
    })
  })

  describe('never kept', () => {
    it('is null', async () => {
      for (let round = 0; round < 3; round++) expect(await chain.receipt(HASH)).to.equal(null)
      expect(node.asked('eth_getTransactionReceipt')).to.equal(3)
    })
    it('is an error', async () => {
      await chain.transaction(HASH).catch(() => undefined)
      await chain.transaction(HASH).catch(() => undefined)
      expect(node.asked('eth_getTransactionByHash')).to.equal(2)
    })
  })

  describe('a reorganisation', () => {
    const reorganisations: [string, () => void][] = [
      ['a head that goes back', () => node.rewind(1)],
      ['another block at the same height', () => (node.rewind(1), node.mine())],
      ['a longer chain from an earlier block', () => (node.rewind(3), node.mine(5))],
      ['a next block with another parent', () => (node.rewind(1), node.mine(2))],
    ]
    for (const [name, reorganise] of reorganisations) {
      it(`is found: ${name}`, async () => {
        mineReceipt(10)
        await chain.receipt(HASH)
        await chain.gasPrice()
        reorganise()
        await chain.blockNumber()
        node.forget()
        await chain.receipt(HASH)
        expect(node.asked('eth_getTransactionReceipt')).to.equal(1)
      })
    }
    it('lets nothing be kept that was read before it', async () => {
      mineReceipt(10)
      node.hold()
      const early = chain.receipt(HASH)
      await until(() => node.heldCount === 1)
      node.rewind(20)
      const head = chain.blockNumber()
      await until(() => node.heldCount === 2)
      node.releaseLatest()
      await head
      node.release()
      expect(await early).not.to.equal(null)
      node.mine(40)
      await chain.blockNumber()
      expect(await chain.receipt(HASH)).to.equal(null)
    })
    it('is not seen in a chain that grew by several blocks', async () => {
      mineReceipt(10)
      await chain.receipt(HASH)
      node.mine(7)
      await chain.blockNumber()
      node.forget()
      await chain.receipt(HASH)
      expect(node.calls).to.be.empty
    })
  })

  it('counts what came from memory, from the node, and from the call of another caller', async () => {
    const { cacheStatistics, ...counted } = createChain({ upstream: node, confirmations: 10 })
    mineReceipt(10)
    await counted.receipt(HASH)
    expect(cacheStatistics, 'one call').to.deep.equal({ hits: 0, misses: 1, shared: 0 })
    for (let round = 0; round < 3; round++) await counted.receipt(HASH)
    expect(cacheStatistics, 'three more').to.deep.equal({ hits: 3, misses: 1, shared: 0 })
    await times(5, () => counted.balance(ADDRESS, 'latest'))
    expect(cacheStatistics, 'five at once').to.deep.equal({ hits: 3, misses: 2, shared: 4 })
  })

  it('keeps its caches within the budget', async () => {
    const small = createChain({ upstream: node, confirmations: 10, cacheBytes: 50_000 })
    await small.blockNumber()
    const ask = async (block: number) => small.balance(ADDRESS, block)
    for (let block = 0; block < 90; block++) await ask(block)
    for (let round = 0; round < 10; round++) for (let block = 0; block < 90; block++) await ask(block)
    expect(node.asked('eth_getBalance'), 'all fit').to.equal(90)

    const tiny = createChain({ upstream: node, confirmations: 10, cacheBytes: 2_000 })
    node.forget()
    for (let round = 0; round < 2; round++) for (let block = 0; block < 90; block++) await tiny.balance(ADDRESS, block)
    expect(node.asked('eth_getBalance'), 'none of a cycle longer than the budget').to.equal(180)
  })

  it('refuses a block ahead of the chain without asking for it', async () => {
    const outcome = await chain.balance(ADDRESS, '0xffff').catch((error: unknown) => (error as { code: string }).code)
    expect(outcome).to.equal('RPC_RESOURCE_NOT_FOUND')
    expect(node.asked('eth_getBalance')).to.equal(0)
  })
})
