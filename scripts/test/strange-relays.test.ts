import { expect } from 'chai'
import { loadLawful } from '../../conformance/altered/load.ts'
import { serveAlteration } from '../../conformance/altered/serve.ts'
import { check, type CheckOptions } from '../../conformance/index.ts'
import type { Report } from '../../conformance/lib/report-types.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'

/** What the suite says of lawful servers that `prove` sees spared. */
describe('the suite says what is different about a relay', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed()
  })
  after(() => testbed.close())

  async function judge(id: string, options: Partial<CheckOptions> = {}): Promise<Report> {
    const found = (await loadLawful()).find(({ name }) => name === id)
    if (!found) throw new Error(`no lawful server is named ${id}`)
    const broken: unknown[] = []
    const { relayUrl: serverUrl, fixture } = testbed
    const served = await serveAlteration(found.lawful, { serverUrl, fixture }, (error) => broken.push(error))
    try {
      const report = await check({ relayUrl: served.url, ethRpcUrl: null, fixture, receiptTimeoutMs: 3000, ...options })
      expect(broken).to.deep.equal([])
      return report
    } finally {
      await served.close()
    }
  }

  const failed = ({ clauses }: Report) => clauses.filter(({ status }) => status === 'failed').map(({ id }) => id)
  const observation = ({ clauses }: Report, id: string) => clauses.find((clause) => clause.id === id)?.observation

  it('that knows no channels', async () => {
    const report = await judge('knows-no-channels')
    expect(failed(report)).to.deep.equal(['relay.execute.channels'])
    expect(report.verdict).to.equal('passed')
  })

  it('that sends refused calls as well, and pays for the revert', async () => {
    const report = await judge('sends-refused-calls-and-pays-for-the-revert')
    // No transaction wasted, and the same hash again: recommended, by the standards.
    expect(failed(report)).to.have.members(['relay.execute.permission'])
    expect(observation(report, 'relay.execute.bad-signature')).to.include(
      'the target sent a transaction, which reverted',
    )
    expect(report.transactions.some(({ status }) => status === 'reverted')).to.equal(true)
    expect(report.verdict).to.equal('passed')
  })

  it('that calls the key manager through a contract of its own', async () => {
    const report = await judge('sends-through-a-forwarder', { only: 'relay.execute.execute-relay-call' })
    expect(failed(report)).to.deep.equal([])
    expect(observation(report, 'relay.execute.execute-relay-call')).to.include('through another contract')
  })

  it('that keeps to the window of the public LSP15 text, in that edition and not in the other', async () => {
    const id = 'keeps-the-window-of-the-public-text'
    const only = 'relay.quota.window'
    const lip = await judge(id, { only, edition: 'lip' })
    expect(lip.verdict).to.equal('passed')
    expect(lip.clauses[0]?.text).to.include('300')
    const edges = /clock edges at (\d+) s ago and (\d+) s ahead/.exec(String(lip.clauses[0]?.observation))
    // The suite knows the clock of a target to 1.5 s (`openSession`), and edges are told in whole seconds.
    for (const edge of edges?.slice(1) ?? ['none', 'is told']) expect(Number(edge)).to.be.closeTo(300, 2)
    expect((await judge(id, { only })).verdict).to.equal('nonconformant')
  })

  it('whose quota is used up', async () => {
    const report = await judge('has-used-its-quota-up')
    expect(failed(report)).to.deep.equal([])
    expect(report.verdict).to.equal('partial')
    expect(observation(report, 'relay.execute.exhausted')).to.include('403')
  })
})
