import { expect } from 'chai'
import { FAULTS, startFaultyNode, type FaultyNode } from '../../../../../testbed/faulty-node.ts'
import { nodeKinds, type TestNode } from '../../../support/nodes.ts'
import { startRpcFront, type RpcFront } from '../../../support/rpc-server.ts'
import { until } from '../../../support/until.ts'

const CALLERS = 8
const ROUNDS = 12
/** Longer than an answer usually takes, shorter than a node is waited for. */
const SLOW_MS = 100
/** Answers after which the server knows how long one usually takes. */
const USUAL = 40

for (const kind of ['hardhat', 'anvil'] as const) {
  describe(`several nodes in front of ${kind}`, () => {
    let chain: TestNode
    let nodes: FaultyNode[]
    let front: RpcFront

    before(async () => (chain = await nodeKinds[kind]()))
    after(() => chain.close())
    afterEach(async () => {
      await front.close()
      for (const node of nodes) await node.close()
    })

    async function start(count: number): Promise<[FaultyNode, FaultyNode, ...FaultyNode[]]> {
      nodes = []
      for (let index = 0; index < count; index++) nodes.push(await startFaultyNode(chain.rpcUrl))
      front = await startRpcFront(nodes.map(({ url }) => url))
      return nodes as [FaultyNode, FaultyNode, ...FaultyNode[]]
    }
    const headNow = async () => Number(await chain.request('eth_blockNumber'))
    const mine = () => chain.request('evm_mine')
    const bestSeen = () => Math.max(...nodes.map(({ toldHead }) => toldHead))
    const askHead = async () => Number(await front.call('eth_blockNumber'))

    it('3 nodes, the first on a fork and all slow: the others are waited for', async () => {
      const [first, ...others] = await start(3)
      for (let asked = 0; asked < USUAL; asked++) await askHead()
      await first.setFault('fork')
      const balance = await chain.request('eth_getBalance', chain.accounts[3], 'latest')
      first.delayMs = SLOW_MS
      for (const other of others) other.delayMs = 2 * SLOW_MS
      await mine()
      await askHead()
      expect(await front.call('eth_getBalance', chain.accounts[3], 'latest')).to.equal(balance)
    })

    for (const count of [2, 3]) {
      for (const fault of FAULTS) {
        // Of two nodes on two forks the preferred one is believed.
        const which = count === 2 && fault === 'fork' ? 'second' : 'first'
        it(`${count} nodes, the ${which} ${fault}: every answer is right, and no head is old or goes back`, async () => {
          const [first, second] = await start(count)
          const faulty = which === 'first' ? first : second
          await askHead()
          await faulty.setFault(fault)
          const balance = await chain.request('eth_getBalance', chain.accounts[3], 'latest')
          const wrong: unknown[] = []
          let last = 0
          for (let round = 0; round < ROUNDS; round++) {
            await mine()
            const callers = Array.from({ length: CALLERS }, async () => {
              const [seen, lastBefore] = [bestSeen(), last]
              const head = await askHead()
              if (!(head >= seen - 1 && head >= lastBefore)) wrong.push({ head, seen, lastBefore })
              last = Math.max(last, head)
              const answer = await front.call('eth_getBalance', chain.accounts[3], 'latest')
              if (answer !== balance) wrong.push(answer)
            })
            await Promise.all(callers)
          }
          expect(wrong).to.deep.equal([])
          await until(async () => (await askHead()) === (await headNow()))
        })
      }
    }
  })
}
