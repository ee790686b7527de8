import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Insertable } from 'kysely'
import { pino } from 'pino'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import type { RelaysTable } from '../../../services/database/tables.ts'
import { startRetention } from '../../../services/ledger/retention.ts'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer } from '../../support/relay-server.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const DAY_MS = 86_400_000
const TODAY = 20_000
const KEPT_DAYS = 7
const FIRST_KEPT_MS = (TODAY - KEPT_DAYS) * DAY_MS
const OLD_MS = FIRST_KEPT_MS - 1

/** A final relay that was accepted at that time. */
const relay = (hash: string, created_at_ms: number, more: Partial<Insertable<RelaysTable>> = {}) => ({
  hash,
  identity: hash,
  profile: '0xf',
  key_manager: '0x1',
  signer: hash,
  nonce: '0',
  expires_at: null,
  status: 'succeeded' as const,
  plan: 'default',
  period: 0,
  reserved: '1',
  gas_limit: 1,
  account: '0xa',
  account_nonce: 0,
  created_at_ms,
  final: true,
  ...more,
})

const attempt = (hash: string, transaction: string) => ({
  hash,
  relay: transaction,
  kind: 'call' as const,
  account: '0xa',
  account_nonce: 0,
  raw: '0x',
  max_fee_per_gas: '1',
  created_at_ms: 0,
})

/** One look, which lasts until what is awaited has come. */
async function look(database: Database, awaited: () => Promise<void> = async () => {}): Promise<void> {
  const nowMs = async () => TODAY * DAY_MS + DAY_MS / 2
  const retention = startRetention({ database, keepDays: KEPT_DAYS, nowMs, log })
  await awaited()
  await retention.close()
}

describe('retention of relay calls', () => {
  let postgres: PostgresServer

  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.close())

  for (const kind of ['PGlite', 'PostgreSQL'] as const) {
    describe(kind, () => {
      let database: Database

      beforeEach(async () => {
        const url = kind === 'PGlite' ? null : await postgres.createDatabase()
        database = await openDatabase({ url, folder: null, schema: 'touchstone_1', poolSize: 8 })
      })
      afterEach(() => database.close())

      const store = async (relays: readonly ReturnType<typeof relay>[], attempts: readonly string[]) => {
        await database.db
          .insertInto('relays')
          .values([...relays])
          .execute()
        const signed = attempts.map((name) => attempt(name, name.split('+')[0] ?? name))
        await database.db.insertInto('attempts').values(signed).execute()
      }
      const left = async () => {
        const [relays, attempts] = await Promise.all(
          (['relays', 'attempts'] as const).map((table) =>
            database.db.selectFrom(table).select('hash').orderBy('hash').execute(),
          ),
        )
        return [relays, attempts].map((rows) => rows?.map(({ hash }) => hash))
      }

      it('deletes what is old and final, with every transaction that was signed for it, and nothing else', async () => {
        await store(
          [relay('old', OLD_MS), relay('young', FIRST_KEPT_MS), relay('open', OLD_MS, { final: false })],
          ['old', 'old+dearer', 'young', 'young+dearer', 'open'],
        )
        await look(database)
        expect(await left()).to.deep.equal([
          ['open', 'young'],
          ['open', 'young', 'young+dearer'],
        ])
      })

      it('deletes a bundle when all its calls are final', async () => {
        const calls = (bundle: string, finals: readonly boolean[]) =>
          finals.map((final, place) => relay(`${bundle}/${place}`, OLD_MS, { bundle, place, final }))
        await store([...calls('done', [true, true]), ...calls('half', [true, false])], ['done', 'done+dearer', 'half'])
        await look(database)
        expect(await left()).to.deep.equal([['half/0', 'half/1'], ['half']])
      })

      it('deletes thousands, and reads no young ones for it', async () => {
        const names = (prefix: string) => Array.from({ length: 1_500 }, (_, index) => `${prefix}${index}`)
        const [old, young] = [names('old'), names('young')]
        await store(
          [...old.map((name) => relay(name, OLD_MS)), ...young.map((name) => relay(name, FIRST_KEPT_MS))],
          [...old, ...young],
        )
        await look(database, () => until(async () => (await left()).flat().length === 2 * young.length))
        expect(await left()).to.deep.equal([young.toSorted(), young.toSorted()])
        await database.db.transaction().execute(async (db) => {
          const before = await rowsRead(db)
          // A vacuum cannot run in a transaction, and is not needed when nothing is deleted.
          await look({ ...database, db })
          expect((await rowsRead(db)) - before).to.be.below(20)
        })
      })
    })
  }

  describe('of a server', () => {
    let chain: RelayChain
    let folder: string

    before(async () => {
      chain = await startRelayChain('hardhat', 1)
      folder = await mkdtemp(join(tmpdir(), 'touchstone-test-'))
    })
    after(async () => {
      await chain.close()
      await rm(folder, { recursive: true, force: true })
    })

    const options = { initialGas: 1_000_000 }
    const quota = { plans: { default: { model: 'pay-as-you-go-gas', options } } }
    const start = (daysLater: number) =>
      startRelayServer({
        rpcUrl: chain.node.rpcUrl,
        signerKeys: chain.signerKeys,
        config: { database: { folder, keepDays: 1 }, quota },
        clock: { nowMs: () => Date.now() + daysLater * DAY_MS, monotonicMs: () => performance.now() },
      })

    it('forgets the call and keeps the charge; a clock that is ahead of the chain has nothing deleted', async () => {
      let server = await start(0)
      const first = chain.client(server.url)
      const { json, status } = await first.execute()
      expect(status).to.equal(200)
      const ledgerOf = (of: typeof server) => of.database.db.selectFrom('relays').select(['hash', 'final']).execute()
      const isFinal = async () => (await ledgerOf(server))[0]?.final === true
      await until(isFinal)
      const quotaLeft = async () => server.services.quotas.remaining(first.profile.address)
      const before = await quotaLeft()
      await server.close()

      await (await start(3)).close()
      server = await start(0)
      const kept = await ledgerOf(server)
      await server.close()
      expect(kept).to.deep.equal([{ hash: json.transactionHash, final: true }])

      await chain.node.request('evm_increaseTime', 3 * 86_400)
      await chain.node.request('evm_mine')
      server = await start(3)
      try {
        await until(async () => (await ledgerOf(server)).length === 0)
        const client = chain.client(server.url)
        expect((await client.status(json.transactionHash ?? '')).status).to.equal(404)
        expect((await client.execute()).json.code).to.equal('NONCE_USED')
        expect(await quotaLeft()).to.deep.equal(before)
        expect((await client.execute({ id: 1n })).status).to.equal(200)
      } finally {
        await server.close()
      }
    })
  })
})
