import { expect } from 'chai'
import { NonceManager, Wallet } from 'ethers'
import { check, UsageError } from '../../conformance/index.ts'
import type { Edition, Report } from '../../conformance/lib/report-types.ts'
import { provisionFixture, type Fixture } from '../../contracts/deploy/fixture.ts'
import { NodeProvider } from '../../contracts/deploy/node-provider.ts'
import { parseConfig } from '../../server/config/load.ts'
import { boundless } from '../../server/services/ledger/budgets.ts'
import { startServer, type RunningServer } from '../../server/start.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'
import { startCallers } from '../../testbed/trials/callers.ts'
import { startAnvil } from '../../testbed/test/support/nodes.ts'

/** The clauses with a verdict that did not pass, and why. */
function notPassed({ clauses }: Report): string[] {
  return clauses
    .filter(({ level, status }) => level !== 'unspecified' && status !== 'passed')
    .map(({ id, tests }) => `${id}: ${tests.map(({ error, reason }) => error?.message ?? reason ?? '').join('; ')}`)
}

describe('the suite and the reference server', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed()
  })
  after(() => testbed.close())

  const run = (options: object = {}) =>
    check({ relayUrl: testbed.relayUrl, fixture: testbed.fixture, receiptTimeoutMs: 20_000, ...options })

  it('agree, in two runs at the same time', async () => {
    for (const report of await Promise.all([run(), run()])) {
      expect(notPassed(report)).to.deep.equal([])
      expect(report.verdict).to.equal('conformant')
    }
  })

  it('agree over a URL that ends in a slash', async () => {
    const report = await run({ relayUrl: `${testbed.relayUrl}/`, only: 'relay.quota' })
    expect(notPassed(report)).to.deep.equal([])
  })

  it('name every transaction that a run caused, and what it cost', async () => {
    const report = await run({ only: 'relay.execute.channels' })
    // The first call of a run is in channel 0, whatever is asked.
    expect(report.transactions).to.have.length(4)
    for (const { hash, status, gasUsed } of report.transactions) {
      expect(hash).to.match(/^0x[0-9a-f]{64}$/)
      expect(status).to.equal('succeeded')
      expect(Number(gasUsed)).to.be.above(21_000)
    }
  })

  it('keep to the budget: what is beyond it is untestable', async () => {
    const report = await run({ only: 'relay.execute', maxTransactions: 3 })
    expect(report.transactions).to.have.length(3)
    expect(report.verdict).to.equal('partial')
    expect(report.clauses.find(({ id }) => id === 'relay.execute.repeat')?.tests[0]?.reason).to.include('budget of 3')
  })

  it('spend nothing when asked to', async () => {
    const count = (): Promise<unknown> => testbed.chain.provider.request({ method: 'eth_blockNumber' })
    const before = await count()
    const report = await run({ readOnly: true })
    expect(await count()).to.equal(before)
    expect(report.transactions).to.deep.equal([])
    expect(report.clauses.filter(({ status }) => status === 'failed')).to.deep.equal([])
    expect(report.clauses.find(({ id }) => id === 'relay.quota.window')?.status).to.equal('passed')
    expect(report.verdict).to.equal('partial')
  })

  it('judge nothing with a fixture of another chain', async () => {
    const fixture = { ...testbed.fixture, chain: { ...testbed.fixture.chain, chainId: 42 } }
    const thrown: unknown = await run({ fixture }).catch((error: unknown) => error)
    expect(thrown).to.be.instanceOf(UsageError)
    expect(String(thrown)).to.include('the fixture is of chain 42, and the node is of chain 31337')
  })

  it('blame nobody for a fixture of another profile', async () => {
    const { profile, controllers } = testbed.fixture
    const others: Fixture[] = [
      { ...testbed.fixture, profile: { ...profile, address: profile.keyManager } },
      { ...testbed.fixture, controllers: { ...controllers, full: controllers.noSign } },
    ]
    for (const fixture of others) {
      const report = await run({ fixture })
      expect(report.notes.join()).to.include('the fixture does not fit the chain')
      expect(report.clauses.filter(({ status }) => status === 'failed')).to.deep.equal([])
      expect(report.clauses.find(({ id }) => id === 'eth-rpc.eth_chainId.success')?.status).to.equal('passed')
      expect(report.verdict).to.equal('partial')
    }
  })

  it('blame nobody for a key manager that knows no permission to relay, as those of contracts 0.11', async () => {
    const { profile } = testbed.fixture
    const { provider } = testbed.chain
    const code = (await provider.request({ method: 'eth_getCode', params: [profile.keyManager, 'latest'] })) as string
    const setCode = (changed: string) =>
      provider.request({ method: 'hardhat_setCode', params: [profile.keyManager, changed] })
    // PUSH3 of the permission, which becomes one that every controller holds.
    await setCode(code.replace('62400000', '62000000'))
    try {
      const { clauses } = await run({ only: 'relay.execute.permission' })
      const tests = clauses.find(({ id }) => id === 'relay.execute.permission')?.tests ?? []
      expect(tests.map(({ reason }) => reason)).to.deep.equal([
        'the key manager of the profile executes this call',
        'the run could send none of these requests',
      ])
    } finally {
      await setCode(code)
    }
  })

  it('blame nobody for a chain that does not answer', async () => {
    const report = await run({ rpcUrl: 'http://127.0.0.1:1' })
    expect(report.notes.join()).to.include('the chain cannot be asked')
    expect(report.clauses.filter(({ status }) => status === 'failed')).to.deep.equal([])
    expect(report.clauses.find(({ id }) => id === 'relay.quota.window')?.status).to.equal('passed')
    expect(report.verdict).to.equal('partial')
  })

  it('put no private key into a report', async () => {
    const text = JSON.stringify(await run({ only: 'relay' }))
    const { controllers, funder } = testbed.fixture
    for (const account of [...Object.values(controllers), ...(funder ? [funder] : [])]) {
      expect(text.includes(account.privateKey.slice(2))).to.equal(false)
    }
  })
})

describe('the suite and the reference server, configured for another edition', () => {
  const only = 'relay.quota,relay.execute.post'
  for (const [edition, quota] of [
    ['lip', { windowSeconds: 300 }],
    ['lukso-2026-02', { acceptedMessages: ['hash', 'text'] }],
  ] as const) {
    it(`agree in ${edition}, and not in the others`, async () => {
      const plans = { default: { model: 'gas', options: {} } }
      const testbed = await startTestbed({ config: { quota: { plans, ...quota } } })
      try {
        const run = (judged: Edition) =>
          check({ relayUrl: testbed.relayUrl, ethRpcUrl: null, fixture: testbed.fixture, edition: judged, only })
        const report = await run(edition)
        expect(notPassed(report)).to.deep.equal([])
        expect(report.target.relayUrl).to.equal(`${testbed.relayUrl}${edition === 'lip' ? '' : '/api'}`)
        expect(report.suite.edition).to.equal(edition)
        const other = await run(edition === 'lip' ? 'lukso-2026-02' : 'lip')
        const failed = other.clauses.filter(({ status }) => status === 'failed').map(({ id }) => id)
        expect(failed).to.include(edition === 'lip' ? 'relay.quota.hash' : 'relay.quota.window')
      } finally {
        await testbed.close()
      }
    })
  }
})

describe('the suite and the reference server with bundles', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed({ bundles: true })
  })
  after(() => testbed.close())

  it('agree', async () => {
    const { relayUrl, fixture } = testbed
    const report = await check({ relayUrl, fixture, receiptTimeoutMs: 20_000 })
    expect(notPassed(report)).to.deep.equal([])
    expect(report.verdict).to.equal('conformant')
  })

  it('agree about the relay, while calls of the suite share transactions with those of others', async () => {
    const { relayUrl, fixture, chain } = testbed
    const world = { fixture, chainId: fixture.chain.chainId }
    // With 16, half of the suite's calls meet another one, and by chance a quarter in one run of 25.
    const others = startCallers({ world, workers: 32, firstChannel: 1_000_000n, url: () => relayUrl })
    // Those whose calls are sent.
    const sending = [
      'post',
      'on-behalf',
      'execute-relay-call',
      'hash-of-transaction',
      'channel-order',
      'channels',
      'repeat',
    ]
    const only = sending.map((clause) => `relay.execute.${clause}`).join(',')
    const report = await check({ relayUrl, fixture, receiptTimeoutMs: 20_000, only })
    await others.finish()
    expect(notPassed(report)).to.deep.equal([])
    const receivers = await Promise.all(
      report.transactions.map(async ({ hash }) => {
        const found: unknown = await chain.provider.request({ method: 'eth_getTransactionByHash', params: [hash] })
        return String((found as { to: unknown }).to).toLowerCase()
      }),
    )
    const shared = receivers.filter((to) => to !== fixture.profile.keyManager.toLowerCase())
    expect(shared.length, `of ${receivers.length}`).to.be.greaterThan(receivers.length / 4)
  })
})

describe('the suite and the reference server on anvil', () => {
  let anvil: Awaited<ReturnType<typeof startAnvil>>
  let server: RunningServer

  before(async () => {
    anvil = await startAnvil()
  })
  after(async () => {
    await server.close()
    await anvil.close()
  })

  it('agree', async () => {
    const { rpcUrl } = anvil
    const provider = new NodeProvider(rpcUrl, undefined, { pollingInterval: 20, cacheTimeout: -1 })
    const funder = Wallet.fromPhrase('test test test test test test test test test test test junk')
    const signer = new NonceManager(funder.connect(provider))
    const urls = { rpcUrl, relayUrl: '', ethRpcBaseUrl: '' }
    const fixture = await provisionFixture(signer, { ...urls, profileFundsWei: 0n })
    const relayer = Wallet.createRandom()
    await (await signer.sendTransaction({ to: relayer.address, value: 10n ** 20n })).wait()
    provider.destroy()

    const config = parseConfig(
      {
        listen: { port: 0 },
        chain: { rpcUrls: [rpcUrl], confirmations: 0 },
        database: { folder: null },
        registration: 'open',
        unregistered: boundless,
        log: { level: 'warn' },
      },
      'test',
      process.cwd(),
    )
    const secrets = { signerKeys: [relayer.privateKey], keystores: [] }
    server = await startServer({ config, secrets, baseFolder: process.cwd() })
    const report = await check({ relayUrl: server.url, fixture, receiptTimeoutMs: 20_000 })
    expect(notPassed(report)).to.deep.equal([])
    expect(report.verdict).to.equal('conformant')
  })
})
