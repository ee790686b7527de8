import { expect } from 'chai'
import { clauses } from '../../../specs/index.ts'
import { noChain } from '../../lib/chain-truth.ts'
import type { CheckBody, CheckSettings } from '../../lib/clause.ts'
import { createEvidence, type Environment } from '../../lib/environment.ts'
import { createHttpClient } from '../../lib/http.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { createPatience, createSpending } from '../../lib/limits.ts'
import { runCheck, runSuites } from '../../lib/run-suites.ts'
import { createTargetClock } from '../../lib/target-clock.ts'
import { endpointsOf } from '../../lib/target.ts'
import { serve } from '../support/serve.ts'

describe('the outcome of a check', () => {
  const http = createHttpClient(300)
  after(() => http.close())

  function environment(url = 'http://127.0.0.1:1', readOnly = false): Environment {
    return {
      edition: 'documents',
      http,
      endpoints: endpointsOf({ relayUrl: url, ethRpcUrl: url }),
      chain: noChain('no chain here'),
      hasChain: false,
      fixture: { missing: 'no fixture here' },
      patience: createPatience({ receiptMs: 100, rateLimitMs: 100, restartMs: 1 }),
      clock: createTargetClock(),
      spending: createSpending({ readOnly, maxTransactions: 1 }),
      paging: undefined,
      evidence: createEvidence(),
      notes: [],
      fuzz: { cases: 0, seed: 0 },
      shared: new Map(),
      nextRpcId: 1,
    }
  }

  const aClause = (id: 'relay.quota.unit' | 'relay.quota.post' | 'relay.versioning') => ({ id, clause: clauses[id] })
  const unit = aClause('relay.quota.unit')

  const run = (body: CheckBody, id: 'relay.quota.unit' | 'relay.versioning' = 'relay.quota.unit') =>
    runCheck(environment(), aClause(id), { title: 't', needs: [], body })

  it('passes when nothing is thrown, and is observed for a question', async () => {
    expect((await run(async () => undefined)).status).to.equal('passed')
    expect((await run(async () => undefined, 'relay.versioning')).status).to.equal('observed')
  })

  it('fails by a Fault and by an assertion, with both values', async () => {
    const fault = await run(async () => {
      throw new Fault('wrong', { expected: 'a', actual: 'b' })
    })
    expect(fault).to.deep.include({ status: 'failed', error: { message: 'wrong', expected: 'a', actual: 'b' } })
    const assertion = await run(async () => void expect({ n: 1n }).to.deep.equal({ n: 2n }))
    expect(assertion.status).to.equal('failed')
    expect(assertion.error).to.include({ expected: '{"n":"2"}', actual: '{"n":"1"}' })
  })

  it('names the exchange that shows the fault', async () => {
    await using server = await serve((_request, response) => response.end('{}'))
    const result = await runCheck(environment(server.url), unit, {
      title: 't',
      needs: [],
      body: async (t) => {
        await t.relay.quota({})
        const answer = await t.relay.quota({})
        await t.relay.quota({})
        throw new Fault('wrong', { answer })
      },
    })
    expect(result.error).to.deep.equal({ message: 'wrong', exchange: 1 })
  })

  it('charges evidence to the clause whose sentence it contradicts, once', async () => {
    const shared = environment()
    const body: CheckBody = (t) =>
      t.once('work', async () => {
        throw new Fault('refused', { of: 'relay.quota.post' })
      })
    for (const title of ['first', 'second']) {
      const result = await runCheck(shared, unit, { title, needs: [], body })
      expect(result).to.deep.include({
        status: 'untestable',
        because: 'relay.quota.post',
        reason: 'relay.quota.post fails: refused',
      })
    }
    expect((await runCheck(shared, aClause('relay.quota.post'), { title: 't', needs: [], body })).status).to.equal(
      'failed',
    )
    expect(shared.evidence.charges(() => true)).to.deep.equal([])
    const charges = shared.evidence.charges(() => false)
    expect(charges.map(({ id, result }) => [id, result.status, result.title])).to.deep.equal([
      ['relay.quota.post', 'failed', 'seen while relay.quota.unit was checked (first)'],
    ])
  })

  it('never blames the target for a fault of ours', async () => {
    const result = await run(async () => {
      throw new TypeError('our bug')
    })
    expect(result.status).to.equal('untestable')
    expect(result.reason).to.match(/^a fault of the suite itself.*our bug/)
  })

  it('turns what went wrong with a question into an observation', async () => {
    const result = await run(async () => {
      throw new Fault('refused')
    }, 'relay.versioning')
    expect(result).to.deep.include({ status: 'observed', observations: ['refused'] })
  })

  it('is untestable by a need that is not met, before anything is sent', async () => {
    const reasons = []
    for (const need of ['fixture', 'chain', 'spend'] as const) {
      const check = { title: 't', needs: [need], body: () => Promise.reject(new Error('ran')) }
      reasons.push((await runCheck(environment(undefined, true), unit, check)).reason)
    }
    expect(reasons).to.deep.equal([
      'no fixture here',
      'no chain here',
      'read-only: the run sends nothing that could spend',
    ])
  })

  it('comes last where the check is marked so, and after all others where it looks back', async () => {
    const ran: string[] = []
    const check = (title: string, settings: CheckSettings = {}) => ({
      title,
      needs: [],
      ...settings,
      body: async () => void ran.push(title),
    })
    const suites = [
      { ...aClause('relay.versioning'), checks: [check('looks back', { looksBack: true }), check('a question')] },
      { ...unit, checks: [check('last', { isLast: true }), check('first'), check('second')] },
      { ...aClause('relay.quota.post'), checks: [check('looks back, too', { looksBack: true })] },
    ]
    await runSuites(suites, environment(), () => {})
    expect(ran).to.deep.equal(['first', 'second', 'a question', 'last', 'looks back', 'looks back, too'])
  })

  it('shows shared exchanges and a shared failure under each check that asked', async () => {
    await using server = await serve((_request, response) => response.end('{}'))
    const shared = environment(server.url)
    const body: CheckBody = (t) =>
      t.once('work', async (once) => {
        await once.relay.quota({})
        throw new Untestable('refused')
      })
    for (const title of ['first', 'second']) {
      const result = await runCheck(shared, unit, { title, needs: [], body })
      expect(result).to.deep.include({ status: 'untestable', reason: 'refused' })
      expect(result.exchanges).to.have.length(1)
    }
    expect(server.requests).to.have.length(1)
  })
})
