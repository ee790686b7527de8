import { expect } from 'chai'
import { sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { startPostgres } from '../../../testbed/postgres.ts'
import { jobsSchemaOf, openDatabase, type Database } from '../../services/database/database.ts'
import { startJobs, type Jobs } from '../../services/jobs/jobs.ts'
import { lasting } from '../support/lasting.ts'
import { until } from '../support/until.ts'

/** The sweep comes every five seconds. */
const soon = (condition: () => boolean) => lasting([0, 15_000], () => until(condition))

const log = pino({ level: 'silent' })
const SCHEMA = 'touchstone_7'

describe('background work when a clock is set back', () => {
  const realNow = Date.now
  let database: Database
  let jobs: Jobs
  let looks = 0
  let sweeps = 0
  let warnings: string[]

  const start = async (look: () => void = () => {}) => {
    jobs = await startJobs({
      database,
      log: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
      look: async () => {
        looks++
        look()
        return true
      },
      pauseSeconds: 1,
      isOurs: () => true,
      accountsWithWork: async () => {
        sweeps++
        return ['0x01']
      },
    })
  }

  beforeEach(async () => {
    ;[looks, sweeps, warnings] = [0, 0, []]
    database = await openDatabase({ url: null, folder: null, schema: SCHEMA, poolSize: 1 })
  })
  afterEach(async () => {
    Date.now = realNow
    await jobs.close()
    await database.close()
  })

  it('goes on although the clock is set back while an account is looked at', async () => {
    Date.now = () => realNow() + 3_600_000
    await start(() => (Date.now = realNow))
    await soon(() => looks >= 2)
    await soon(() => warnings.some((line) => line.includes('set back')))
  })

  it('takes no clock for one that was set back while all of them run on', async () => {
    await start()
    await soon(() => sweeps >= 2)
    expect(warnings).to.deep.equal([])
  })

  it('does not wait for what was put off by a clock that was ahead', async () => {
    await start()
    await soon(() => looks >= 1)
    await jobs.close()
    const table = sql.table(`${jobsSchemaOf(SCHEMA)}.job`)
    const { numAffectedRows } =
      await sql`update ${table} set start_after = now() + interval '1 day' where state = 'created'`.execute(database.db)
    expect(numAffectedRows).to.equal(1n)
    const before = looks
    await start()
    await soon(() => looks > before)
  })
})

describe('background work in a PostgreSQL database', () => {
  it('starts as a user who may make no schema, where an administrator has made both', async () => {
    const postgres = await startPostgres()
    try {
      const url = new URL(await postgres.createDatabase())
      const administrator = new pg.Client(url.href)
      await administrator.connect()
      await administrator.query(`create role relay login password 'relay'`)
      for (const schema of [SCHEMA, jobsSchemaOf(SCHEMA)]) {
        await administrator.query(`create schema ${schema} authorization relay`)
      }
      await administrator.query('revoke all on schema public from public')
      await administrator.end()
      url.username = 'relay'
      url.password = 'relay'
      const database = await openDatabase({ url: url.href, folder: null, schema: SCHEMA, poolSize: 2 })
      let looks = 0
      const jobs = await startJobs({
        database,
        log,
        look: async () => {
          looks++
          return false
        },
        pauseSeconds: 1,
        isOurs: () => true,
        accountsWithWork: async () => ['0x01'],
      })
      await soon(() => looks >= 1)
      await jobs.close()
      await database.close()
    } finally {
      await postgres.close()
    }
  })
})

describe('background work of a process that lacks what an account needs', () => {
  let database: Database
  const running: Jobs[] = []

  /** @returns how often this process has looked at the account */
  async function start(isOurs: boolean): Promise<() => number> {
    let looks = 0
    const jobs = await startJobs({
      database,
      log,
      look: async () => ++looks > 0,
      pauseSeconds: 0,
      isOurs: () => isOurs,
      accountsWithWork: async () => ['0x01'],
    })
    running.push(jobs)
    return () => looks
  }

  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: SCHEMA, poolSize: 1 })
  })
  after(async () => {
    await Promise.all(running.map((jobs) => jobs.close()))
    await database.close()
  })

  it('is done by the one that has it, and seldom by the other one', async () => {
    const foreign = await start(false)
    await soon(() => foreign() === 1)
    const own = await start(true)
    await soon(() => own() >= 6)
    const seldom = foreign()
    expect(own()).to.be.greaterThan(2 * seldom)
    await running.pop()?.close()
    // Nobody is left who has what is needed.
    await soon(() => foreign() > seldom)
  })
})

describe('background work that fails', () => {
  it('is told of when that begins, changes or begins again, and not each time', async () => {
    const database = await openDatabase({ url: null, folder: null, schema: SCHEMA, poolSize: 1 })
    const warnings: string[] = []
    let looks = 0
    let reason: string | undefined = 'the node is away'
    const jobs = await startJobs({
      database,
      log: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
      look: async () => {
        looks++
        if (reason !== undefined) throw new Error(reason)
        return true
      },
      pauseSeconds: 0,
      isOurs: () => true,
      accountsWithWork: async () => ['0x01'],
    })
    try {
      const lookThrice = async () => {
        const before = looks
        await soon(() => looks >= before + 3)
      }
      await lookThrice()
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.include('could not be followed').and.include('0x01').and.include('the node is away')
      reason = 'the node is busy'
      await lookThrice()
      expect(warnings).to.have.length(2)
      reason = undefined
      await lookThrice()
      reason = 'the node is busy'
      await lookThrice()
      expect(warnings).to.have.length(3)
    } finally {
      await jobs.close()
      await database.close()
    }
  })
})
