import { expect } from 'chai'
import { JsonRpcProvider } from 'ethers'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createPublicClient, http, type Address, type Hash, type PublicClient } from 'viem'
import { hardhat } from 'viem/chains'
import { Web3 } from 'web3'
import { loadArtifact } from '../../../contracts/artifacts.ts'
import { logEmitterInterface } from '../../../contracts/deploy/seeds.ts'
import { createSender } from '../../../contracts/deploy/sender.ts'
import { walkLogs, type WalkedLog } from '../../walk-logs.ts'
import { nodeKinds, type TestNode } from '../support/nodes.ts'
import { startRpcFront, type RpcFront } from '../support/rpc-server.ts'

const UNKNOWN = `0x${'ab'.repeat(32)}` as const
const COUNT = 2300

for (const [name, start] of Object.entries(nodeKinds)) {
  describe(`real clients, the node being ${name}`, () => {
    let node: TestNode
    let front: RpcFront
    let emitter: Address
    let hash: Hash
    let creation: Hash
    let block: number
    let balance: bigint
    let requests = 0

    before(async () => {
      node = await start()
      const sender = await createSender(node.deployer)
      const { bytecode } = await loadArtifact('LogEmitter')
      const { address, deployed } = sender.deploy(bytecode)
      emitter = address as Address
      creation = (await deployed).hash as Hash
      for (const count of [COUNT - 100, 100]) {
        const data = logEmitterInterface.encodeFunctionData('emitLogs', [count])
        hash = (await sender.mined(await sender.send({ to: emitter, data }))).hash as Hash
      }
      front = await startRpcFront([node.rpcUrl])
      block = Number(await node.request('eth_blockNumber'))
      balance = BigInt(await node.request<string>('eth_getBalance', node.accounts[0], 'latest'))
    })
    after(async () => {
      await front.close()
      await node.close()
    })

    const rejection = (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: unknown) => error as { code?: unknown; name?: string; message: string },
      )
    const lengthOf = async (logs: AsyncIterable<WalkedLog>) => {
      let length = 0
      for await (const log of logs) length += log.address.length > 0 ? 1 : 0
      return length
    }

    describe('ethers', () => {
      let provider: JsonRpcProvider
      before(() => (provider = new JsonRpcProvider(front.url)))
      after(() => provider.destroy())

      it('reads the chain', async () => {
        expect((await provider.getNetwork()).chainId).to.equal(31337n)
        expect(await provider.getBlockNumber()).to.equal(block)
        expect(await provider.getBalance(node.accounts[0] ?? '')).to.equal(balance)
        expect(await provider.getBalance(node.accounts[0] ?? '', block)).to.equal(balance)
        expect(await provider.send('eth_gasPrice', [])).to.match(/^0x/)
        expect(await provider.send('eth_maxPriorityFeePerGas', [])).to.match(/^0x/)
      })
      it('reads transactions and receipts', async () => {
        expect(await provider.getTransaction(hash)).to.include({ hash, to: emitter, type: 2, chainId: 31337n })
        expect((await provider.getTransactionReceipt(hash))?.logs).to.have.length(100)
        expect(await provider.getTransactionReceipt(creation)).to.include({ contractAddress: emitter })
        expect(await provider.getTransaction(UNKNOWN)).to.equal(null)
        expect(await provider.getTransactionReceipt(UNKNOWN)).to.equal(null)
        expect(await provider.waitForTransaction(hash, 1, 5_000)).to.include({ hash })
      })
      it('reads logs', async () => {
        const logs = await provider.getLogs({ address: emitter, fromBlock: block, toBlock: 'latest' })
        expect(logs.map((log) => logEmitterInterface.parseLog(log)?.args[0] as bigint)).to.deep.equal(
          Array.from({ length: 100 }, (_, index) => BigInt(COUNT - 100 + index)),
        )
      })
      it('walks over all logs', async () => {
        const request = ({ method, params }: { method: string; params: [object] }) => provider.send(method, params)
        expect(await lengthOf(walkLogs(request, { address: emitter, fromBlock: '0x0' }))).to.equal(COUNT)
      })
      it('sends many calls as a batch', async () => {
        const balances = await Promise.all(node.accounts.map((account) => provider.getBalance(account)))
        expect(balances.slice(2)).to.deep.equal(balances.slice(2).map(() => 10_000n * 10n ** 18n))
      })
      it('fails cleanly on the rest', async () => {
        expect(await rejection(provider.getBlock('latest'))).to.include({ code: 'UNSUPPORTED_OPERATION' })
        expect(await rejection(provider.send('eth_accounts', []))).to.include({ code: 'UNSUPPORTED_OPERATION' })
        expect(await rejection(provider.send('eth_getBalance', ['0x1', 'latest']))).to.have.nested.property(
          'error.code',
          -32602,
        )
      })
    })

    describe('viem', () => {
      let client: PublicClient
      before(() => {
        const onFetchRequest = () => void requests++
        client = createPublicClient({ chain: hardhat, transport: http(front.url, { onFetchRequest }) })
      })

      it('reads the chain', async () => {
        const address = node.accounts[0] as Address
        expect(await client.getChainId()).to.equal(31337)
        expect(await client.getBlockNumber({ cacheTime: 0 })).to.equal(BigInt(block))
        expect(await client.getBalance({ address })).to.equal(balance)
        expect(await client.getBalance({ address, blockNumber: BigInt(block) })).to.equal(balance)
        for (const blockTag of ['earliest', 'pending', 'safe', 'finalized'] as const) {
          expect(await client.getBalance({ address, blockTag })).to.be.a('bigint')
        }
        expect(await client.getGasPrice()).to.be.a('bigint')
        expect(await client.request({ method: 'eth_maxPriorityFeePerGas' })).to.match(/^0x/)
      })
      it('reads transactions and receipts', async () => {
        expect(await client.getTransaction({ hash })).to.include({ hash, type: 'eip1559', chainId: 31337 })
        expect(await client.getTransactionReceipt({ hash })).to.include({
          status: 'success',
          blockNumber: BigInt(block),
        })
        expect(await client.waitForTransactionReceipt({ hash })).to.include({ transactionHash: hash })
        expect(await rejection(client.getTransaction({ hash: UNKNOWN }))).to.include({
          name: 'TransactionNotFoundError',
        })
        expect(await rejection(client.getTransactionReceipt({ hash: UNKNOWN }))).to.include({
          name: 'TransactionReceiptNotFoundError',
        })
      })
      it('reads logs', async () => {
        expect(await client.getLogs({ address: emitter, fromBlock: BigInt(block) })).to.have.length(100)
        expect(await client.getLogs({ fromBlock: 'earliest', toBlock: 'latest' })).to.have.length(1000)
      })
      it('walks over all logs', async () => {
        const request = (call: { method: 'eth_getLogs'; params: [object] }) => client.request(call)
        expect(await lengthOf(walkLogs(request, { address: emitter, fromBlock: '0x0' }))).to.equal(COUNT)
      })
      it('sends a batch', async () => {
        const batching = createPublicClient({ chain: hardhat, transport: http(front.url, { batch: true }) })
        const [id, number] = await Promise.all([batching.getChainId(), batching.getBlockNumber()])
        expect([id, number]).to.deep.equal([31337, BigInt(block)])
      })
      it('sends a batch of its default size', async () => {
        let posts = 0
        const onFetchRequest = () => void posts++
        const transport = http(front.url, { batch: true, onFetchRequest, retryCount: 0 })
        const batching = createPublicClient({ chain: hardhat, transport })
        const address = (index: number): Address => `0x${(index + 1).toString(16).padStart(40, 'e')}`
        const balances = await Promise.all(
          Array.from({ length: 999 }, (_, index) => batching.getBalance({ address: address(index) })).concat(
            batching.getBalance({ address: node.accounts[0] as Address }),
          ),
        )
        expect(posts).to.equal(1)
        expect(balances).to.deep.equal([...Array<bigint>(999).fill(0n), balance])
      })
      it('fails cleanly on the rest, and tries nothing twice', async () => {
        for (const [call, error] of [
          [() => client.getBlock(), 'MethodNotFoundRpcError'],
          [() => client.getTransactionCount({ address: emitter }), 'MethodNotFoundRpcError'],
          [() => client.getBalance({ address: emitter, blockNumber: 10n ** 6n }), 'ResourceNotFoundRpcError'],
          [() => client.getLogs({ blockHash: UNKNOWN }), 'ResourceNotFoundRpcError'],
          [() => client.getLogs({ fromBlock: 2n, toBlock: 1n }), 'InvalidParamsRpcError'],
        ] as const) {
          requests = 0
          const thrown = await rejection(call())
          const names = [thrown?.name, (thrown as { cause?: { name: string } }).cause?.name]
          expect(names).to.include(error)
          expect(requests, error).to.equal(1)
        }
      })
    })

    describe('web3', () => {
      let web3: Web3
      before(() => (web3 = new Web3(front.url)))

      it('reads the chain', async () => {
        expect(await web3.eth.getChainId()).to.equal(31337n)
        expect(await web3.eth.getBlockNumber()).to.equal(BigInt(block))
        expect(await web3.eth.getBalance(node.accounts[0] ?? '')).to.equal(balance)
        expect(await web3.eth.getBalance(node.accounts[0] ?? '', block)).to.equal(balance)
        expect(await web3.eth.getGasPrice()).to.be.a('bigint')
        expect(await web3.eth.getMaxPriorityFeePerGas()).to.be.a('bigint')
      })
      it('reads transactions and receipts', async () => {
        expect(await web3.eth.getTransaction(hash)).to.include({ hash, type: 2n })
        expect((await web3.eth.getTransactionReceipt(hash)).logs).to.have.length(100)
        expect((await rejection(web3.eth.getTransactionReceipt(UNKNOWN)))?.name).to.equal('TransactionNotFound')
      })
      it('reads logs', async () => {
        expect(await web3.eth.getPastLogs({ address: emitter, fromBlock: block })).to.have.length(100)
      })
      it('sends a batch', async () => {
        const batch = new web3.BatchRequest()
        const calls = [1, 2, 3].map((id) => batch.add({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }))
        await batch.execute()
        expect(await Promise.all(calls)).to.deep.equal(['0x7a69', '0x7a69', '0x7a69'])
      })
      it('fails cleanly on the rest', async () => {
        expect((await rejection(web3.eth.getBlock()))?.name).to.be.a('string')
        expect((await rejection(web3.eth.getAccounts()))?.name).to.be.a('string')
      })
    })

    describe('cast', () => {
      const binary = fileURLToPath(new URL('../../../node_modules/.bin/cast', import.meta.url))
      const run = promisify(execFile)
      const env = { PATH: process.env['PATH'] }
      const cast = async (...args: string[]) =>
        (await run(binary, [...args, '--rpc-url', front.url], { env })).stdout.trim()
      /** The npm package's binary ends with 0 whatever happens: what it complains of tells. */
      const complaint = async (...args: string[]) =>
        (await run(binary, [...args, '--rpc-url', front.url], { env })).stderr

      it('reads the chain', async () => {
        expect(await cast('chain-id')).to.equal('31337')
        expect(await cast('block-number')).to.equal(String(block))
        expect(await cast('balance', node.accounts[0] ?? '')).to.equal(String(balance))
        expect(await cast('balance', node.accounts[0] ?? '', '--block', String(block))).to.equal(String(balance))
        expect(await cast('gas-price')).to.match(/^\d+$/)
        expect(await cast('rpc', 'eth_maxPriorityFeePerGas')).to.match(/^"0x/)
      })
      it('reads transactions and receipts', async () => {
        expect(JSON.parse(await cast('tx', hash, '--json'))).to.include({ hash, type: '0x2' })
        expect((JSON.parse(await cast('receipt', hash, '--json')) as { logs: unknown[] }).logs).to.have.length(100)
        expect(await complaint('tx', UNKNOWN)).to.contain('tx not found')
      })
      it('reads logs', async () => {
        const logs = await cast(
          'logs',
          '--json',
          '--from-block',
          String(block),
          '--to-block',
          'latest',
          '--address',
          emitter,
        )
        expect(JSON.parse(logs)).to.have.length(100)
      })
      it('fails cleanly on the rest', async () => {
        expect(await complaint('block')).to.contain('error code -32601')
        expect(await complaint('rpc', 'eth_getBalance', '0x1', 'latest')).to.contain('error code -32602')
      })
    })
  })
}
