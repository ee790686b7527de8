import { expect } from 'chai'
import { toBeHex } from 'ethers'
import { check, type Report } from '../../conformance/index.ts'
import { defineMutant, respond, type Mutant, type MutantTools } from '../../conformance/mutants/define.ts'
import { isQuotaSignedBy, nowSeconds, validQuota } from '../../conformance/mutants/lib/quota.ts'
import { bodyOf, isSignedByFull, wholeTransaction, type Transaction } from '../../conformance/mutants/lib/relay.ts'
import { loadMutants } from '../../conformance/mutants/load.ts'
import { serveMutant } from '../../conformance/mutants/serve.ts'
import { keyManagerAbi } from '../../conformance/lib/relay/abi.ts'
import { startTestbed, type Testbed } from '../testbed.ts'

/** Hands its call data, without the first word, to the address in that word. */
const forwarderCode =
  '0x6024600c60003960246000f36020360360206000376000600060203603600060006000355af160225760006000fd5b00'

function relayCallData({ signature, nonce, validityTimestamps, abi }: Transaction): string {
  return keyManagerAbi.encodeFunctionData('executeRelayCall', [signature, nonce, validityTimestamps, abi])
}

/** Relays that are not like the reference server, and right by the documents. */
describe('the suite accuses no relay that is only different', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed()
  })
  after(() => testbed.close())

  async function judge(mutant: Omit<Mutant, 'clause' | 'fault'>, options: object = {}): Promise<Report> {
    const broken: unknown[] = []
    const different = defineMutant({ clause: 'relay.versioning', fault: 'none', ...mutant })
    const server = { serverUrl: testbed.relayUrl, fixture: testbed.fixture }
    const served = await serveMutant(different, server, (error) => broken.push(error))
    try {
      const { fixture } = testbed
      const report = await check({ relayUrl: served.url, ethRpcUrl: null, fixture, receiptTimeoutMs: 3000, ...options })
      expect(broken).to.deep.equal([])
      return report
    } finally {
      await served.close()
    }
  }

  const failed = ({ clauses }: Report) => clauses.filter(({ status }) => status === 'failed').map(({ id }) => id)
  const observation = ({ clauses }: Report, id: string) => clauses.find((clause) => clause.id === id)?.observation

  it('that refuses in plain text, and with whatever status', async () => {
    const plain: Mutant['quota'] = async (request, forward) => {
      const response = await forward(request)
      const refused = response.status >= 400 && response.status !== 429
      return refused ? { status: 200, headers: {}, text: 'Invalid signature', json: undefined } : response
    }
    const report = await judge({ execute: plain, quota: plain })
    // A refusal with a status of success is not a clear one, as the standard wants it.
    expect(failed(report)).to.deep.equal([])
    expect(report.verdict).to.equal('passed')
  })

  it('that knows no channels', async () => {
    const without = (await loadMutants()).find(({ name }) => name === 'relay.execute.channels')
    const report = await judge({ ...without?.mutant })
    expect(failed(report)).to.deep.equal(['relay.execute.channels'])
    expect(report.verdict).to.equal('passed')
  })

  it('that sends refused calls as well, and pays for the revert', async () => {
    const report = await judge({
      async execute(request, forward, { fixture, chain }: MutantTools) {
        const response = await forward(request)
        const transaction = wholeTransaction(request)
        const isProfile = String(bodyOf(request)['address']).toLowerCase() === fixture.profile.address.toLowerCase()
        // What is malformed cannot be sent.
        if (response.status < 401 || response.status === 404 || !transaction || !isProfile) return response
        const data = relayCallData(transaction)
        const sent = { from: fixture.funder?.address, to: fixture.profile.keyManager, data, gas: '0x7a120' }
        // The node mines it, and answers with the revert.
        await chain('eth_sendTransaction', [sent]).catch(() => undefined)
        const block = (await chain('eth_getBlockByNumber', ['latest', true])) as { transactions: { hash: string }[] }
        return respond(200, { transactionHash: block.transactions[0]?.hash })
      },
    })
    // No transaction wasted, and the same hash again: recommended, by the standards.
    expect(failed(report)).to.have.members(['relay.execute.permission'])
    expect(observation(report, 'relay.execute.bad-signature')).to.include('a transaction was spent on it, and reverted')
    expect(report.transactions.some(({ status }) => status === 'reverted')).to.equal(true)
    expect(report.verdict).to.equal('passed')
  })

  it('that calls the key manager through a contract of its own', async () => {
    const from = testbed.fixture.funder?.address
    const provider = testbed.chain.provider
    const hash: unknown = await provider.request({
      method: 'eth_sendTransaction',
      params: [{ from, data: forwarderCode }],
    })
    const receipt: unknown = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    const { contractAddress } = receipt as { contractAddress: string }
    const report = await judge(
      {
        async execute(request, forward, tools) {
          const transaction = wholeTransaction(request)
          if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
          const data = `${toBeHex(tools.fixture.profile.keyManager, 32)}${relayCallData(transaction).slice(2)}`
          return respond(200, {
            transactionHash: await tools.chain('eth_sendTransaction', [{ from, to: contractAddress, data }]),
          })
        },
      },
      { only: 'relay.execute.execute-relay-call' },
    )
    expect(failed(report)).to.deep.equal([])
    expect(observation(report, 'relay.execute.execute-relay-call')).to.include('through another contract')
  })

  it('that keeps to the window of the public LSP15 text, in that edition and not in the other', async () => {
    const quota: Mutant['quota'] = async (request, forward, tools) => {
      if (!isQuotaSignedBy(tools.fixture.controllers.full, request)) return forward(request)
      const ahead = Number(bodyOf(request)['timestamp']) - nowSeconds()
      return Math.abs(ahead) <= 300 ? forward(validQuota(request, tools)) : respond(401, {})
    }
    const only = 'relay.quota.window'
    const lip = await judge({ quota }, { only, edition: 'lip' })
    expect(lip.verdict).to.equal('passed')
    expect(lip.clauses[0]?.text).to.include('300')
    expect(lip.clauses[0]?.observation).to.match(/clock edges at (299|300) s ago and (299|300|301) s ahead/)
    expect((await judge({ quota }, { only })).verdict).to.equal('nonconformant')
  })

  it('whose quota is used up', async () => {
    const report = await judge({
      execute: async () => respond(403, { message: 'Quota exceeded' }),
      quota: async (request, forward) => {
        const response = await forward(request)
        return response.status === 200 ? respond(200, { ...(response.json as object), quota: 0 }) : response
      },
    })
    expect(failed(report)).to.deep.equal([])
    expect(report.verdict).to.equal('partial')
    expect(observation(report, 'relay.execute.exhausted')).to.include('403')
  })
})
