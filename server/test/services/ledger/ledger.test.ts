import { expect } from 'chai'
import { hexlify, randomBytes, Wallet } from 'ethers'
import type { Updateable } from 'kysely'
import type { RelayCall } from '../../../core/define.ts'
import { openDatabase, type Database, type Queries } from '../../../services/database/database.ts'
import type { ProfilesTable } from '../../../services/database/tables.ts'
import { readAccounts, type Registration } from '../../../services/ledger/accounts.ts'
import { boundless, type UnregisteredLimits } from '../../../services/ledger/budgets.ts'
import {
  commit,
  createLedgerMemory,
  type LedgerMemory,
  NotHeldError,
  takeSigner,
} from '../../../services/ledger/commit.ts'
import type { BundleLimits, Committed } from '../../../services/ledger/draft.ts'
import { reopenBlocks, openRelays, withAttempts } from '../../../services/ledger/open-relays.ts'
import { acceptedAt, lookUp } from '../../../services/ledger/lookup.ts'
import { pendingCostWei, unsentOf } from '../../../services/ledger/signer-accounts.ts'
import { type NewAttempt, storeAttempt } from '../../../services/ledger/attempts.ts'
import { abandon, finalise, settle, unsettle } from '../../../services/ledger/settle.ts'
import { accountNow, availableIn, type Plan, type Plans } from '../../../services/quotas/plans.ts'
import { signerFromKey } from '../../../services/signers/signers.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'

const ALLOWANCE = 1_000_000n
const PERIOD_SECONDS = 100
const GAS_LIMIT = 1_000n
/** By which relays are given up. */
const BLOCK = { number: 9, hash: '0x9' }

/** A plan of gas whose period is short. */
const plan: Plan = {
  name: 'default',
  model: 'gas',
  unit: 'gas',
  gasCap: null,
  isByProfile: false,
  open: (nowSeconds: number) => ({
    allowance: ALLOWANCE,
    resetAtSeconds: BigInt((Math.floor(nowSeconds / PERIOD_SECONDS) + 1) * PERIOD_SECONDS),
  }),
  reserve: ({ gasLimit }: { gasLimit: bigint }) => gasLimit,
  settle: ({ gasUsed }: { gasUsed: bigint }) => gasUsed,
  remaining: () => ({ quota: 0, unit: 'gas' }),
}
const plans: Plans = { defaultPlan: plan, byName: new Map([['default', plan]]) }

describe('ledger', () => {
  let postgres: PostgresServer

  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.close())

  for (const kind of ['PGlite', 'PostgreSQL'] as const) {
    describe(kind, () => {
      const profile = Wallet.createRandom().address
      const signers = [signerFromKey(Wallet.createRandom().privateKey), signerFromKey(Wallet.createRandom().privateKey)]
      let database: Database
      let nowSeconds = 1_000_000
      let channel = 0n
      /** Of two processes on the one database. */
      const memories = [createLedgerMemory(), createLedgerMemory()]

      before(async () => {
        const url = kind === 'PGlite' ? null : await postgres.createDatabase()
        database = await openDatabase({ url, folder: null, schema: 'touchstone_1', poolSize: 8 })
        for (const { address } of signers) {
          await database.db.insertInto('signer_accounts').values({ address, next_nonce: 5 }).execute()
        }
        // The first call opens the profile's account.
        hashOf((await accept([call({ nonce: 10_000n << 128n })]))[0])
      })
      beforeEach(() => channel++)
      after(() => database.close())

      const call = (overrides: Partial<RelayCall> = {}): RelayCall => ({
        profile,
        keyManager: '0x0000000000000000000000000000000000000001',
        signer: '0x0000000000000000000000000000000000000002',
        nonce: channel << 128n,
        validityTimestamps: 0n,
        payload: '0x12345678',
        // Two transactions are never the same, whatever their nonces.
        callData: hexlify(randomBytes(32)),
        nonceCallData: '0x',
        misreadings: () => [],
        ...overrides,
      })
      const accept = (
        calls: readonly RelayCall[],
        {
          identities,
          by = [0],
          memory = memories[0]!,
          registration = 'open',
          unregistered = boundless,
          code = null,
          db = database.db,
          holder,
          bundles,
          gasLimit = GAS_LIMIT,
        }: {
          identities?: string[]
          by?: number[]
          memory?: LedgerMemory
          registration?: Registration
          unregistered?: UnregisteredLimits
          code?: string | null
          db?: Queries
          holder?: string
          bundles?: BundleLimits
          gasLimit?: bigint
        } = {},
      ) =>
        commit(
          db,
          calls.map((one, index) => ({
            call: one,
            identity: identities?.[index] ?? hexlify(randomBytes(32)),
            gasLimit,
            code,
            signer: signers[by[index % by.length] ?? 0]!,
          })),
          {
            chainId: 1n,
            plans,
            registration,
            unregistered,
            nowMs: nowSeconds * 1000,
            fees: { type: 2, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n },
            memory,
            bundles,
            ...(holder !== undefined && { holders: new Map(signers.map(({ address }) => [address, holder])) }),
          },
        )
      const hashOf = (committed: Committed | undefined): string => {
        if (committed?.kind !== 'stored') throw new Error(`not stored: ${committed?.kind}`)
        return committed.hash
      }
      const account = async (address = profile) => {
        const found = (await readAccounts(database.db, [address])).get(address)
        if (!found) throw new Error('no account')
        return accountNow(found, plans, nowSeconds)
      }
      const mined = (relay: string, gasUsed: bigint, more = {}) => ({
        relay,
        attempt: relay,
        kind: 'call' as const,
        succeeded: true,
        blockNumber: 1,
        blockHash: '0xb',
        gasUsed,
        effectiveGasPriceWei: 3n,
        dataFeeWei: 0n,
        final: false,
        ...more,
      })
      const options = () => ({ plans, nowSeconds, chainSeconds: BigInt(nowSeconds) })
      /** The same database; `action` runs after so many statements, as another process might. */
      const interrupted = (statements: number, action: () => Promise<unknown>): Queries => {
        let left = statements
        return database.db.withPlugin({
          transformQuery: ({ node }) => node,
          transformResult: async ({ result }) => {
            if (--left === 0) await action()
            return result
          },
        })
      }
      const relayRow = (hash: string) =>
        database.db.selectFrom('relays').selectAll().where('hash', '=', hash).executeTakeFirstOrThrow()

      it('takes nonces without gap or repeat, from many at once', async () => {
        const before = await database.db.selectFrom('signer_accounts').selectAll().orderBy('address').execute()
        await Promise.all(
          Array.from({ length: 30 }, (_, index) =>
            accept([call({ nonce: BigInt(500 + index) << 128n })], { by: [index % 2] }),
          ),
        )
        for (const { address, next_nonce } of before) {
          const rows = await database.db
            .selectFrom('attempts')
            .select('account_nonce')
            .where('account', '=', address)
            .where('account_nonce', '>=', next_nonce)
            .orderBy('account_nonce')
            .execute()
          const nonces = rows.map(({ account_nonce }) => Number(account_nonce))
          expect(nonces).to.deep.equal(Array.from({ length: 15 }, (_, index) => Number(next_nonce) + index))
        }
      })

      it('answers the same call with the same hash, also from many at once, and charges it once', async () => {
        const before = await account()
        const identity = hexlify(randomBytes(32))
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, () => accept([call()], { identities: [identity] })),
        )
        const hashes = outcomes
          .flat()
          .map((one) => (one.kind === 'stored' || one.kind === 'known' ? one.hash : one.kind))
        expect(new Set(hashes).size).to.equal(1)
        expect((await account()).used).to.equal(before.used + GAS_LIMIT)
      })

      it('answers the same call with the same hash when it is twice in one batch, and charges it once', async () => {
        const before = await account()
        const [one, other] = await accept([call(), call()], { identities: ['0xaa', '0xaa'] })
        expect(other).to.deep.equal({ kind: 'known', hash: hashOf(one) })
        expect((await account()).used).to.equal(before.used + GAS_LIMIT)
      })

      it('refuses another payload under the same nonce, and what follows it in the channel', async () => {
        await accept([call()])
        const outcomes = await accept([
          call(),
          call({ nonce: (channel << 128n) | 1n }),
          call({ nonce: (channel + 300n) << 128n }),
        ])
        expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['refused', 'orphaned', 'stored'])
        expect(outcomes[0]?.kind === 'refused' && outcomes[0].error.code).to.equal('NONCE_CONFLICT')
      })

      it('takes one of two payloads under one nonce in a batch, and tells the next nonce', async () => {
        const [one, other] = await accept([call(), call()])
        expect([one?.kind, other?.kind]).to.deep.equal(['stored', 'refused'])
        const error = other?.kind === 'refused' ? other.error : undefined
        expect(error?.code).to.equal('NONCE_CONFLICT')
        expect(error?.details).to.deep.equal({ expectedNonce: String((channel << 128n) + 1n) })
      })

      it('takes one statement while nobody else changes anything', async () => {
        await accept([call()])
        const next = [1n, 2n].map((id) => call({ nonce: (channel << 128n) | id }))
        const second = () => Promise.reject(new Error('a second statement'))
        const outcomes = await accept(next, { db: interrupted(2, second) })
        expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['stored', 'stored'])
      })

      it('finds what is unsent without looking through what is final', async () => {
        const calls = Array.from({ length: 300 }, (_, id) => call({ nonce: (channel << 128n) | BigInt(id) }))
        const past = (await accept(calls)).map(hashOf)
        await settle(
          database.db,
          past.map((hash) => mined(hash, 1n, { final: true })),
          options(),
        )
        const next = await accept([call({ nonce: (channel << 128n) | 300n })])
        const [row] = await Promise.all(next.map((outcome) => relayRow(hashOf(outcome))))
        await database.db.transaction().execute(async (db) => {
          const fromNonce = Number(row?.account_nonce)
          const before = await rowsRead(db)
          const range = { from: fromNonce, below: fromNonce + 1 }
          const unsent = await unsentOf(db, signers[0]!.address, range)
          const open = await openRelays(db, signers[0]!.address, { fromNonce, limit: 500 })
          expect(unsent.map(({ hash }) => hash)).to.deep.equal([row?.hash])
          expect(await unsentOf(db, signers[0]!.address, { ...range, below: fromNonce })).to.deep.equal([])
          expect(open.map(({ hash }) => hash)).to.deep.equal([row?.hash])
          expect((await rowsRead(db)) - before, 'rows').to.be.below(20)
        })
      })

      it('finds the calls of a profile with a nonce, for whichever key manager, and reads no others', async () => {
        const identities = Array.from({ length: 4 }, () => hexlify(randomBytes(32)))
        const nonce = channel << 128n
        const own = { profile: Wallet.createRandom().address }
        const keyManagers = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002']
        const [givenUp, reverted, again, other] = [
          call(own),
          call({ ...own, keyManager: keyManagers[1]! }),
          call({ ...own, keyManager: keyManagers[1]! }),
          call({ ...own, nonce: nonce | 1n }),
        ]
        const take = async (one: RelayCall, identity = '') =>
          hashOf((await accept([one], { identities: [identity] }))[0])
        const first = await take(givenUp, identities[0])
        const accountNonce = Number((await relayRow(first)).account_nonce)
        await abandon(database.db, [{ hash: first, accountNonce }], BLOCK, options())
        const second = await take(reverted, identities[1])
        await settle(database.db, [mined(second, 100n, { succeeded: false })], options())
        const third = await take(again, identities[1])
        const live = await take(givenUp, identities[2])
        await take(other, identities[3])
        // Calls of the profile in other channels.
        await accept(
          Array.from({ length: 300 }, (_, index) =>
            call({ ...own, nonce: (channel + 1_000n + BigInt(index)) << 128n }),
          ),
        )
        await database.db.transaction().execute(async (db) => {
          const before = await rowsRead(db)
          const [found, none] = await acceptedAt(db, [
            { ...own, nonce },
            { ...own, nonce: nonce | 2n },
          ])
          const known = new Map(found?.map((one) => [one.transactionHash, one]))
          expect([...known.keys()]).to.have.members([second, third, live])
          expect(found?.at(-1)?.transactionHash, 'reverted').to.equal(second)
          expect(known.get(live)).to.include({ keyManager: keyManagers[0], identity: identities[2] })
          expect(known.get(third)).to.include({ keyManager: keyManagers[1], identity: identities[1] })
          expect(none).to.deep.equal([])
          expect((await rowsRead(db)) - before, 'rows').to.be.below(20)
        })
      })

      it('finds the pending calls of each channel that is asked for, and of no channel beside it', async () => {
        const keyManager = Wallet.createRandom().address
        const [signer, other] = [Wallet.createRandom().address, Wallet.createRandom().address]
        const [below, asked, above] = [channel + 2_000n, channel + 2_001n, channel + 2_002n]
        const nonces = [below, asked, above].flatMap((one) => [one << 128n, (one << 128n) + 1n])
        await accept(nonces.map((nonce) => call({ keyManager, signer, nonce })))
        await accept([call({ keyManager, signer: other, nonce: asked << 128n })])
        const question = (one: bigint, sequence = 0n) => ({
          key: { keyManager, signer, channel: one },
          from: (one << 128n) + sequence,
          identities: [],
        })
        const found = await lookUp(database.db, [question(asked), question(asked, 1n), question(above)])
        const pending = found.map((state) => state.pending.map(({ nonce }) => nonce))
        expect(pending).to.deep.equal([nonces.slice(2, 4), nonces.slice(3, 4), nonces.slice(4)])
      })

      it('takes the nonces behind those that another process has taken', async () => {
        const mine = Wallet.createRandom().address
        const nonceOf = async (outcome: Committed | undefined) =>
          Number((await relayRow(hashOf(outcome))).account_nonce)
        const taken: number[] = []
        for (const [id, process] of [0, 1, 1, 0, 0, 1].entries()) {
          const [outcome] = await accept([call({ profile: mine, nonce: (channel << 128n) | BigInt(id) })], {
            memory: memories[process]!,
          })
          taken.push(await nonceOf(outcome))
        }
        expect(taken).to.deep.equal(taken.map((_, index) => taken[0]! + index))
        expect((await account(mine)).used).to.equal(6n * GAS_LIMIT)
      })

      it('takes the right nonces where another process has taken those of one signer', async () => {
        const nonces = async (outcomes: readonly Committed[]) =>
          Promise.all(outcomes.map(async (outcome) => Number((await relayRow(hashOf(outcome))).account_nonce)))
        let id = 0n
        const both = async (process: number, by = [0, 1]) => {
          const calls = by.map(() => call({ nonce: (channel << 128n) | id++ }))
          return nonces(await accept(calls, { by, memory: memories[process]! }))
        }
        await both(0)
        const [first = 0, second = 0] = await both(1)
        await both(0, [1])
        expect(await both(1)).to.deep.equal([first + 1, second + 2])
      })

      it('sees what has become of an account since it was last used', async () => {
        const changing = Wallet.createRandom().address
        let id = 0n
        const set = (values: Updateable<ProfilesTable>) =>
          database.db.updateTable('profiles').set(values).where('address', '=', changing).execute()
        const codeOf = async (registration: Registration = 'open') => {
          const [outcome] = await accept([call({ profile: changing, nonce: (channel << 128n) | id++ })], {
            registration,
          })
          return outcome?.kind === 'refused' ? outcome.error.code : outcome?.kind
        }
        expect(await codeOf()).to.equal('stored')
        await set({ suspended: true })
        expect(await codeOf()).to.equal('PROFILE_NOT_REGISTERED')
        await set({ suspended: false, used: String(ALLOWANCE) })
        expect(await codeOf()).to.equal('QUOTA_EXCEEDED')
        await set({ used: '0' })
        expect(await codeOf()).to.equal('stored')
        expect(await codeOf('registered')).to.equal('PROFILE_NOT_REGISTERED')
        await set({ registered: true })
        expect(await codeOf('registered')).to.equal('stored')
        await set({ registered: false })
        expect(await codeOf('registered')).to.equal('PROFILE_NOT_REGISTERED')
        // Moved to another plan, or renewed by another process.
        await set({ period: 7, used: '0' })
        const [renewed] = await accept([call({ profile: changing, nonce: (channel << 128n) | id })])
        expect((await relayRow(hashOf(renewed))).period).to.equal(7)
        expect(await account(changing)).to.deep.include({ period: 7, used: GAS_LIMIT })
      })

      it('gives back what was reserved and not used', async () => {
        const before = await account()
        const hash = hashOf((await accept([call()]))[0])
        expect((await account()).used).to.equal(before.used + GAS_LIMIT)
        const [settlement] = await settle(database.db, [mined(hash, 400n)], options())
        expect(settlement).to.deep.include({ status: 'succeeded', charged: 400n })
        expect((await account()).used).to.equal(before.used + 400n)
        // Seen again, it changes nothing.
        await settle(database.db, [mined(hash, 400n)], options())
        expect((await account()).used).to.equal(before.used + 400n)
      })

      it('charges once what two processes settle at a time', async () => {
        const before = await account()
        const hash = hashOf((await accept([call()]))[0])
        const other = () => settle(database.db, [mined(hash, 400n)], options())
        await settle(interrupted(2, other), [mined(hash, 500n, { blockHash: '0xc' })], options())
        expect((await relayRow(hash)).charged).to.equal('500')
        expect((await account()).used).to.equal(before.used + 500n)
      })

      it('charges no period that has begun meanwhile', async () => {
        const moved = Wallet.createRandom().address
        const hash = hashOf((await accept([call({ profile: moved })]))[0])
        const other = () =>
          database.db.updateTable('profiles').set({ period: 1, used: '7' }).where('address', '=', moved).execute()
        const [settlement] = await settle(interrupted(2, other), [mined(hash, 400n)], options())
        expect(settlement?.charged).to.equal(400n)
        expect((await account(moved)).used).to.equal(7n)
      })

      it('locks no account for longer than the statement that settles', async () => {
        const [one, two] = [hashOf((await accept([call()]))[0]), hashOf((await accept([call({ nonce: 0n })]))[0])]
        const locked = () => Promise.reject(new Error('a statement after the one that locks'))
        const settlements = await settle(interrupted(4, locked), [mined(one, 1n), mined(two, 2n)], options())
        expect(settlements).to.have.length(2)
      })

      it('reserves again what a reorganisation dropped, and charges what the next block says', async () => {
        const before = await account()
        const hash = hashOf((await accept([call()]))[0])
        await settle(database.db, [mined(hash, 400n)], options())
        await unsettle(database.db, [hash], options())
        expect((await account()).used).to.equal(before.used + GAS_LIMIT)
        expect((await relayRow(hash)).status).to.equal('pending')
        await settle(database.db, [mined(hash, 500n, { succeeded: false, blockHash: '0xc' })], options())
        expect((await account()).used).to.equal(before.used + 500n)
        await finalise(database.db, [hash])
        await unsettle(database.db, [hash], options())
        await settle(database.db, [mined(hash, 900n, { blockHash: '0xd' })], options())
        expect((await relayRow(hash)).status).to.equal('reverted')
        expect((await account()).used).to.equal(before.used + 500n)
      })

      it('holds for final what is mined deep enough', async () => {
        const [deep, young] = [hashOf((await accept([call()]))[0]), hashOf((await accept([call({ nonce: 1n })]))[0])]
        await settle(database.db, [mined(deep, 1n, { final: true }), mined(young, 1n)], options())
        expect([(await relayRow(deep)).final, (await relayRow(young)).final]).to.deep.equal([true, false])
      })

      it('charges nothing for what is given up, and takes the call anew', async () => {
        const before = await account()
        const identity = hexlify(randomBytes(32))
        const hash = hashOf((await accept([call()], { identities: [identity] }))[0])
        const accountNonce = Number((await relayRow(hash)).account_nonce)
        // Of a process that has not heard of the call's other nonce.
        await abandon(database.db, [{ hash, accountNonce: accountNonce - 1 }], BLOCK, options())
        expect((await relayRow(hash)).status).to.equal('pending')
        await abandon(database.db, [{ hash, accountNonce }], BLOCK, options())
        expect((await account()).used).to.equal(before.used)
        expect((await accept([call()], { identities: [identity] }))[0]?.kind).to.equal('stored')
      })

      it('does not give up what another process has seen mined', async () => {
        const hash = hashOf((await accept([call()]))[0])
        const accountNonce = Number((await relayRow(hash)).account_nonce)
        await settle(database.db, [mined(hash, 100n)], options())
        const { used } = await account()
        await abandon(database.db, [{ hash, accountNonce }], BLOCK, options())
        expect((await relayRow(hash)).status).to.equal('succeeded')
        expect((await account()).used).to.equal(used)
      })

      it('charges a call that was given up and is mined all the same, beside the one that has its nonce by then', async () => {
        const before = await account()
        const block = { number: 9, hash: hexlify(randomBytes(32)) }
        const given = hashOf((await accept([call()]))[0])
        const accountNonce = Number((await relayRow(given)).account_nonce)
        await abandon(database.db, [{ hash: given, accountNonce }], block, options())
        const successor = hashOf((await accept([call({ payload: '0x99' })]))[0])
        expect(await reopenBlocks(database.db, [block.hash], 0)).to.equal(1)
        await settle(database.db, [mined(given, 400n)], options())
        await settle(database.db, [mined(successor, 100n, { succeeded: false })], options())
        expect([(await relayRow(given)).status, (await relayRow(successor)).status]).to.deep.equal([
          'succeeded',
          'reverted',
        ])
        expect((await account()).used).to.equal(before.used + 500n)
      })

      it('charges what it did cost to use up the nonce of a call that has expired, and of no other', async () => {
        const before = await account()
        const calls = [
          call({ validityTimestamps: BigInt(nowSeconds - 1) }),
          call({ nonce: (channel << 128n) | 1n, validityTimestamps: BigInt(nowSeconds) }),
          call({ nonce: (channel << 128n) | 2n }),
        ]
        const hashes = (await accept(calls)).map(hashOf)
        const cancelled = hashes.map((hash) => mined(hash, 210n, { kind: 'cancel' }))
        const settlements = await settle(database.db, cancelled, options())
        const charged = new Map(settlements.map((settlement) => [settlement.relay, settlement.charged]))
        expect(hashes.map((hash) => charged.get(hash))).to.deep.equal([210n, 0n, 0n])
        expect(settlements.map(({ status }) => status)).to.deep.equal(['abandoned', 'abandoned', 'abandoned'])
        expect((await account()).used).to.equal(before.used + 210n)
      })

      /** Signs a transaction that uses up the nonce of a call. */
      async function useUp(hash: string, gasLimit: bigint): Promise<void> {
        const signer = signers[0]!
        const nonce = Number((await relayRow(hash)).account_nonce)
        const fees = { type: 2, maxFeePerGas: 20n, maxPriorityFeePerGas: 1n } as const
        await storeAttempt(
          database.db,
          {
            transaction: hash,
            kind: 'cancel',
            relays: [],
            carries: null,
            account: signer.address,
            seenNonce: nonce,
            nonce,
            fees,
            gasLimit,
            sign: (nonce) => signer.sign({ chainId: 1n, nonce, to: signer.address, gasLimit, data: '0x', fees }),
          },
          { plans, nowMs: nowSeconds * 1000 },
        )
      }
      const expiredCall = async () => hashOf((await accept([call({ validityTimestamps: BigInt(nowSeconds - 1) })]))[0])

      it('reserves what it costs more to use up the nonce of a call that has expired', async () => {
        const before = await account()
        const hash = await expiredCall()
        await useUp(hash, 3n * GAS_LIMIT)
        expect((await account()).used).to.equal(before.used + 3n * GAS_LIMIT)
        await settle(database.db, [mined(hash, 2n * GAS_LIMIT, { kind: 'cancel' })], options())
        expect((await account()).used).to.equal(before.used + 2n * GAS_LIMIT)
      })

      it('reserves and charges nothing of a later period for it', async () => {
        const hash = await expiredCall()
        nowSeconds += PERIOD_SECONDS
        hashOf((await accept([call({ nonce: (channel << 128n) | 1n })]))[0])
        const before = await account()
        expect(before.used).to.equal(GAS_LIMIT)
        await useUp(hash, 3n * GAS_LIMIT)
        expect((await account()).used).to.equal(before.used)
        await settle(database.db, [mined(hash, 2n * GAS_LIMIT, { kind: 'cancel' })], options())
        expect((await account()).used).to.equal(before.used)
      })

      it('leaves what follows on a call that another process has stored to another turn', async () => {
        const [first, second] = [call(), call({ nonce: (channel << 128n) | 1n })]
        const identities = [hexlify(randomBytes(32)), hexlify(randomBytes(32))]
        const [stored] = await accept([first], { identities, memory: memories[1]! })
        const outcomes = await accept([first, second], { identities, by: [1, 1], memory: createLedgerMemory() })
        expect(outcomes).to.deep.equal([{ kind: 'known', hash: hashOf(stored) }, { kind: 'orphaned' }])
      })

      it('takes a call that reverted anew, and lets the former one come back', async () => {
        const before = await account()
        const identity = hexlify(randomBytes(32))
        const take = async () => (await accept([call()], { identities: [identity] }))[0]
        const first = hashOf(await take())
        await settle(database.db, [mined(first, 100n, { succeeded: false })], options())
        const second = hashOf(await take())
        expect(second).to.not.equal(first)
        expect(await take()).to.deep.equal({ kind: 'known', hash: second })
        await settle(database.db, [mined(second, 200n)], options())
        await unsettle(database.db, [first, second], options())
        expect((await account()).used).to.equal(before.used + 2n * GAS_LIMIT)
        await settle(database.db, [mined(first, 300n), mined(second, 50n, { succeeded: false })], options())
        expect([(await relayRow(first)).status, (await relayRow(second)).status]).to.deep.equal([
          'succeeded',
          'reverted',
        ])
        expect((await account()).used).to.equal(before.used + 350n)
      })

      describe('profiles that nobody has registered', () => {
        const unregistered = { ...boundless, gasPerHour: 10 * Number(GAS_LIMIT), codeGasPerHour: 4 * Number(GAS_LIMIT) }
        const fresh = (): RelayCall =>
          call({ profile: Wallet.createRandom().address, nonce: BigInt(hexlify(randomBytes(16))) << 128n })
        const codeOf = (outcome: Committed | undefined) =>
          outcome?.kind === 'refused' ? outcome.error.code : outcome?.kind

        it('may use so much gas together, in several processes at once, until the hour is over', async () => {
          nowSeconds += 3_600
          const outcomes = await Promise.all(
            Array.from({ length: 20 }, async (_, index) => {
              const more = { unregistered, code: `code ${index % 5}`, memory: createLedgerMemory() }
              return (await accept([fresh()], more))[0]
            }),
          )
          expect(outcomes.filter((outcome) => outcome?.kind === 'stored')).to.have.lengthOf(10)
          const refused = outcomes.find((outcome) => outcome?.kind === 'refused')
          if (refused?.kind !== 'refused') throw new Error('none is refused')
          expect(refused.error.code).to.equal('RATE_LIMITED')
          expect(refused.error.retryAfterSeconds).to.equal(3_600 - (nowSeconds % 3_600))
          nowSeconds += 3_600
          expect(codeOf((await accept([fresh()], { unregistered, code: 'code 0' }))[0])).to.equal('stored')
        })

        it('may use it again in the next hour, though a clock that was ahead has begun one in a year', async () => {
          const year = 365 * 86_400
          nowSeconds += 3_600
          const more = { unregistered, code: 'one code', memory: createLedgerMemory() }
          nowSeconds += year
          await accept([fresh()], more)
          nowSeconds -= year
          const outcomes = await accept(Array.from({ length: 6 }, fresh), more)
          // What was used by that clock counts in the hour in which it is found.
          expect(outcomes.map(codeOf)).to.deep.equal([
            ...Array<string>(3).fill('stored'),
            ...Array<string>(3).fill('RATE_LIMITED'),
          ])
          const refused = outcomes.at(-1)
          if (refused?.kind !== 'refused') throw new Error('the last one is not refused')
          expect(refused.error.retryAfterSeconds).to.equal(3_600 - (nowSeconds % 3_600))
          nowSeconds += 3_600
          expect(codeOf((await accept([fresh()], more))[0])).to.equal('stored')
        })

        it('may use it once in the hour that a clock a second ahead has begun', async () => {
          nowSeconds += 3_600 - (nowSeconds % 3_600) - 1
          const outcomes: (string | undefined)[] = []
          for (const aheadSeconds of [1, 0, 1, 0, 1, 0]) {
            nowSeconds += aheadSeconds
            const more = { unregistered, code: 'a code', memory: createLedgerMemory() }
            outcomes.push(codeOf((await accept([fresh()], more))[0]))
            nowSeconds -= aheadSeconds
          }
          expect(outcomes).to.deep.equal([...Array<string>(4).fill('stored'), 'RATE_LIMITED', 'RATE_LIMITED'])
        })

        it('may use less with the same code, and leave the rest to others', async () => {
          nowSeconds += 3_600
          const outcomes = await accept(Array.from({ length: 6 }, fresh), { unregistered, code: '0xc0de' })
          expect(outcomes.map(codeOf)).to.deep.equal([
            ...Array<string>(4).fill('stored'),
            'RATE_LIMITED',
            'RATE_LIMITED',
          ])
          expect(codeOf((await accept([fresh()], { unregistered, code: '0xother' }))[0])).to.equal('stored')
        })

        it('may use no more because a process remembers less than others have used', async () => {
          nowSeconds += 3_600
          const one = fresh()
          let id = 0n
          // Each has a signer of its own, whose nonce it knows.
          const take = async (process: number) => {
            const next = { ...one, nonce: one.nonce | id++, callData: hexlify(randomBytes(32)) }
            const more = { unregistered, code: '0xshared', memory: memories[process]!, by: [process] }
            return codeOf((await accept([next], more))[0])
          }
          const outcomes: (string | undefined)[] = []
          for (const process of [0, 1, 1, 1, 0]) outcomes.push(await take(process))
          expect(outcomes).to.deep.equal([...Array<string>(4).fill('stored'), 'RATE_LIMITED'])
        })

        it('are told from registered ones at the very moment', async () => {
          nowSeconds += 3_600
          const spent = { ...boundless, gasPerHour: 0 }
          const one = fresh()
          const next = (id: bigint) => ({ ...one, nonce: one.nonce | id, callData: hexlify(randomBytes(32)) })
          expect(codeOf((await accept([one], { unregistered }))[0])).to.equal('stored')
          expect(codeOf((await accept([next(1n)], { unregistered: spent }))[0])).to.equal('RATE_LIMITED')
          const set = (registered: boolean) =>
            database.db.updateTable('profiles').set({ registered }).where('address', '=', one.profile).execute()
          await set(true)
          expect(codeOf((await accept([next(2n)], { unregistered: spent }))[0])).to.equal('stored')
          await set(false)
          expect(codeOf((await accept([next(3n)], { unregistered: spent }))[0])).to.equal('RATE_LIMITED')
        })
      })

      it('slows a profile whose calls revert, the longer the more of them, and forgets one each hour', async () => {
        const reverting = Wallet.createRandom().address
        let id = 0n
        const take = async (memory = memories[0]!) =>
          (await accept([call({ profile: reverting, nonce: (channel << 128n) | id++ })], { memory }))[0]
        const revert = async (...hashes: string[]) =>
          settle(
            database.db,
            hashes.map((hash) => mined(hash, 1n, { succeeded: false })),
            options(),
          )
        const hashes: string[] = []
        for (let count = 0; count < 5; count++) hashes.push(hashOf(await take()))
        // All in one block.
        await revert(...hashes.slice(0, 3))
        expect((await account(reverting)).slowedUntil).to.equal(0)
        await revert(hashes[3] ?? '')
        expect((await account(reverting)).slowedUntil).to.equal(nowSeconds + 2)
        // What was remembered of it is not believed.
        for (const memory of memories) {
          const outcome = await take(memory)
          expect(outcome?.kind === 'refused' && outcome.error.code).to.equal('RATE_LIMITED')
          expect(outcome?.kind === 'refused' && outcome.error.retryAfterSeconds).to.equal(2)
        }
        await revert(hashes[4] ?? '')
        expect((await account(reverting)).slowedUntil).to.equal(nowSeconds + 4)
        // A reorganisation has taken it back: as if there had been one less.
        await unsettle(database.db, [hashes[4] ?? ''], options())
        await revert(hashes[4] ?? '')
        expect((await account(reverting)).slowedUntil).to.equal(nowSeconds + 4)
        nowSeconds += 3_600 * 3
        const late = hashOf(await take())
        await revert(late)
        expect((await account(reverting)).slowedUntil).to.be.below(nowSeconds)
      })

      it('settles what was reserved before a reset against no later period', async () => {
        const hash = hashOf((await accept([call()]))[0])
        nowSeconds += PERIOD_SECONDS
        expect(await account()).to.deep.include({ used: 0n, allowance: ALLOWANCE })
        const [settlement] = await settle(database.db, [mined(hash, 400n)], options())
        expect(settlement?.charged).to.equal(400n)
        expect((await account()).used).to.equal(0n)
      })

      it('refuses what the quota does not cover, and says when it will', async () => {
        nowSeconds += PERIOD_SECONDS
        const poor = Wallet.createRandom().address
        await accept([call({ profile: poor })])
        await database.db
          .updateTable('profiles')
          .set({ allowance: String(GAS_LIMIT + 10n) })
          .where('address', '=', poor)
          .execute()
        const [outcome] = await accept([call({ profile: poor, nonce: (channel + 400n) << 128n })])
        expect(outcome?.kind).to.equal('refused')
        if (outcome?.kind !== 'refused') return
        expect(outcome.error.code).to.equal('QUOTA_EXCEEDED')
        expect(outcome.error.retryAfterSeconds).to.be.within(1, PERIOD_SECONDS)
        expect(outcome.error.details).to.deep.include({ needed: String(GAS_LIMIT), available: '10' })
      })

      it('lets a quota be used to its last unit', async () => {
        const own = { profile: Wallet.createRandom().address }
        const next = (id: bigint) => call({ ...own, nonce: (channel << 128n) | id })
        const kinds = async (ids: readonly bigint[]) => (await accept(ids.map(next))).map(({ kind }) => kind)
        expect(await kinds([0n])).to.deep.equal(['stored'])
        await database.db
          .updateTable('profiles')
          .set({ allowance: String(3n * GAS_LIMIT) })
          .where('address', '=', own.profile)
          .execute()
        expect(await kinds([1n, 2n, 3n])).to.deep.equal(['stored', 'stored', 'refused'])
      })

      it('keeps total = available + used at every instant, under load and across a reset', async () => {
        nowSeconds += PERIOD_SECONDS
        const busy = Wallet.createRandom().address
        let isOver = false
        const broken: string[] = []
        const watcher = (async () => {
          while (!isOver) {
            const now = await account(busy).catch(() => undefined)
            if (now && (now.used > now.allowance || now.used < 0n || availableIn(now) + now.used !== now.allowance)) {
              broken.push(`${now.used} of ${now.allowance}`)
            }
            await new Promise((resolve) => setImmediate(resolve))
          }
        })()
        const relays: { hash: string; gasUsed: bigint; period: number }[] = []
        await Promise.all(
          Array.from({ length: 12 }, async (_, worker) => {
            for (let round = 0; round < 6; round++) {
              // In the middle of it all the period ends.
              if (worker === 0 && round === 3) nowSeconds += PERIOD_SECONDS
              const nonce = BigInt(10_000 + Number(channel) * 1000 + worker * 10 + round) << 128n
              const [outcome] = await accept([call({ profile: busy, nonce })], { by: [worker % 2] })
              if (outcome?.kind !== 'stored') continue
              const gasUsed = BigInt(100 + worker * 7 + round)
              await settle(database.db, [mined(outcome.hash, gasUsed)], options())
              relays.push({ hash: outcome.hash, gasUsed, period: (await relayRow(outcome.hash)).period })
            }
          }),
        )
        isOver = true
        await watcher
        expect(broken).to.deep.equal([])
        expect(relays).to.have.lengthOf(72)
        const { used, period } = await account(busy)
        const charged = relays
          .filter((relay) => relay.period === period)
          .reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
        expect(used).to.equal(charged)
        expect(period).to.equal(1)
      })

      it('stores nothing for a process whose signer another one has taken since', async () => {
        const take = async (holder: string) => {
          for (const { address } of signers) await takeSigner(database.db, address, holder)
        }
        const count = async () => (await database.db.selectFrom('relays').select('hash').execute()).length
        await take('one')
        const [first] = await accept([call()], { holder: 'one' })
        expect(first?.kind).to.equal('stored')
        await take('other')
        const before = await count()
        // As it is remembered, and read anew under locks.
        for (const memory of [memories[0]!, createLedgerMemory()]) {
          const error = await accept([call()], { holder: 'one', memory }).catch((thrown: unknown) => thrown)
          expect(error).to.be.instanceOf(NotHeldError)
        }
        expect(await count()).to.equal(before)
        expect((await accept([call({ nonce: (channel << 128n) + 1n })], { holder: 'other' }))[0]?.kind).to.equal(
          'stored',
        )
      })

      describe('bundles', () => {
        const limits: BundleLimits = {
          contract: '0x00000000000000000000000000000000000B0d1e',
          maxCalls: 4,
          maxGas: 1_000_000n,
          maxDataBytes: 100_000,
        }
        // With a quota that is not used up.
        beforeEach(() => (nowSeconds += PERIOD_SECONDS))

        const calls = (count: number, overrides: Partial<RelayCall> = {}) =>
          Array.from({ length: count }, (_, id) => call({ nonce: (channel << 128n) | BigInt(id), ...overrides }))
        /** How many calls each transaction has, in the order of their nonces. */
        const sizes = (outcomes: readonly Committed[]) =>
          [...Map.groupBy(outcomes, hashOf).values()].map((group) => group.length)
        const accepting = (some: readonly RelayCall[], altered: Partial<BundleLimits> = {}, gasLimit = 50_000n) =>
          accept(some, { bundles: { ...limits, ...altered }, gasLimit })

        it('have as many calls as they may', async () => {
          expect(sizes(await accepting(calls(9)))).to.deep.equal([4, 4, 1])
        })

        it('take no more gas than a block holds, the part included that calls leave to the contract', async () => {
          expect(sizes(await accepting(calls(4), { maxGas: 101_588n }))).to.deep.equal([2, 2])
          channel++
          expect(sizes(await accepting(calls(2), { maxGas: 101_587n }))).to.deep.equal([1, 1])
        })

        it('have no more bytes than nodes take, and no call with much data', async () => {
          const long = hexlify(randomBytes(2_000))
          expect(sizes(await accepting(calls(4, { callData: long }), { maxDataBytes: 4_132 }, 100_000n))).to.deep.equal(
            [2, 2],
          )
          channel++
          expect(sizes(await accepting(calls(2, { callData: long }), { maxDataBytes: 4_131 }, 100_000n))).to.deep.equal(
            [1, 1],
          )
          channel++
          const [first, ...rest] = calls(3)
          const large = { ...rest[0]!, callData: hexlify(randomBytes(8_193)) }
          expect(sizes(await accepting([first!, large, rest[1]!], {}, 100_000n))).to.deep.equal([1, 1, 1])
        })

        it('are of one signer, and keep the order of the calls', async () => {
          const outcomes = await accept(calls(6), { by: [0, 1], bundles: limits, gasLimit: 50_000n })
          expect(sizes(outcomes)).to.deep.equal([3, 3])
          const rows = await Promise.all(outcomes.map((one) => relayRow(one.kind === 'stored' ? one.relay : '')))
          expect(rows.map(({ account }) => account)).to.deep.equal(
            [0, 1, 0, 1, 0, 1].map((index) => signers[index]!.address),
          )
          expect(rows.map(({ place }) => place)).to.deep.equal([0, 0, 1, 1, 2, 2])
        })

        it('are found by their calls, whose data they hold', async () => {
          const some = calls(3)
          const identities = some.map(() => hexlify(randomBytes(32)))
          const before = await pendingCostWei(database.db, signers[0]!.address)
          const outcomes = await accept(some, { bundles: limits, gasLimit: 50_000n, identities })
          const hash = hashOf(outcomes[0])
          const key = { keyManager: some[0]!.keyManager, signer: some[0]!.signer, channel }
          const [state] = await lookUp(database.db, [{ key, from: channel << 128n, identities }])
          expect(state?.pending.map(({ callData }) => callData)).to.deep.equal(some.map(({ callData }) => callData))
          expect([...(state?.known ?? [])]).to.have.deep.members(identities.map((identity) => [identity, hash]))
          // As if this process had forgotten, and another one been asked.
          const again = await accept(some, {
            bundles: limits,
            gasLimit: 50_000n,
            identities,
            memory: createLedgerMemory(),
          })
          expect(again).to.deep.equal(some.map(() => ({ kind: 'known', hash })))
          const nonce = Number((await relayRow(`${hash}/0`)).account_nonce)
          const unsent = await unsentOf(database.db, signers[0]!.address, { from: nonce, below: nonce + 1 })
          expect(unsent.map((one) => one.hash)).to.deep.equal([hash])
          // 10 wei for the gas of the whole transaction, rounded up for each of its calls.
          const cost = (await pendingCostWei(database.db, signers[0]!.address)) - before
          expect(cost >= 1_523_810n && cost < 1_523_850n, String(cost)).to.equal(true)
        })

        it('come whole into a look, or not at all', async () => {
          const [single] = await accept([call({ nonce: (channel + 700n) << 128n })])
          await accepting(calls(4))
          const { account, account_nonce } = await relayRow(hashOf(single))
          for (const [limit, expected] of [
            [3, 1],
            [4, 1],
            [5, 1],
            [6, 5],
          ] as const) {
            const open = await openRelays(database.db, account, { fromNonce: Number(account_nonce), limit })
            expect(open, `of ${limit}`).to.have.length(expected)
          }
        })

        it('reserve and settle each call for itself, and get other transactions together', async () => {
          const other = Wallet.createRandom().address
          await accept([call({ profile: other, nonce: (channel + 700n) << 128n })])
          const before = [await account(), await account(other)]
          const [first, second] = calls(2)
          const outcomes = await accepting([first!, { ...second!, profile: other }])
          const hash = hashOf(outcomes[0])
          const relays = outcomes.map((one) => (one.kind === 'stored' ? one.relay : ''))
          const signer = signers[0]!
          const attempt = (carries: readonly number[]) => ({
            transaction: hash,
            kind: 'call' as const,
            relays: carries.map((place) => relays[place] ?? ''),
            carries,
            account: signer.address,
            seenNonce: 0,
            nonce: { notBelow: 0 },
            fees: { type: 2, maxFeePerGas: 20n, maxPriorityFeePerGas: 1n } as const,
            gasLimit: GAS_LIMIT,
            sign: (nonce: number) => ({ hash: `${hash}-${nonce}`, raw: '0x' }),
          })
          const seenNonce = Number((await relayRow(relays[0] ?? '')).account_nonce)
          const at = { plans, nowMs: nowSeconds * 1000 }
          expect(await storeAttempt(database.db, { ...attempt([1]), seenNonce: seenNonce - 1 }, at)).to.equal(undefined)
          const signed = await storeAttempt(database.db, { ...attempt([1]), seenNonce }, at)
          const open = await openRelays(database.db, signer.address, { fromNonce: seenNonce, limit: 500 })
          const tried = await withAttempts(
            database.db,
            open.filter(({ transaction }) => transaction === hash),
          )
          expect(tried.map(({ attempts }) => attempts.map(({ kind }) => kind))).to.deep.equal([
            ['call', 'cancel'],
            ['call', 'call'],
          ])
          expect(new Set(tried.map(({ accountNonce }) => accountNonce)).size).to.equal(1)
          const parts = [
            { kind: 'cancel' as const, gasUsed: 0n },
            { kind: 'call' as const, gasUsed: 30_000n },
          ]
          const settled = relays.map((relay, index) => mined(relay, 0n, { attempt: signed?.hash, ...parts[index] }))
          await settle(database.db, settled, options())
          const [abandoned, succeeded] = await Promise.all(relays.map(relayRow))
          expect([abandoned?.status, succeeded?.status]).to.deep.equal(['abandoned', 'succeeded'])
          const after = [await account(), await account(other)]
          expect(after.map(({ used }, index) => used - before[index]!.used)).to.deep.equal([0n, 30_000n])
          await unsettle(database.db, relays, options())
          expect((await relayRow(relays[1] ?? '')).status).to.equal('pending')
        })

        it('reserve alike what it costs more to use up the nonce that they share', async () => {
          const { used } = await account()
          const hash = hashOf((await accepting(calls(3, { validityTimestamps: BigInt(nowSeconds - 1) })))[0])
          const seenNonce = Number((await relayRow(`${hash}/0`)).account_nonce)
          const cancel = {
            transaction: hash,
            kind: 'cancel' as const,
            relays: [],
            carries: [],
            account: signers[0]!.address,
            seenNonce,
            nonce: seenNonce,
            fees: { type: 2, maxFeePerGas: 20n, maxPriorityFeePerGas: 1n } as const,
            gasLimit: 180_001n,
            sign: () => ({ hash: `${hash}-cancel`, raw: '0x' }),
          }
          await storeAttempt(database.db, cancel, { plans, nowMs: nowSeconds * 1000 })
          expect((await account()).used).to.equal(used + 3n * 60_001n)
        })
      })

      describe('another attempt', () => {
        const fees = { type: 2, maxFeePerGas: 20n, maxPriorityFeePerGas: 1n } as const
        let relay: string
        let seenNonce: number

        beforeEach(async () => {
          relay = hashOf((await accept([call()]))[0])
          seenNonce = Number((await relayRow(relay)).account_nonce)
        })

        function storing(change: Partial<NewAttempt>) {
          const signer = signers[0]!
          const what = { chainId: 1n, to: signer.address, gasLimit: GAS_LIMIT, data: '0x' }
          const attempt: NewAttempt = {
            transaction: relay,
            kind: 'call',
            relays: [relay],
            carries: null,
            account: signer.address,
            seenNonce,
            nonce: { notBelow: 0 },
            fees,
            gasLimit: GAS_LIMIT,
            sign: (nonce) => signer.sign({ ...what, nonce, fees }),
            ...change,
          }
          return storeAttempt(database.db, attempt, { plans, nowMs: nowSeconds * 1000 })
        }

        it('is not stored for a relay that has been given another nonce since', async () => {
          expect(await storing({})).to.be.an('object')
          // One that was frozen in between comes with what it saw before.
          expect(await storing({})).to.equal(undefined)
        })

        it('reserves anew for a relay that was given up and is opened again, and no more than it takes', async () => {
          const block = { number: 9, hash: hexlify(randomBytes(32)) }
          await abandon(database.db, [{ hash: relay, accountNonce: seenNonce }], block, options())
          const { used } = await account()
          await reopenBlocks(database.db, [block.hash], 0)
          await storing({ nonce: seenNonce })
          expect((await account()).used).to.equal(used + GAS_LIMIT)
          const sign = () => ({ hash: `${relay}-dearer`, raw: '0x' })
          await storing({ nonce: seenNonce, kind: 'cancel', gasLimit: 3n * GAS_LIMIT, sign })
          expect((await account()).used).to.equal(used + 3n * GAS_LIMIT)
          await settle(database.db, [mined(relay, 400n)], options())
          expect((await account()).used).to.equal(used + 400n)
        })

        it('is not stored when another process has signed something else since, with the same nonce', async () => {
          const decided = { nonce: seenNonce, seenAttempt: relay }
          const cancel = await storing({ ...decided, kind: 'cancel', relays: [] })
          expect(cancel).to.be.an('object')
          expect(await storing(decided)).to.equal(undefined)
          const sign = () => ({ hash: `${relay}-again`, raw: '0x' })
          expect(await storing({ ...decided, ...(cancel && { seenAttempt: cancel.hash }), sign })).to.be.an('object')
        })
      })
    })
  }
})
