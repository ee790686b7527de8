import { expect } from 'chai'
import { OperatorError } from '../../../core/errors.ts'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { assertPlansKnown } from '../../../services/ledger/accounts.ts'
import type { Plans } from '../../../services/quotas/plans.ts'

/** Plans by name, with the unit of each. */
function plansIn(units: Readonly<Record<string, string>>): Plans {
  const byName = new Map(Object.entries(units).map(([name, unit]) => [name, { name, unit }]))
  return { byName } as unknown as Plans
}

describe('assertPlansKnown', () => {
  let database: Database

  beforeEach(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'touchstone_1', poolSize: 1 })
  })
  afterEach(() => database.close())

  const start = (units: Readonly<Record<string, string>>): Promise<unknown> =>
    assertPlansKnown(database.db, plansIn(units)).catch((error: unknown) => error)
  const register = (plan: string) =>
    database.db
      .insertInto('profiles')
      .values({
        address: `0x${'11'.repeat(20)}`,
        registered: true,
        plan,
        allowance: '5000000',
        used: '0',
        reset_at: null,
      })
      .execute()

  it('refuses a plan that profiles are in and the configuration lacks', async () => {
    await start({ basic: 'gas' })
    await register('basic')
    const refusal = await start({ other: 'gas' })
    expect(refusal).to.be.instanceOf(OperatorError).with.property('message').that.includes('lacks: basic')
    expect(await start({ basic: 'gas', other: 'gas' })).to.equal(undefined)
  })

  it('refuses a plan of another unit than that of its accounts, again and again', async () => {
    await start({ basic: 'gas' })
    await register('basic')
    for (const unit of ['transactionCount', 'lyx']) {
      const refusal = await start({ basic: unit })
      expect(refusal).to.be.instanceOf(OperatorError).with.property('message').that.includes('basic are in gas')
    }
    expect(await start({ basic: 'gas' })).to.equal(undefined)
  })

  it('lets a plan that nobody is in change its unit', async () => {
    await start({ basic: 'gas' })
    expect(await start({ basic: 'lyx' })).to.equal(undefined)
    await register('basic')
    expect(await start({ basic: 'gas' })).to.be.instanceOf(OperatorError)
  })
})
