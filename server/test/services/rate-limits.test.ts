import { expect } from 'chai'
import { startPostgres, type PostgresServer } from '../../../testbed/postgres.ts'
import { ServiceError } from '../../core/errors.ts'
import { openPool } from '../../services/database/postgres-pool.ts'
import { createRateLimits, type RateLimits } from '../../services/rate-limits.ts'

/** In so many, some processes meet at the moment for which the library of the limits is not made. */
const ROUNDS = 20

describe('createRateLimits, on PostgreSQL', () => {
  let postgres: PostgresServer
  let databaseUrl: string
  const opened: RateLimits[] = []

  before(async () => {
    postgres = await startPostgres()
    databaseUrl = await postgres.createDatabase()
    const pool = await openPool({ url: databaseUrl, max: 1, name: 'test' })
    await pool.query('create schema one; create schema other')
    await pool.end()
  })
  after(async () => {
    for (const limits of opened) await limits.close()
    await postgres?.close()
  })

  async function open(schema: string): Promise<RateLimits> {
    const limits = await createRateLimits({ requestsPerMinute: 3, relaysPerMinute: 0, databaseUrl, schema })
    opened.push(limits)
    return limits
  }

  it('counts for all processes of a chain together, and for each chain by itself', async () => {
    const [first, second, other] = await Promise.all([open('one'), open('one'), open('other')])
    await first.consume('address', '192.0.2.1', 2)
    expect(await second.consume('address', '192.0.2.1')).to.include({ remaining: 0 })
    const refusal: unknown = await first.consume('address', '192.0.2.1').catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(ServiceError).with.property('code', 'RATE_LIMITED')
    expect(await other.consume('address', '192.0.2.1')).to.include({ remaining: 2 })
  })

  it('begins in several processes at the same moment', async () => {
    const pool = await openPool({ url: databaseUrl, max: 1, name: 'test' })
    for (let round = 0; round < ROUNDS; round++) {
      await pool.query(`create schema new_${round}`)
      await Promise.all(Array.from({ length: 4 }, () => open(`new_${round}`)))
      for (const limits of opened.splice(0)) await limits.close()
    }
    await pool.end()
  })
})
