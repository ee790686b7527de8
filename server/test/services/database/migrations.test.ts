import { expect } from 'chai'
import { hexlify, randomBytes } from 'ethers'
import { openDatabase, type Database, type Queries } from '../../../services/database/database.ts'
import { openRelays, type OpenRelay } from '../../../services/ledger/open-relays.ts'
import { sendersBefore } from '../../../services/ledger/lookup.ts'
import { storeRelays } from '../../../services/ledger/commit.ts'
import { storeChanges } from '../../../services/ledger/settle.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'

const profile = '0xf'
const account = '0xa'
const random = () => hexlify(randomBytes(32))

describe('functions of the database that are planned by index', () => {
  let postgres: PostgresServer

  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.close())

  for (const kind of ['PGlite', 'PostgreSQL'] as const) {
    it(`${kind} reads what it changes or is asked for and no more, though all was planned when the tables were empty`, async () => {
      const url = kind === 'PGlite' ? null : await postgres.createDatabase()
      // Plans belong to a connection.
      const database = await openDatabase({ url, folder: null, schema: 'touchstone_1', poolSize: 1 })
      const { db } = database
      try {
        await db.insertInto('signer_accounts').values({ address: account, next_nonce: 0 }).execute()
        const row = { registered: true, plan: 'default', allowance: '1000000', used: '0' }
        await db
          .insertInto('profiles')
          .values({ address: profile, ...row })
          .execute()
        await settle(db, await store(db, 0, 1))
        expect(await senderBefore(db, 1n), 'of a final call').to.equal(undefined)
        const others = Array.from({ length: 500 }, (_, index) => ({ address: `0x${index}`, ...row }))
        await db.insertInto('profiles').values(others).execute()
        await settle(db, await store(db, 1, 500))
        await db.transaction().execute(async (transaction) => {
          const before = await rowsRead(transaction)
          await settle(transaction, await store(transaction, 501, 2))
          expect((await rowsRead(transaction)) - before).to.be.below(20)
          await store(transaction, 503, 1)
          const beforeQuestion = await rowsRead(transaction)
          expect(await senderBefore(transaction, 504n)).to.equal(account)
          expect((await rowsRead(transaction)) - beforeQuestion).to.be.below(5)
        })
      } finally {
        await database.close()
      }
    })
  }
})

async function senderBefore(db: Queries, nonce: bigint): Promise<string | undefined> {
  const [sender] = await sendersBefore(db, [{ keyManager: '0x1', signer: '0x2', nonce }])
  return sender
}

/** Relays that are open now. */
async function store(db: Database['db'], from: number, count: number): Promise<OpenRelay[]> {
  const relays = Array.from({ length: count }, (_, index) => ({
    hash: random(),
    identity: random(),
    profile,
    key_manager: '0x1',
    signer: '0x2',
    nonce: String(from + index),
    expires_at: null,
    plan: 'default',
    period: 0,
    reserved: '1',
    gas_limit: '1',
    account,
    account_nonce: from + index,
    created_at_ms: 0,
    request_id: null,
    raw: '0x',
    max_fee_per_gas: '1',
    max_priority_fee_per_gas: '1',
  }))
  const nonces = [{ signer: account, expected: from, next: from + count }]
  const charges = [{ profile, period: 0, amount: BigInt(count), registered: true }]
  expect(await storeRelays(db, { relays, nonces, charges, budgets: [] }, 0)).to.equal(true)
  return openRelays(db, account, { fromNonce: from, limit: count })
}

async function settle(db: Queries, relays: readonly OpenRelay[]): Promise<void> {
  const changes = relays.map(({ hash, row: { version } }) => ({
    hash,
    version,
    status: 'succeeded' as const,
    mined: { hash, blockNumber: 1, blockHash: '0xb', gasUsed: 1n },
    final: true,
    reserved: 1n,
    charged: 1n,
  }))
  await storeChanges(db, { relays: changes, charges: [{ profile, period: 0, amount: -1n }], reverts: [] }, 0)
}
