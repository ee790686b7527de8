import { expect } from 'chai'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'
import { setSomeData, type RelayClient } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const ETHER = 10n ** 18n

for (const kind of ['PGlite', 'PostgreSQL'] as const) {
  describe(`a transaction that the node refuses for good, on ${kind}`, () => {
    let postgres: PostgresServer | undefined
    let chain: RelayChain
    let server: RelayServer
    let client: RelayClient
    let channel = 0n
    let aheadMs = 0

    before(async () => {
      postgres = kind === 'PostgreSQL' ? await startPostgres() : undefined
      chain = await startRelayChain('anvil', 2)
      server = await startRelayServer({
        rpcUrl: chain.node.rpcUrl,
        signerKeys: chain.signerKeys,
        ...(postgres && { databaseUrl: await postgres.createDatabase() }),
        timings: { resendAfterMs: 200, refusedAfterMs: 1_000 },
        clock: { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs },
      })
      client = chain.client(server.url)
    })
    beforeEach(() => (channel += 10n))
    afterEach(async () => {
      await chain.node.request('evm_setAutomine', true)
      await setBlockGasLimit(100_000_000)
      for (const signer of chain.signers) await setBalance(signer, 10n * ETHER)
      await until(isIdle)
    })
    after(async () => {
      await server.close()
      await chain.close()
      await postgres?.close()
    })

    const isIdle = async () => (await server.services.relays.countSince(0)).pending === 0
    const setBalance = (address: string | undefined, wei: bigint) =>
      chain.node.request('anvil_setBalance', address, `0x${wei.toString(16)}`)
    const setBlockGasLimit = async (gas: number) => {
      await chain.node.request('evm_setBlockGasLimit', `0x${gas.toString(16)}`)
      await chain.node.request('anvil_mine', 1)
      // What the server knows of the latest block is out of date by then.
      aheadMs += 1_001
    }
    const accept = async (call: Parameters<RelayClient['execute']>[0]): Promise<string> => {
      const { status, json } = await client.execute(call)
      expect(status, JSON.stringify(json)).to.equal(200)
      return json.transactionHash ?? ''
    }
    const statusOf = async (hash: string) => (await client.status(hash)).json['status']
    const used = async () => {
      const { json } = await client.quota()
      return Number(json['totalQuota']) - Number(json['quota'])
    }
    const senderOf = async (hash: string) => {
      const { from } = await chain.node.request<{ from: string }>('eth_getTransactionByHash', hash)
      return chain.signers.find((signer) => signer.toLowerCase() === from) ?? from
    }
    const signersAre = () => server.readinessChecks.find(({ name }) => name === 'signers')?.check()
    const refusals = async (signer: string): Promise<number> => {
      const text = await server.metrics.getSingleMetricAsString('touchstone_signer_refusals')
      return Number(new RegExp(`signer="${signer}"\\} (\\d+)`).exec(text)?.[1])
    }
    /** Accepts calls of one channel, whose transactions the node loses. */
    async function acceptAndLose(
      calls: number,
      payload = setSomeData(),
    ): Promise<{ hashes: string[]; signer: string }> {
      await chain.node.request('evm_setAutomine', false)
      const hashes: string[] = []
      for (let id = 0n; id < calls; id++) hashes.push(await accept({ channel, id, payload }))
      const signer = await senderOf(hashes[0] ?? '')
      for (const hash of hashes.toReversed()) await chain.node.request('anvil_dropTransaction', hash)
      await chain.node.request('evm_setAutomine', true)
      return { hashes, signer }
    }

    it('is given up with what follows in its channel when the balance has fallen; the others go on meanwhile', async () => {
      const before = await used()
      const { hashes, signer } = await acceptAndLose(2)
      // Enough to use a nonce up, and no more.
      await setBalance(signer, ETHER / 10_000n)
      await until(async () => (await refusals(signer)) >= 2)
      expect(await signersAre()).to.equal('degraded')
      for (let index = 0n; index < 4n; index++) {
        const hash = await accept({ channel: channel + 1n + index })
        expect(await senderOf(hash)).to.not.equal(signer)
        await until(async () => (await statusOf(hash)) === 'succeeded')
      }
      await until(async () => (await statusOf(hashes[0] ?? '')) === 'abandoned')
      // It could be paid for now, and would revert: the one before it is gone.
      await setBalance(signer, 10n * ETHER)
      await until(async () => (await statusOf(hashes[1] ?? '')) !== 'pending')
      expect(await chain.receipt(hashes[0])).to.equal(null)
      const counts = await server.services.relays.countSince(0)
      expect(counts).to.include({ reverted: 0, pending: 0, abandoned: 2 })
      await until(async () => (await refusals(signer)) === 0)
      await until(async () => (await signersAre()) === 'ok')
      // The channel is free, and what was reserved is back.
      const usedByOthers = (await used()) - before
      const again = await accept({ channel, payload: setSomeData('0x02') })
      await until(async () => (await statusOf(again)) === 'succeeded')
      expect(usedByOthers).to.be.lessThan(4 * 150_000)
    })

    it('keeps its signer out while not even its nonce can be used up, and takes it in again with a balance', async () => {
      const { hashes, signer } = await acceptAndLose(1)
      await setBalance(signer, 0n)
      await until(async () => (await refusals(signer)) > 4)
      const body = client.sign({ channel, id: 1n })
      // Those before it are with the signer that is out.
      const { status, json, headers } = await client.post(body)
      expect([status, json.code, json.broadcast]).to.deep.equal([503, 'SIGNERS_UNAVAILABLE', false])
      expect(Number(headers.get('retry-after'))).to.be.greaterThan(0)
      expect(await senderOf(await accept({ channel: channel + 1n }))).to.not.equal(signer)
      expect(await statusOf(hashes[0] ?? '')).to.equal('pending')
      await setBalance(signer, 10n * ETHER)
      await until(async () => (await statusOf(hashes[0] ?? '')) !== 'pending')
      await until(async () => (await signersAre()) === 'ok')
      const hash = await accept({ channel: channel + 2n })
      await until(async () => (await statusOf(hash)) === 'succeeded')
    })

    it('is given up when blocks have become too small for it, and calls that fit in none are refused', async () => {
      const payload = setSomeData(`0x${'01'.repeat(3200)}`)
      const { hashes } = await acceptAndLose(1, payload)
      await setBlockGasLimit(1_500_000)
      await until(async () => (await statusOf(hashes[0] ?? '')) === 'abandoned')
      const { status, json } = await client.execute({ channel, payload })
      expect([status, json.code]).to.deep.equal([422, 'RELAY_CALL_REVERTS'])
    })

    it('does not come of gas beyond what a block holds, which is added in case', async () => {
      const payloads = ['a', 'b'].map((digit) => setSomeData(`0x${'01'.repeat(3200)}`, `0x${digit.repeat(64)}`))
      const first = await accept({ channel, payload: payloads[0] ?? '' })
      await until(async () => (await statusOf(first)) === 'succeeded')
      const gasUsed = Number((await chain.receipt(first))?.gasUsed)
      await setBlockGasLimit(Math.floor(gasUsed * 1.1))
      const second = await accept({ channel, id: 1n, payload: payloads[1] ?? '' })
      await until(async () => (await statusOf(second)) !== 'pending')
      expect(await statusOf(second)).to.equal('succeeded')
    })
  })
}
