import { expect } from 'chai'
import { type CrashResult, runCrashTest, runFreezeTest, runSharingTest } from '../../../testbed/trials/servers.ts'
import { runReorganisationTest } from '../../../testbed/trials/reorganisations.ts'
import { startPostgres, type PostgresServer } from '../../../testbed/postgres.ts'

/** More kills, more calls, and PostgreSQL without bundles: `touchstone bench crash`. */
const crash = { node: 'hardhat', kills: 2, lifeMs: 800 } as const
/** Callers who pause leave the cores to the other tests. `touchstone bench crash` has callers that do not. */
const PAUSE_MS = 400

function expectNothingLost({ faults, acknowledged, charged, gasUsed }: CrashResult): void {
  expect(faults).to.deep.equal([])
  expect(acknowledged).to.be.greaterThan(6)
  expect(charged).to.equal(gasUsed)
}

describe('server processes', () => {
  let postgres: PostgresServer

  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.close())

  it('lose and double nothing when they are killed under load, on PGlite', async () => {
    expectNothingLost(await runCrashTest({ ...crash, databaseUrl: null, workers: 6 }))
  })

  it('lose and double nothing when they are killed under load, and PostgreSQL with them, with bundles', async () => {
    const databaseUrl = await postgres.createDatabase()
    const database = { postgres, kills: 1 }
    const result = await runCrashTest({ ...crash, databaseUrl, database, workers: 16, bundles: true })
    expectNothingLost(result)
    expect(result.transactions).to.be.lessThan(result.acknowledged)
  })

  it('go on when one of three stands still with what it holds, and lose and double nothing when it wakes up', async () => {
    const databaseUrl = await postgres.createDatabase()
    const result = await runFreezeTest({
      node: 'hardhat',
      databaseUrl,
      freezes: 1,
      frozenMs: 8_000,
      pauseMs: PAUSE_MS,
    })
    expect(result.faults).to.deep.equal([])
    // Its signers are free again after four seconds.
    expect(result.fewestWhileFrozen).to.be.greaterThan(20)
    expect(result.slowestMs).to.be.lessThan(6_000)
    expect(Object.keys(result.refusals)).to.satisfy((codes: string[]) =>
      codes.every((code) => code.endsWith('UNAVAILABLE')),
    )
  })

  for (const bundles of [false, true]) {
    const what = bundles ? 'two signers and bundles' : 'four signers'
    it(`lose and double nothing when the last blocks are replaced again and again under load, with ${what}`, async () => {
      const result = await runReorganisationTest({ databaseUrl: null, reorganisations: 4, bundles, pauseMs: PAUSE_MS })
      expect(result.faults).to.deep.equal([])
      expect(result.acknowledged).to.be.greaterThan(20)
      if (bundles) expect(result.transactions).to.be.lessThan(result.acknowledged)
    })

    it(`share signers on one PostgreSQL, and take over when one is killed midway${bundles ? ', with bundles' : ''}`, async () => {
      const databaseUrl = await postgres.createDatabase()
      const result = await runSharingTest({ node: 'hardhat', databaseUrl, calls: 120, killAfter: 50, bundles })
      expect(result.faults).to.deep.equal([])
      expect(result.acknowledged).to.equal(120)
      expect(Object.keys(result.refusals)).to.deep.equal([])
    })
  }
})
