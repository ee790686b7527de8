import { expect } from 'chai'
import { check, type Report } from '../../../index.ts'
import { type ProvisionedChain, startProvisionedChain } from '../../support/provisioned-chain.ts'
import { startBaton, startMockRelay } from './stranger.ts'

describe('relays that are not ours', function () {
  let chain: ProvisionedChain

  before(async () => {
    chain = await startProvisionedChain()
  })
  after(() => chain.close())

  const judge = (relayUrl: string): Promise<Report> =>
    check({ relayUrl, ethRpcUrl: null, fixture: chain.fixture, restartTimeoutMs: 1, receiptTimeoutMs: 5000 })

  const failed = ({ clauses }: Report) =>
    clauses.filter(({ level, status }) => level === 'required' && status === 'failed').map(({ id }) => id)
  const messages = ({ clauses }: Report, id: string) =>
    clauses
      .find((clause) => clause.id === id)
      ?.tests.map(({ error }) => error?.message ?? '')
      .join('\n')

  it('the public mock relay: judged up to its death, each fault by its name', async () => {
    await using relay = await startMockRelay(chain)
    const report = await judge(relay.url)
    expect(report.verdict).to.equal('nonconformant')
    expect(failed(report)).to.deep.equal([
      'relay.execute.post',
      'relay.execute.nonce-integer',
      'relay.quota.total-is-available-plus-used',
      'relay.quota.sign-permission',
      'relay.quota.timestamp-integer',
    ])
    expect(messages(report, 'relay.execute.post'))
      .to.contain('refuses a call without validityTimestamps')
      .and.to.contain('stopped answering after this valid request')
  })

  it('Baton: milliseconds, calls of yesterday, and nothing that only follows from these', async () => {
    await using relay = await startBaton(chain.fixture)
    const report = await judge(relay.url)
    expect(failed(report)).to.deep.equal(['relay.execute.post', 'relay.quota.timestamp-seconds'])
    expect(messages(report, 'relay.quota.timestamp-seconds')).to.contain('milliseconds')
  })
})
