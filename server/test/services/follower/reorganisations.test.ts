import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountsWithOpenRelays } from '../../../services/ledger/open-relays.ts'
import { createHeadReader } from '../../../services/follower/reorganisations.ts'
import { keyManagerInterface } from '../../../../contracts/deploy/profile.ts'
import { type RelayClient, setSomeData } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

describe('a reorganisation that is deeper than chain.confirmations', () => {
  let chain: RelayChain
  let server: RelayServer
  let client: RelayClient

  let folder: string

  async function start(): Promise<void> {
    server = await startRelayServer({
      rpcUrl: chain.node.rpcUrl,
      signerKeys: chain.signerKeys,
      config: {
        chain: { rpcUrls: [chain.node.rpcUrl], confirmations: 1 },
        database: { folder: join(folder, 'ledger') },
      },
      timings: { replaceAfterMs: 60_000, resendAfterMs: 300, lostAfterMs: 300 },
    })
    client = chain.client(server.url)
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-deep-'))
    chain = await startRelayChain('anvil', 1)
    await start()
  })
  afterEach(async () => {
    await server.close()
    await chain.close()
    await rm(folder, { recursive: true, force: true })
  })

  const status = async (hash: string) => (await client.status(hash)).json
  const quotaUsed = async () => {
    const { json } = await client.quota()
    return Number(json['totalQuota']) - Number(json['quota'])
  }

  /** Three calls of one channel, mined and held to be final. @returns their hashes */
  async function executeThree(): Promise<string[]> {
    const hashes: string[] = []
    for (const id of [0n, 1n, 2n]) {
      const { status, json } = await client.execute({ channel: 1n, id })
      expect(status, JSON.stringify(json)).to.equal(200)
      hashes.push(json.transactionHash ?? '')
    }
    await chain.node.request('anvil_mine', 2)
    const { db } = server.database
    const isFinal = async () => (await accountsWithOpenRelays(db)).length === 0
    await until(isFinal)
    return hashes
  }

  /** Waits until a call is mined: anvil answers before that. */
  async function minedReceipt(hash: string | undefined) {
    await until(async () => (await chain.receipt(hash)) !== null)
    return chain.receipt(hash)
  }

  /** @returns what was charged for calls that are mined again */
  async function expectMinedAgain(hashes: readonly string[]): Promise<number> {
    for (const hash of hashes) {
      const receipt = await minedReceipt(hash)
      await until(async () => {
        const { status: now, block } = (await status(hash)) as { status?: string; block?: { hash: string } | null }
        return now === 'succeeded' && block?.hash === receipt?.blockHash
      })
    }
    const receipts = await Promise.all(hashes.map((hash) => chain.receipt(hash)))
    return receipts.reduce((sum, receipt) => sum + Number(receipt?.gasUsed), 0)
  }

  it('takes back what was promised for a while only: it is sent again, charged once, and the channel goes on', async () => {
    const hashes = await executeThree()
    await chain.node.request('anvil_reorg', 5, [])
    expect(await chain.receipt(hashes[0])).to.equal(null)

    const next = client.sign({ channel: 1n, id: 3n })
    await until(async () => (await client.post(next)).status === 200)
    hashes.push((await client.post(next)).json.transactionHash ?? '')
    const gas = await expectMinedAgain(hashes)
    await until(async () => (await quotaUsed()) === gas)
  })

  it('is noticed by a server that did not run meanwhile', async () => {
    const hashes = await executeThree()
    // Nobody is left who would look at the account for another reason.
    await until(async () => !/^touchstone_jobs.* [1-9]/m.test(await server.metrics.metrics()))
    await server.close()
    await chain.node.request('anvil_reorg', 5, [])
    await start()
    await expectMinedAgain(hashes)
  })

  it('tells another end than before, when the chain holds a call again and it fails there', async () => {
    const hashes = await executeThree()
    const { transaction } = client.sign({ channel: 1n, id: 0n, payload: setSomeData('0x99') })
    const { signature, nonce, abi } = transaction
    const data = keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, abi])
    const rival = { from: chain.sender.address, to: chain.profile.keyManager, data }
    const stored = await server.database.db.selectFrom('attempts').select(['hash', 'raw']).execute()
    const raws = hashes.map((hash) => stored.find((one) => one.hash === hash)?.raw)
    await chain.node.request('anvil_reorg', 5, [[rival, 0], ...raws.map((raw) => [raw, 1])])
    expect((await chain.receipt(hashes[0]))?.status).to.equal('0x0')

    await until(async () => (await status(hashes[0] ?? ''))['status'] === 'reverted')
    expect((await client.execute({ channel: 2n })).status).to.equal(200)
  })

  it('tells what becomes of a call that was given up, when what had its nonces is gone and the call is mined', async () => {
    const call = client.sign({ channel: 1n })
    await chain.node.request('evm_setAutomine', false)
    const hash = (await client.post(call)).json.transactionHash ?? ''
    const { raw } = await server.database.db
      .selectFrom('attempts')
      .select('raw')
      .where('hash', '=', hash)
      .executeTakeFirstOrThrow()
    // Somebody else takes the account's nonce, and the one of the channel.
    const { transaction } = client.sign({ channel: 1n, payload: setSomeData('0x99') })
    const { signature, nonce, abi } = transaction
    const data = keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, abi])
    const from = chain.signers[0]
    await chain.node.request('anvil_impersonateAccount', from)
    const thief = { from, to: from, value: '0x0', nonce: '0x0', gasPrice: '0x174876e800' }
    await chain.node.request('eth_sendTransaction', thief)
    await chain.node.request('eth_sendTransaction', { from: chain.sender.address, to: chain.profile.keyManager, data })
    await chain.node.request('anvil_stopImpersonatingAccount', from)
    await chain.node.request('evm_mine')
    await until(async () => (await status(hash))['status'] === 'abandoned')
    expect(await status(hash)).to.deep.include({ block: null, gasUsed: null })
    expect(await quotaUsed()).to.equal(0)

    await chain.node.request('anvil_reorg', 1, [[raw, 0]])
    const receipt = await chain.receipt(hash)
    expect(receipt?.status).to.equal('0x1')
    await chain.node.request('evm_setAutomine', true)
    await until(async () => (await status(hash))['status'] === 'succeeded')
    await until(async () => (await quotaUsed()) === Number(receipt?.gasUsed))
    const next = await client.execute({ channel: 2n })
    expect(next.status).to.equal(200)
    const other = await minedReceipt(next.json.transactionHash)
    await until(async () => (await quotaUsed()) === Number(receipt?.gasUsed) + Number(other?.gasUsed))
  })

  it('uses up a nonce that somebody else had used before, so that the calls behind it are mined again', async () => {
    await server.close()
    const from = chain.signers[0]
    await chain.node.request('anvil_impersonateAccount', from)
    await chain.node.request('eth_sendTransaction', { from, to: from, value: '0x0' })
    await start()
    const hashes = await executeThree()
    await chain.node.request('anvil_reorg', 6, [])
    expect(Number(await chain.node.request('eth_getTransactionCount', from, 'latest'))).to.equal(0)
    await chain.node.request('anvil_stopImpersonatingAccount', from)
    await expectMinedAgain(hashes)
    expect(Number(await chain.node.request('eth_getTransactionCount', from, 'latest'))).to.equal(4)
  })
})

describe('the head that a look reads', () => {
  /** Hashes of the blocks that the node has, by number. */
  let blocks: string[]
  let nowMs: number
  let asked: number
  let replaced: number

  const upstream = {
    request: async <Result>(_method: string, params: readonly unknown[]) => {
      asked++
      const number = params[0] === 'latest' ? blocks.length - 1 : Number(params[0])
      const hash = blocks[number]
      const parentHash = blocks[number - 1]
      return (
        hash === undefined ? null : { number: `0x${number.toString(16)}`, hash, parentHash, timestamp: '0x1' }
      ) as Result
    },
    close: async () => {},
  }
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const createReader = (onReplaced = async () => void replaced++) => createHeadReader({ upstream, clock }, onReplaced)

  beforeEach(() => {
    blocks = ['0xa0', '0xa1', '0xa2']
    nowMs = asked = replaced = 0
  })

  it('is one that was replaced, also when the node had fewer blocks than before in between', async () => {
    const reader = createReader()
    await reader.read()
    blocks = ['0xa0', '0xb1']
    await reader.read()
    expect(replaced).to.equal(0)
    blocks = ['0xa0', '0xb1', '0xb2', '0xb3']
    expect(await reader.read()).to.deep.include({ number: 3, hash: '0xb3' })
    expect(replaced).to.equal(1)
  })

  it('is not one that was replaced, when a node that was behind has caught up', async () => {
    const reader = createReader()
    await reader.read()
    const all = [...blocks, '0xa3', '0xa4']
    blocks = ['0xa0', '0xa1']
    await reader.read()
    blocks = all
    await reader.read()
    expect(replaced).to.equal(0)
  })

  it('is told of again by the next read, when nobody could be told that it was replaced', async () => {
    const reader = createReader(async () => {
      if (++replaced === 1) throw new Error('the node has gone')
    })
    await reader.read()
    blocks = ['0xa0', '0xb1', '0xb2']
    await reader.read().then(
      () => expect.fail('it should have told of the failure'),
      (err: unknown) => expect(err).to.have.property('message', 'the node has gone'),
    )
    await reader.read()
    await reader.read()
    expect(replaced).to.equal(2)
  })

  it('is watched for an hour after the last look, and then the node is left alone', async () => {
    const reader = createReader()
    nowMs = 3_599_999
    await reader.watch()
    expect(asked).to.equal(1)
    await reader.read()
    nowMs += 3_599_999
    blocks = ['0xa0', '0xb1', '0xb2']
    await reader.watch()
    expect(replaced).to.equal(1)
    asked = 0
    nowMs++
    await reader.watch()
    expect(asked).to.equal(0)
  })
})
