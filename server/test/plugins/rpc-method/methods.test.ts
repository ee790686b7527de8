import { expect } from 'chai'
import type { TransactionRequest } from 'ethers'
import type { Log, Receipt, Transaction } from '../../../../specs/index.ts'
import { nodeKinds, type TestNode } from '../../support/nodes.ts'
import { startRpcFront, type RpcFront } from '../../support/rpc-server.ts'

/** Of a transaction of any type. */
type Members = Readonly<Record<string, unknown>>

const UNKNOWN_HASH = `0x${'ab'.repeat(32)}`
/** Emits one log without topics, and reverts the creation of nothing: `log0(0, 0)`. */
const LOG_INIT_CODE = '0x60006000a0'

for (const [name, start] of Object.entries(nodeKinds)) {
  describe(`the eight methods in front of ${name}`, () => {
    let node: TestNode
    let front: RpcFront

    before(async () => {
      node = await start()
      front = await startRpcFront([node.rpcUrl], { confirmations: 3 })
    })
    after(async () => {
      await front.close()
      await node.close()
    })

    async function mine(transaction: TransactionRequest): Promise<string> {
      const { hash, wait } = await node.wallet.sendTransaction(transaction).then((sent) => ({
        hash: sent.hash,
        wait: () => node.request<unknown>('eth_getTransactionReceipt', sent.hash),
      }))
      while ((await wait()) === null);
      return hash
    }
    const transfer = (type = 2) => mine({ to: node.accounts[1] ?? null, value: 1n, type })
    const code = async (call: Promise<unknown>) =>
      call.then(
        () => 'served',
        (error: unknown) => (error as { code: number }).code,
      )

    it('eth_chainId', async () => {
      expect(await front.call('eth_chainId')).to.equal('0x7a69')
      front.forget()
      expect(await front.call('eth_chainId')).to.equal('0x7a69')
      expect(front.upstreamCalls).to.be.empty
    })

    it('eth_blockNumber is the head at once after each block', async () => {
      for (let round = 0; round < 5; round++) {
        await transfer()
        expect(await front.call('eth_blockNumber')).to.equal(await node.request('eth_blockNumber'))
      }
    })

    it('eth_gasPrice and eth_maxPriorityFeePerGas are the node’s, also when tools change them without a block', async () => {
      for (let round = 0; round < 2; round++) {
        expect(await front.call('eth_gasPrice')).to.equal(await node.request('eth_gasPrice'))
        expect(await front.call('eth_maxPriorityFeePerGas')).to.equal(await node.request('eth_maxPriorityFeePerGas'))
        await node.request(`${name}_setNextBlockBaseFeePerGas`, '0x77359400')
      }
    })

    describe('eth_getBalance', () => {
      it('is the node’s at the head, at a number and at each tag', async () => {
        const [from = '', to = ''] = node.accounts
        await transfer()
        const head = Number(await node.request('eth_blockNumber'))
        for (const account of [from, to, to.toUpperCase().replace('0X', '0x')]) {
          for (const block of ['latest', 'earliest', 'pending', 'safe', 'finalized', '0x0', `0x${head.toString(16)}`]) {
            const balance = await node.request('eth_getBalance', account, block)
            expect(await front.call('eth_getBalance', account, block), block).to.equal(balance)
          }
        }
        expect(await front.call('eth_getBalance', to, head)).to.equal(
          await node.request('eth_getBalance', to, `0x${head.toString(16)}`),
        )
      })
      it('is fresh at once, after a transaction and after a tool', async () => {
        const [, to = ''] = node.accounts
        for (let round = 0; round < 4; round++) {
          const before = BigInt(await front.call<string>('eth_getBalance', to, 'latest'))
          await transfer()
          expect(BigInt(await front.call<string>('eth_getBalance', to, 'latest')) - before).to.equal(1n)
        }
        await node.request(`${name}_setBalance`, to, '0x1234')
        expect(await front.call('eth_getBalance', to, 'latest')).to.equal('0x1234')
      })
      it('knows no block ahead of the chain, in the same words for every node', async () => {
        expect(await code(front.call('eth_getBalance', node.accounts[0], '0xffffff'))).to.equal(-32001)
      })
    })

    describe('eth_getTransactionByHash and eth_getTransactionReceipt', () => {
      it('answer null for what is unknown, and keep nothing of it', async () => {
        for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt']) {
          front.forget()
          for (let round = 0; round < 2; round++) expect(await front.call(method, UNKNOWN_HASH)).to.equal(null)
          expect(front.asked(method)).to.equal(2)
        }
      })

      for (const type of [0, 1, 2]) {
        it(`tell a transaction of type ${type}`, async () => {
          const hash = await transfer(type)
          const truth = await node.request<Members>('eth_getTransactionByHash', hash)
          const transaction = await front.call<Members>(
            'eth_getTransactionByHash',
            hash.toUpperCase().replace('0X', '0x'),
          )
          const { yParity, v, chainId, ...rest } = transaction
          expect(truth).to.deep.include(rest)
          expect(chainId).to.equal('0x7a69')
          if (type === 0) expect([yParity, v]).to.deep.equal([undefined, truth['v']])
          else
            expect(yParity)
              .to.equal(truth['yParity'] ?? truth['v'])
              .and.to.equal(v)

          const receipt = await front.call<Receipt>('eth_getTransactionReceipt', hash)
          expect(await node.request('eth_getTransactionReceipt', hash)).to.deep.include(receipt)
          expect(receipt).not.to.have.any.keys('blobGasPrice', 'blockTimestamp')
          expect(receipt).to.include({ type: `0x${type}`, status: '0x1', contractAddress: null })
        })
      }

      it('tell a transaction of type 4', async () => {
        const nonce = await node.wallet.getNonce()
        const authorization = await node.wallet.authorize({ address: node.accounts[3] ?? '', nonce: nonce + 1 })
        const hash = await mine({ type: 4, to: node.accounts[2] ?? '', authorizationList: [authorization] })
        const transaction = await front.call<Members>('eth_getTransactionByHash', hash)
        expect(transaction['type']).to.equal('0x4')
        expect(transaction['authorizationList']).to.deep.equal([
          {
            chainId: '0x7a69',
            nonce: `0x${(nonce + 1).toString(16)}`,
            address: node.accounts[3]?.toLowerCase(),
            yParity: `0x${authorization.signature.yParity}`,
            r: `0x${BigInt(authorization.signature.r).toString(16)}`,
            s: `0x${BigInt(authorization.signature.s).toString(16)}`,
          },
        ])
        expect(await front.call('eth_getTransactionReceipt', hash)).to.include({ type: '0x4', status: '0x1' })
      })

      it('tell a creation with its logs', async () => {
        const hash = await mine({ data: LOG_INIT_CODE, gasLimit: 100_000n })
        const receipt = await front.call<Receipt>('eth_getTransactionReceipt', hash)
        const { to, contractAddress, logs } = receipt
        expect([to, (contractAddress as string).length, logs.length]).to.deep.equal([null, 42, 1])
        expect(logs).to.deep.equal(await front.call<Log[]>('eth_getLogs', { blockHash: receipt.blockHash }))
        expect(await front.call('eth_getTransactionByHash', hash)).to.include({ to: null, input: LOG_INIT_CODE })
      })

      it('tell a pending transaction, and its receipt as soon as it is mined', async () => {
        await node.request('evm_setAutomine', false)
        try {
          const { hash } = await node.wallet.sendTransaction({ to: node.accounts[1] ?? null, value: 1n })
          const pending = await front.call<Transaction>('eth_getTransactionByHash', hash)
          expect(pending).to.include({ blockHash: null, blockNumber: null, transactionIndex: null })
          expect(await front.call('eth_getTransactionReceipt', hash)).to.equal(null)
          await node.request('evm_mine')
          expect(await front.call('eth_getTransactionReceipt', hash)).to.include({ transactionHash: hash })
          expect(await front.call<Transaction>('eth_getTransactionByHash', hash)).to.have.property('blockHash').not.null
        } finally {
          await node.request('evm_setAutomine', true)
        }
      })

      it('are not asked of the node again once mined, and are forgotten when the chain takes the block back', async () => {
        const snapshot = await node.request('evm_snapshot')
        const hash = await transfer()
        for (let round = 0; round < 4; round++) await transfer()
        await front.call('eth_blockNumber')
        for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash']) {
          const answer = await front.call(method, hash)
          front.forget()
          expect(await front.call(method, hash)).to.deep.equal(answer)
          expect(front.asked(method)).to.equal(0)
        }
        await node.request('evm_revert', snapshot)
        expect(await front.call('eth_getTransactionReceipt', hash)).to.equal(null)
        expect(await front.call('eth_getTransactionByHash', hash)).to.equal(null)
        // The same height again, by other blocks, before anybody looks.
        for (let round = 0; round < 6; round++) await transfer()
        expect(await front.call('eth_blockNumber')).to.equal(await node.request('eth_blockNumber'))
      })
    })
  })
}
