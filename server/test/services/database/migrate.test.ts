import { expect } from 'chai'
import { Wallet } from 'ethers'
import { Kysely, PostgresDialect } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import pg from 'pg'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { migration as ledger } from '../../../services/database/migrations/001-ledger.ts'
import { migration as storeRelays } from '../../../services/database/migrations/002-store-relays.ts'
import { migration as leanLedger } from '../../../services/database/migrations/003-lean-ledger.ts'
import { migration as offered } from '../../../services/database/migrations/004-offered.ts'
import { lookUp } from '../../../services/ledger/lookup.ts'
import { unsentOf } from '../../../services/ledger/unsent.ts'
import { signerFromKey } from '../../../services/signers/signer-account.ts'
import { startPostgres, type PostgresServer } from '../../../../scripts/bench/support/postgres.ts'

const schema = 'touchstone_1'
const former: Record<string, Migration> = {
  '001-ledger': ledger,
  '002-store-relays': storeRelays,
  '003-lean-ledger': leanLedger,
  '004-offered': offered,
}

describe('migrate', () => {
  let postgres: PostgresServer

  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.close())

  const [profile = '', keyManager = '', signer = ''] = Array.from({ length: 3 }, () => Wallet.createRandom().address)
  const account = signerFromKey(Wallet.createRandom().privateKey)
  const data = `0x${'c4'.repeat(300)}`
  const fees = { type: 2, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n } as const
  const transaction = account.sign({ chainId: 1n, nonce: 0, to: keyManager, gasLimit: 100n, data, fees })

  /** The ledger of a former version, with a call that is on its way. */
  async function openFormer(url: string, migrations: Record<string, Migration>): Promise<void> {
    const pool = new pg.Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` })
    const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: new PostgresDialect({ pool }) })
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => migrations },
      migrationTableSchema: schema,
    })
    const { error } = await migrator.migrateToLatest()
    expect(error).to.equal(undefined)
    const { hash } = transaction
    await db
      .insertInto('profiles')
      .values({ address: profile, registered: true, plan: 'default', allowance: '1000', used: '100' })
      .execute()
    await db.insertInto('signer_accounts').values({ address: account.address, next_nonce: 1 }).execute()
    const call = { identity: '0x1d', profile, key_manager: keyManager, signer, nonce: '5' }
    // The third version has it no more.
    const dropped = '003-lean-ledger' in migrations ? {} : { call_data: data }
    const state = { status: 'pending', plan: 'default', period: 0, reserved: '100', gas_limit: 100 }
    const sender = { account: account.address, account_nonce: 0, created_at_ms: 1 }
    await db
      .insertInto('relays')
      .values({ hash, ...call, ...dropped, ...state, ...sender })
      .execute()
    await db
      .insertInto('attempts')
      .values({ ...transaction, relay: hash, kind: 'call', max_fee_per_gas: '10', ...sender })
      .execute()
    await db.destroy()
  }

  for (let version = 1; version <= Object.keys(former).length; version++) {
    it(`takes a ledger of version ${version} over, with what is on its way`, async () => {
      const url = await postgres.createDatabase()
      await openFormer(url, Object.fromEntries(Object.entries(former).slice(0, version)))
      const open = () => openDatabase({ url, folder: null, schema, poolSize: 1 })
      let database: Database = await open()
      await database.close()
      // Once more: then there is nothing to do.
      database = await open()
      try {
        const key = { profile, keyManager, signer, channel: 0n }
        const [state] = await lookUp(database.db, [{ key, from: 0n, identities: ['0x1d'] }])
        expect(state?.pending).to.deep.equal([
          { nonce: 5n, identity: '0x1d', callData: data, account: account.address },
        ])
        expect(state?.known.get('0x1d')).to.equal(transaction.hash)
        expect(await unsentOf(database.db, account.address, { from: 0, below: 10 })).to.deep.equal([transaction])
        const { used } = await database.db.selectFrom('profiles').select('used').executeTakeFirstOrThrow()
        expect(used).to.equal('100')
      } finally {
        await database.close()
      }
    })
  }
})
