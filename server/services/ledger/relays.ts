import type { TransactionStatus } from '../../../specs/index.ts'
import type { Selectable } from 'kysely'
import { microBatch } from '../../concurrency/micro-batch.ts'
import type { Database, Queries } from '../database/database.ts'
import type { RelaysTable } from '../database/tables.ts'
import { planOf, type Plans } from '../quotas/plans.ts'
import type { CallFilter, ProfilePlace, Relays, RelayStatus } from '../relay-services.ts'
import { acceptedAt } from './lookup.ts'
import { amountInUnit } from '../quotas/models.ts'

/** The most questions for accepted calls in one look into the ledger. */
const MAX_TOGETHER = 64

export function createRelays({ database, plans }: { database: Database; plans: Plans }): Relays {
  const { db } = database
  return {
    status: async (hash, wanted = {}) => {
      const attempt = await db.selectFrom('attempts').where('hash', '=', hash).select('relay').executeTakeFirst()
      if (!attempt) return undefined
      const [all, tried] = await Promise.all([relaysOf(db, attempt.relay), attemptsOf(db, attempt.relay)])
      const relays = all.filter((relay) => isWanted(relay, wanted))
      const places = new Set(relays.map(({ place }) => place))
      const attempts = tried.filter(({ carries }) => carries === null || carries.some((place) => places.has(place)))
      const [first] = relays
      if (!first) return undefined
      const outcomes = relays.map((relay) => outcomeOf(relay, plans))
      const [outcome] = outcomes
      return {
        status: statusOfAll(outcomes.map(({ status }) => status)),
        transactionHash: first.mined_hash ?? attempts.at(-1)?.hash ?? attempt.relay,
        attempts: attempts.map(({ hash: transactionHash, created_at_ms }) => ({
          transactionHash,
          signedAt: Math.floor(Number(created_at_ms) / 1000),
        })),
        block:
          first.mined_hash === null || first.block_number === null || first.block_hash === null
            ? null
            : { number: Number(first.block_number), hash: first.block_hash },
        gasUsed: sumOf(outcomes.map(({ gasUsed }) => gasUsed)),
        charged: outcomes.length === 1 && outcome ? outcome.charged : chargedTogether(outcomes),
        ...(first.bundle !== null && { calls: relays.map((relay) => callOf(relay, plans)) }),
      }
    },
    accepted: microBatch((places: readonly ProfilePlace[]) => acceptedAt(db, places), { maxItems: MAX_TOGETHER }),
    countPending: async () => {
      const { count } = await db
        .selectFrom('relays')
        .where('status', '=', 'pending')
        .where('final', '=', false)
        .select(({ fn }) => fn.countAll<string | number>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    countSince: async (sinceMs) => {
      const rows = await db
        .selectFrom('relays')
        .where('created_at_ms', '>=', sinceMs)
        .groupBy('status')
        .select(({ fn }) => ['status', fn.countAll<string | number>().as('count')])
        .execute()
      const counts = { pending: 0, succeeded: 0, reverted: 0, abandoned: 0 }
      for (const { status, count } of rows) counts[status] = Number(count)
      return counts
    },
  }
}

type RelayRow = Selectable<RelaysTable>

/** The relays of a transaction, as their bundle has them in order. */
const relaysOf = (db: Queries, transaction: string) =>
  db
    .selectFrom('relays')
    .where((row) => row.or([row('hash', '=', transaction), row('bundle', '=', transaction)]))
    .orderBy('place')
    .selectAll()
    .execute()

/** The transactions that carried calls, oldest first. */
const attemptsOf = (db: Queries, transaction: string) =>
  db
    .selectFrom('attempts')
    .where('relay', '=', transaction)
    .where('kind', '=', 'call')
    .orderBy('created_at_ms')
    .select(['hash', 'created_at_ms', 'carries'])
    .execute()

const isWanted = (relay: RelayRow, { profile, signer, nonce }: CallFilter) =>
  (profile === undefined || relay.profile === profile) &&
  (signer === undefined || relay.signer === signer) &&
  (nonce === undefined || BigInt(relay.nonce) === nonce)

/** The outcome of a relay so far. */
function outcomeOf(relay: RelayRow, plans: Plans) {
  const { unit } = planOf(relay, plans)
  return {
    status: relay.status,
    gasUsed: relay.gas_used === null ? null : Number(relay.gas_used),
    charged: relay.charged === null ? null : { amount: amountInUnit(BigInt(relay.charged), unit), unit },
  }
}

const callOf = (relay: RelayRow, plans: Plans) => ({
  profile: relay.profile,
  signer: relay.signer,
  nonce: relay.nonce,
  ...outcomeOf(relay, plans),
})

/** `pending` while one call is pending; `mixed` when calls ended differently. */
function statusOfAll(statuses: readonly RelayStatus[]): TransactionStatus['status'] {
  return statuses.includes('pending') ? 'pending' : (alike(statuses) ?? 'mixed')
}

/** @returns the value that all share; undefined when they differ */
function alike<Value>(values: readonly Value[]): Value | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined
}

/** @returns null while one is missing */
function sumOf(amounts: readonly (number | null)[]): number | null {
  return amounts.reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0)
}

/** @returns null while one call is not settled, or where they are charged in different units */
function chargedTogether(outcomes: readonly ReturnType<typeof outcomeOf>[]) {
  const unit = alike(outcomes.map(({ charged }) => charged?.unit))
  const amount = sumOf(outcomes.map(({ charged }) => charged?.amount ?? null))
  return unit === undefined || amount === null ? null : { amount, unit }
}
