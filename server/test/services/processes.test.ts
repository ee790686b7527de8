import { expect } from 'chai'
import { runCrashTest, runFreezeTest, runSharingTest } from '../../../testbed/trials/servers.ts'
import { runReorganisationTest } from '../../../testbed/trials/reorganisations.ts'
import { startPostgres, type PostgresServer } from '../../../testbed/postgres.ts'

/** More kills, and more calls: `touchstone bench crash`. */
const KILLS = 2
/** Callers who pause leave the cores to the other tests. `touchstone bench crash` has callers that do not. */
const PAUSE_MS = 400

describe('server processes', function () {
  this.timeout(180_000)
  let postgres: PostgresServer

  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.close())

  for (const [kind, bundles] of [
    ['PGlite', false],
    ['PostgreSQL', false],
    ['PostgreSQL', true],
  ] as const) {
    const what = `${kind === 'PGlite' ? '' : ', and it with them'}, on ${kind}${bundles ? ', with bundles' : ''}`
    it(`lose and double nothing when they are killed under load${what}`, async () => {
      const databaseUrl = kind === 'PGlite' ? null : await postgres.createDatabase()
      const database = kind === 'PGlite' ? undefined : { postgres, kills: 1 }
      const workers = bundles ? 16 : 6
      const options = { node: 'hardhat', databaseUrl, kills: KILLS, workers, lifeMs: 800, bundles } as const
      const result = await runCrashTest({ ...options, ...(database && { database }) })
      expect(result.faults).to.deep.equal([])
      expect(result.acknowledged).to.be.greaterThan(6)
      expect(result.charged).to.equal(result.gasUsed)
      if (bundles) expect(result.transactions).to.be.lessThan(result.acknowledged)
    })
  }

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
