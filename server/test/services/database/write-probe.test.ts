import { expect } from 'chai'
import { sql } from 'kysely'
import { openDatabase, type Database, createWriteProbe } from '../../../services/database/database.ts'

describe('createWriteProbe', () => {
  let database: Database
  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'touchstone_1', poolSize: 1 })
  })
  after(() => database.close())

  it('sees a database that can be read and not be written, and that it can be again', async () => {
    const probe = createWriteProbe(database.db)
    await sql`set default_transaction_read_only = on`.execute(database.db)
    const error = await probe().catch((thrown: unknown) => thrown)
    await sql`set default_transaction_read_only = off`.execute(database.db)
    expect(error).to.have.property('code', '25006')
    await probe()
  })

  it('looks once for all who ask within seconds, and anew after a failure', async () => {
    let looks = 0
    let isFull = true
    const probe = createWriteProbe(database.db, async () => {
      looks++
      if (isFull) throw new Error('full')
    })
    const failed = await Promise.allSettled(Array.from({ length: 100 }, probe))
    expect(failed.every(({ status }) => status === 'rejected')).to.equal(true)
    expect(looks).to.equal(1)
    isFull = false
    await Promise.all(Array.from({ length: 100 }, probe))
    for (let count = 0; count < 100; count++) await probe()
    expect(looks).to.equal(2)
  })
})
