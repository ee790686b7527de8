import { expect } from 'chai'
import { computeAddress, Wallet } from 'ethers'
import { keyManagerInterface } from '../../../../contracts/deploy/profile.ts'
import { relayNonce, validityWindow } from '../../../../contracts/lsp25.ts'
import { sendWei, setSomeData, type RelayClient } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

describe('follower', () => {
  let chain: RelayChain
  let server: RelayServer
  let client: RelayClient
  let channel = 0n

  before(async () => {
    chain = await startRelayChain('anvil', 3)
    server = await startRelayServer({
      rpcUrl: chain.node.rpcUrl,
      signerKeys: chain.signerKeys,
      config: { chain: { rpcUrls: [chain.node.rpcUrl], confirmations: 8 } },
      timings: { replaceAfterMs: 600, resendAfterMs: 300, lostAfterMs: 300 },
    })
    client = chain.client(server.url)
  })
  beforeEach(() => channel++)
  afterEach(() => chain.node.request('evm_setAutomine', true))
  after(async () => {
    await server.close()
    await chain.close()
  })

  const accept = async (call: Parameters<RelayClient['execute']>[0]): Promise<string> => {
    const { status, json } = await client.execute(call)
    expect(status, JSON.stringify(json)).to.equal(200)
    return json.transactionHash ?? ''
  }
  const statusOf = async (hash: string) => (await client.status(hash)).json as unknown as Status
  const becomes = (hash: string, wanted: (status: Status) => boolean) => until(async () => wanted(await statusOf(hash)))
  /** What is charged, once nothing is reserved any more. */
  const used = async () => {
    await until(async () => (await server.services.relays.countSince(0)).pending === 0)
    const { json } = await client.quota()
    return Number(json['totalQuota']) - Number(json['quota'])
  }
  const mine = (blocks = 1) => chain.node.request('anvil_mine', blocks)

  it('charges the gas that was used, also when the call reverts', async () => {
    const before = await used()
    const hash = await accept({ channel })
    await becomes(hash, ({ status }) => status === 'succeeded')
    const { charged, gasUsed, block } = await statusOf(hash)
    const receipt = await chain.receipt(hash)
    expect(gasUsed).to.equal(Number(receipt?.gasUsed))
    expect(charged).to.deep.equal({ amount: gasUsed, unit: 'gas' })
    expect(block).to.not.equal(null)
    expect(await used()).to.equal(before + Number(gasUsed))

    // Both succeed when they are tried; the first one moves the balance that the second one wants.
    await chain.node.request('evm_setAutomine', false)
    const balance = BigInt(await chain.node.request<string>('eth_getBalance', chain.profile.address, 'latest'))
    const payload = transferOf(balance)
    const hashes = [
      await accept({ channel: channel + 500n, payload }),
      await accept({ channel: channel + 600n, payload }),
    ]
    await mine()
    for (const each of hashes) await becomes(each, ({ status }) => status !== 'pending')
    const statuses = await Promise.all(hashes.map(statusOf))
    expect(statuses.map(({ status }) => status)).to.deep.equal(['succeeded', 'reverted'])
    const sum = statuses.reduce((total, one) => total + Number(one.gasUsed), 0)
    expect(await used()).to.equal(before + Number(gasUsed) + sum)
  })

  it('sends again what a reorganisation has dropped, and charges it once', async () => {
    const before = await used()
    const hashes = [await accept({ channel }), await accept({ channel, id: 1n }), await accept({ channel, id: 2n })]
    for (const hash of hashes) await becomes(hash, ({ status }) => status === 'succeeded')
    const blocks = await Promise.all(hashes.map(async (hash) => (await statusOf(hash)).block?.hash))

    await chain.node.request('anvil_reorg', 3, [])
    expect(await chain.receipt(hashes[2])).to.equal(null)

    for (const [index, hash] of hashes.entries()) {
      await becomes(hash, ({ status, block }) => status === 'succeeded' && block?.hash !== blocks[index])
      const receipt = await chain.receipt((await statusOf(hash)).transactionHash)
      expect(receipt?.status).to.equal('0x1')
    }
    const gas = (await Promise.all(hashes.map(statusOf))).reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0)
    expect(await used()).to.equal(before + gas)
  })

  it('raises the fees of what is not mined, and knows it by every hash', async () => {
    await chain.node.request('evm_setAutomine', false)
    const hash = await accept({ channel })
    const first = await chain.node.request<Sent>('eth_getTransactionByHash', hash)
    // An attempt is stored before the node has it.
    await until(async () => {
      const [, second] = (await statusOf(hash)).attempts
      return (
        second !== undefined && (await chain.node.request('eth_getTransactionByHash', second.transactionHash)) !== null
      )
    })
    await mine()
    await becomes(hash, ({ status }) => status === 'succeeded')
    const { attempts, transactionHash } = await statusOf(hash)
    expect(transactionHash).to.not.equal(hash)
    for (const attempt of attempts) {
      expect((await statusOf(attempt.transactionHash)).transactionHash).to.equal(transactionHash)
    }
    // The node drops what was replaced.
    expect(await chain.node.request('eth_getTransactionByHash', hash)).to.equal(null)
    const mined = await chain.node.request<Sent>('eth_getTransactionByHash', transactionHash)
    expect(mined).to.include({ type: '0x2', nonce: first.nonce })
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
      expect(Number(mined[fee]), fee).to.be.at.least(Number(first[fee]) * 1.1)
    }
  })

  it('raises the fees once while the chain stands still', async () => {
    await chain.node.request('evm_setAutomine', false)
    const countOf = async (hash: string) => (await statusOf(hash)).attempts.length
    const hashes: string[] = []
    // The first call would be raised again before the last one is raised at all.
    for (const offset of [800n, 801n, 802n]) {
      const hash = await accept({ channel: channel + offset })
      hashes.push(hash)
      await until(async () => (await countOf(hash)) >= 2)
    }
    expect(await Promise.all(hashes.map(countOf))).to.deep.equal([2, 2, 2])
    await mine()
    for (const hash of hashes) await becomes(hash, ({ status }) => status === 'succeeded')
  })

  it('takes another nonce when its own was used by something else, while other signers are followed', async () => {
    // Not final yet: each of these accounts is looked at again and again.
    const others = Array.from({ length: 3 }, (_, index) => accept({ channel: channel + 700n + BigInt(index) }))
    const accounts = (await Promise.all(others)).map((hash) =>
      chain.node.request<Sent>('eth_getTransactionByHash', hash),
    )
    expect(new Set((await Promise.all(accounts)).map(({ from }) => from)).size).to.be.greaterThan(1)
    await chain.node.request('evm_setAutomine', false)
    const hash = await accept({ channel })
    await useNonceUp(hash)
    await chain.node.request('evm_setAutomine', true)
    await becomes(hash, ({ status }) => status === 'succeeded')
    const { attempts, transactionHash } = await statusOf(hash)
    expect(attempts.length).to.be.greaterThanOrEqual(2)
    expect((await chain.receipt(transactionHash))?.status).to.equal('0x1')
    await accept({ channel, id: 1n })
  })

  it('gives up what cannot be executed any more, and charges nothing', async () => {
    const before = await used()
    await chain.node.request('evm_setAutomine', false)
    const hash = await accept({ channel })
    // The same call, sent by somebody else: the channel's nonce is used, and so is the account's.
    await useNonceUp(hash)
    const { transaction } = client.sign({ channel, payload: setSomeData('0x77') })
    const data = keyManagerInterface.encodeFunctionData('executeRelayCall', [
      transaction.signature,
      relayNonce(channel, 0n),
      0n,
      transaction.abi,
    ])
    await chain.node.wallet.sendTransaction({ to: chain.profile.keyManager, data, gasLimit: 500_000n })
    await mine()
    await chain.node.request('evm_setAutomine', true)
    await becomes(hash, ({ status }) => status === 'abandoned')
    expect(await used()).to.equal(before)
    expect((await statusOf(hash)).charged?.amount ?? 0).to.equal(0)
    await accept({ channel, id: 1n })
  })

  it('does not send again what is past its validity window, leaves no gap, and charges what that costs', async () => {
    const before = await used()
    await chain.node.request('evm_setAutomine', false)
    const { timestamp } = await chain.node.request<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
    const end = Number(timestamp) + 30
    const hash = await accept({ channel, validityTimestamps: validityWindow(0, end) })
    await chain.node.request('anvil_dropTransaction', hash)
    await chain.node.request('evm_setNextBlockTimestamp', end + 10)
    await mine()
    await becomes(hash, ({ status }) => status === 'pending')
    await until(async () => (await count('pending')) > (await count('latest')))
    await mine()
    await becomes(hash, ({ status }) => status === 'abandoned')
    expect((await statusOf(hash)).charged).to.deep.equal({ amount: 21_000, unit: 'gas' })
    expect(await used()).to.equal(before + 21_000)
    expect(await chain.receipt(hash)).to.equal(null)
    await chain.node.request('evm_setAutomine', true)
    await accept({ channel })
  })

  /** Of all signers together. */
  const count = async (at: string) => {
    const counts = chain.signers.map((signer) => chain.node.request<string>('eth_getTransactionCount', signer, at))
    return (await Promise.all(counts)).reduce((sum, one) => sum + Number(one), 0)
  }

  /** Mines a transaction of the signer's that the server knows nothing of, in place of this one. */
  async function useNonceUp(hash: string): Promise<void> {
    const { nonce, from } = await chain.node.request<Sent>('eth_getTransactionByHash', hash)
    await chain.node.request('anvil_dropTransaction', hash)
    const key = chain.signerKeys.find((one) => computeAddress(one).toLowerCase() === from)
    const other = new Wallet(key ?? '', chain.node.wallet.provider)
    await other.sendTransaction({
      to: other.address,
      nonce: Number(nonce),
      gasLimit: 21_000n,
      maxFeePerGas: 10n ** 11n,
    })
    await mine()
  }
})

/** The whole balance to nobody. */
const transferOf = (valueWei: bigint) => sendWei('0x000000000000000000000000000000000000dEaD', valueWei)

interface Sent {
  readonly type: string
  readonly from: string
  readonly nonce: string
  readonly maxFeePerGas: string
  readonly maxPriorityFeePerGas: string
}

interface Status {
  readonly status: string
  readonly transactionHash: string
  readonly attempts: readonly { readonly transactionHash: string }[]
  readonly block: { readonly hash: string } | null
  readonly gasUsed: number | null
  readonly charged: { readonly amount: number; readonly unit: string } | null
}
