import { expect } from 'chai'
import { JsonRpcProvider } from 'ethers'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { startChain, type RunningChain, testSigner } from '../chain.ts'

describe('startChain', () => {
  const running: RunningChain[] = []

  async function start(...args: Parameters<typeof startChain>): Promise<RunningChain> {
    const chain = await startChain(...args)
    running.push(chain)
    return chain
  }

  afterEach(async () => {
    await Promise.all(running.splice(0).map((chain) => chain.close()))
  })

  it('serves over HTTP what it holds in process', async () => {
    const chain = await start()
    const overHttp = new JsonRpcProvider(chain.rpcUrl)
    const { hash } = await testSigner(chain).sendTransaction({ to: chain.accounts[1]!.address, value: 1n })
    expect((await overHttp.getTransactionReceipt(hash))?.status).to.equal(1)
    expect((await overHttp.getNetwork()).chainId).to.equal(BigInt(chain.chainId))
    overHttp.destroy()
  })

  it('names accounts whose keys fit and which hold native coin', async () => {
    const chain = await start()
    expect(chain.accounts).to.have.length(20)
    const last = testSigner(chain, 19)
    expect(last.address).to.equal(chain.accounts[19]?.address)
    expect(await last.provider?.getBalance(last.address)).to.equal(10_000n * 10n ** 18n)
  })

  it('keeps several chains in one process apart', async () => {
    const [one, other] = await Promise.all([start(), start()])
    expect(one.rpcUrl).not.to.equal(other.rpcUrl)
    await one.provider.request({ method: 'evm_mine', params: [] })
    expect(await one.provider.request({ method: 'eth_blockNumber', params: [] })).to.equal('0x1')
    expect(await other.provider.request({ method: 'eth_blockNumber', params: [] })).to.equal('0x0')
  })

  it('says EADDRINUSE for a port that is taken, and takes it when it is free again', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const { port } = blocker.address() as AddressInfo
    const error = await startChain({ port }).catch((reason: unknown) => reason)
    expect(error).to.have.property('code', 'EADDRINUSE')
    blocker.close()
    await once(blocker, 'close')
    const first = await startChain({ port })
    await first.close()
    expect((await start({ port })).rpcUrl).to.equal(`http://127.0.0.1:${port}`)
  })

  it('mines a block per transaction, and a reverted one is no error of sending', async () => {
    const chain = await start()
    const { hash } = await testSigner(chain).sendTransaction({ data: '0xfe', gasLimit: 100_000n })
    const receipt = (await chain.provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })) as object
    expect(receipt).to.include({ status: '0x0', blockNumber: '0x1' })
  })

  it('makes no block for a transaction when told a block time', async () => {
    const chain = await start({ blockTimeSeconds: 3600 })
    const signer = testSigner(chain)
    const { hash } = await signer.sendTransaction({ to: signer.address })
    expect(await chain.provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })).to.equal(null)
  })

  it('mines at intervals when told a block time', async () => {
    const chain = await start({ blockTimeSeconds: 0.2 })
    const signer = testSigner(chain)
    const sent = await signer.sendTransaction({ to: signer.address })
    const deadline = Date.now() + 5000
    while (Date.now() < deadline) {
      if (await chain.provider.request({ method: 'eth_getTransactionReceipt', params: [sent.hash] })) return
    }
    expect.fail('not mined')
  })

  it('does not run ahead of the clock', async () => {
    const chain = await start()
    for (let block = 0; block < 50; block++) await chain.provider.request({ method: 'evm_mine', params: [] })
    const head = (await chain.provider.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as {
      timestamp: string
    }
    expect(Number(head.timestamp)).to.be.at.most(Date.now() / 1000 + 1)
  })
})
