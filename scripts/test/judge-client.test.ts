import { expect } from 'chai'
import { clauses, type ClauseId } from '../../specs/index.ts'
import { judgeClient, type Given } from '../../conformance/clients/judge-client.ts'
import { lawfulClients } from '../../conformance/clients/lawful.ts'
import { clientMutants } from '../../conformance/clients/mutants.ts'
import { createPlainClient } from '../../conformance/clients/plain-client.ts'
import type { Step } from '../../conformance/clients/recording.ts'
import type { CheckStatus, Report } from '../../conformance/index.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'

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

  const judge = (steps: readonly Step[], act: (given: Given) => Promise<unknown>): Promise<Report> =>
    judgeClient(
      { serverUrl: testbed.relayUrl, fixture: testbed.fixture, steps, client: 'test', timeoutMs: 10_000 },
      async (given) => void (await act(given)),
    )

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
