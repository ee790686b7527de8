import { expect } from 'chai'
import { clauses, type ClauseId } from '../../specs/index.ts'
import { judgeClient, type Given } from '../../conformance/clients/judge-client.ts'
import { lawfulClients } from '../../conformance/clients/lawful.ts'
import { clientMutants } from '../../conformance/clients/mutants.ts'
import { createPlainClient, type PlainClient } from '../../conformance/clients/plain-client.ts'
import type { Step } from '../../conformance/clients/recording.ts'
import { UsageError, type CheckStatus, type Edition, type Report } from '../../conformance/index.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'
import { publicRequests } from './support/public-requests.ts'

const withStatus = ({ clauses: found }: Report, status: CheckStatus): string[] =>
  found.filter((clause) => clause.status === status).map(({ id }) => id)

/** What is wrong, with the reasons, for the message of a test that fails. */
const accusations = ({ clauses: found }: Report): string[] =>
  found.flatMap(({ id, tests }) =>
    tests.flatMap(({ error }) => (error ? [`${id}: ${error.message} (${error.actual})`] : [])),
  )

describe('judge-client', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed()
  })
  after(() => testbed.close())

  function judge(
    steps: readonly Step[],
    act: (given: Given) => Promise<unknown>,
    edition: Edition = 'documents',
  ): Promise<Report> {
    const { relayUrl: serverUrl, fixture } = testbed
    const options = { serverUrl, fixture, steps, client: 'test', timeoutMs: 10_000, edition }
    return judgeClient(options, async (given) => void (await act(given)))
  }

  for (const { clause, fault, also = [], provoked = [], act } of clientMutants) {
    it(`catches by ${clause}: ${fault}`, async () => {
      const report = await judge(provoked, async (given) => act(await createPlainClient(given)))
      expect(accusations(report).join('\n')).to.include(`${clause}: `)
      expect(
        withStatus(report, 'failed').filter((id) => id !== clause && !also.includes(id as ClauseId)),
      ).to.deep.equal([])
    })
  }

  for (const { id, clauses: named, provoked = [], act } of lawfulClients) {
    it(`spares ${id}`, async () => {
      const report = await judge(provoked, async (given) => act(await createPlainClient(given)))
      expect(accusations(report)).to.deep.equal([])
      expect(report.traffic.requests).to.be.above(0)
      expect(withStatus(report, 'passed').filter((clause) => named.includes(clause as ClauseId))).not.to.be.empty
    })
  }

  describe('judges each request of public clients', () => {
    for (const { form, send, wrong } of publicRequests) {
      it(`${form}: ${wrong.join(', ') || 'nothing wrong'}`, async () => {
        const report = await judge([], async (given) => send(await createPlainClient(given)))
        expect(report.traffic.requests).to.equal(1)
        expect(withStatus(report, 'failed'), accusations(report).join()).to.deep.equal(wrong)
      })
    }
  })

  it('judges by the edition', async () => {
    const text = publicRequests.find(({ form }) => form.includes('personal_sign of the text'))
    const old = publicRequests.find(({ form }) => form.includes('200 seconds'))
    const failed = async (edition: Edition, send?: (client: PlainClient) => Promise<unknown>) =>
      withStatus(await judge([], async (given) => send?.(await createPlainClient(given)), edition), 'failed')
    expect(await failed('lip', old?.send)).to.deep.equal([])
    expect(await failed('lukso-2026-02', text?.send)).to.deep.equal(['client.quota.post'])
    expect(await failed('lukso-2026-02', (client) => client.quota())).to.deep.equal([
      'client.quota.post',
      'client.quota.hash',
    ])
  })

  it('judges nobody when the relay behind does not answer', async () => {
    const { fixture } = testbed
    const options = { serverUrl: 'http://127.0.0.1:1', fixture, steps: [], client: 'test', timeoutMs: 10_000 }
    const judging = judgeClient(options, async (given) => void (await (await createPlainClient(given)).execute()))
    expect(await judging.catch((error: unknown) => error)).to.be.instanceOf(UsageError)
  })

  it('shows no private key', async () => {
    const { privateKey } = testbed.fixture.controllers.full
    const report = await judge([], async (given) => (await createPlainClient(given)).quota({ privateKey }))
    expect(withStatus(report, 'failed')).to.deep.equal(['client.auth.no-key'])
    expect(JSON.stringify(report)).not.to.include(privateKey.slice(2))
  })

  it('has a mutant for every clause with a verdict', () => {
    const judged = (Object.keys(clauses) as ClauseId[]).filter(
      (id) => clauses[id].document === 'client' && clauses[id].level !== 'unspecified',
    )
    expect([...new Set(clientMutants.map(({ clause }) => clause))].sort()).to.deep.equal(judged.sort())
  })

  it('passes nothing of a client that sends nothing', async () => {
    const report = await judge([], async () => undefined)
    expect(withStatus(report, 'untestable')).to.have.length(report.clauses.length)
    expect(report.verdict).to.equal('partial')
  })
})
