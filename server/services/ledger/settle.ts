import { sql } from 'kysely'
import { anyOf } from '../database/any-of.ts'
import type { Queries } from '../database/database.ts'
import { retryOnConflict } from '../database/retry.ts'
import type { AttemptsTable, RelaysTable, RelayStatus } from '../database/tables.ts'
import { moveReservation, planOf } from '../quotas/account.ts'
import type { Plans } from '../quotas/plans.ts'
import { lockAccounts, saveAccounts } from './account-rows.ts'

/** A mined transaction of a relay. */
export interface Mined {
  /** `relays.hash`. */
  readonly relay: string
  readonly attempt: string
  readonly kind: AttemptsTable['kind']
  readonly succeeded: boolean
  readonly blockNumber: number
  readonly blockHash: string
  readonly gasUsed: bigint
  readonly effectiveGasPriceWei: bigint
  /** Deep enough in the chain to stay. */
  readonly final: boolean
}

/** What a relay came to, for logs and metrics. */
export interface Settlement {
  readonly relay: string
  readonly profile: string
  readonly plan: string
  readonly status: RelayStatus
  readonly charged: bigint
  readonly gasUsed: bigint
}

export interface SettleOptions {
  readonly plans: Plans
  readonly nowSeconds: number
}

/**
 * Writes down that relays are mined, and charges what they did cost, also when they reverted. The rest of what was
 * reserved goes back, unless the account has begun a new period. What was written before is corrected: a relay may be
 * mined again, elsewhere, after a reorganisation.
 */
export async function settle(db: Queries, mined: readonly Mined[], options: SettleOptions): Promise<Settlement[]> {
  const byRelay = new Map(mined.map((one) => [one.relay, one]))
  return change(db, [...byRelay.keys()], options, (relay) => {
    const one = byRelay.get(relay.hash)
    if (!one || relay.final) return undefined
    const status = one.kind === 'cancel' ? 'abandoned' : one.succeeded ? 'succeeded' : 'reverted'
    return {
      cost: one.kind === 'cancel' ? 0n : planOf(relay, options.plans).settle(one),
      gasUsed: one.gasUsed,
      set: {
        status,
        final: one.final,
        mined: { hash: one.attempt, blockNumber: one.blockNumber, blockHash: one.blockHash, gasUsed: one.gasUsed },
      },
    }
  })
}

/** Takes back that relays are mined: the chain has dropped their blocks. What they reserved is reserved again. */
export async function unsettle(db: Queries, relays: readonly string[], options: SettleOptions): Promise<Settlement[]> {
  return change(db, relays, options, (relay) => {
    if (relay.final || relay.mined_hash === null) return undefined
    return {
      cost: null,
      gasUsed: 0n,
      set: {
        // An abandoned one stays so: its nonce has to be used up again, no more.
        status: relay.status === 'abandoned' ? 'abandoned' : 'pending',
        mined: null,
      },
    }
  })
}

/** Gives relays up that will never be mined: nothing is charged. */
export async function abandon(db: Queries, relays: readonly string[], options: SettleOptions): Promise<Settlement[]> {
  return change(db, relays, options, (relay) =>
    relay.final || relay.mined_hash !== null
      ? undefined
      : { cost: 0n, gasUsed: 0n, set: { status: 'abandoned', final: true } },
  )
}

/** Marks relays as deep enough in the chain to stay. */
export async function finalise(db: Queries, relays: readonly string[]): Promise<void> {
  if (relays.length === 0) return
  await db
    .updateTable('relays')
    .set({ final: true })
    .where('hash', '=', anyOf(relays))
    .where('mined_hash', 'is not', null)
    .execute()
}

type RelayRow = Awaited<ReturnType<typeof lockRelays>>[number]

interface Change {
  /** What is taken of the account now; null: what was reserved. */
  readonly cost: bigint | null
  readonly gasUsed: bigint
  readonly set: {
    readonly status: RelayStatus
    /** Absent: as it was. */
    readonly mined?: MinedIn | null
    readonly final?: boolean
  }
}

interface MinedIn {
  readonly hash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly gasUsed: bigint
}

interface ChangedRelay {
  readonly hash: string
  readonly status: RelayStatus
  readonly mined: MinedIn | null
  readonly final: boolean
  readonly reserved: bigint
  readonly charged: bigint | null
}

/** Changes relays and their accounts in one transaction. */
async function change(
  db: Queries,
  hashes: readonly string[],
  { plans, nowSeconds }: SettleOptions,
  decide: (relay: RelayRow) => Change | undefined,
): Promise<Settlement[]> {
  if (hashes.length === 0) return []
  return retryOnConflict(() =>
    db.transaction().execute(async (transaction) => {
      const profiles = await transaction
        .selectFrom('relays')
        .where('hash', '=', anyOf(hashes))
        .select('profile')
        .distinct()
        .execute()
      // Accounts before relays, as everywhere.
      const accounts = await lockAccounts(
        transaction,
        profiles.map(({ profile }) => profile),
        { plans, registration: 'registered', nowSeconds },
      )
      const settlements: Settlement[] = []
      const changed: ChangedRelay[] = []
      for (const relay of await lockRelays(transaction, hashes)) {
        const decided = decide(relay)
        if (!decided) continue
        const reserved = BigInt(relay.reserved)
        const taken = relay.charged === null ? reserved : BigInt(relay.charged)
        const wanted = decided.cost ?? reserved
        const account = accounts.get(relay.profile)
        let charged = wanted < reserved ? wanted : reserved
        if (account?.period === relay.period) {
          const moved = moveReservation(account, taken, charged)
          accounts.set(relay.profile, moved.account)
          charged = moved.taken
        }
        const { set } = decided
        changed.push({
          hash: relay.hash,
          status: set.status,
          mined: set.mined === undefined ? minedIn(relay) : set.mined,
          final: set.final ?? relay.final,
          reserved: decided.cost === null ? charged : reserved,
          charged: decided.cost === null ? null : charged,
        })
        const { hash, profile, plan } = relay
        settlements.push({ relay: hash, profile, plan, status: set.status, charged, gasUsed: decided.gasUsed })
      }
      await saveAccounts(transaction, [...accounts.values()]).execute()
      await saveRelays(transaction, changed)
      return settlements
    }),
  )
}

function lockRelays(db: Queries, hashes: readonly string[]) {
  return db
    .selectFrom('relays')
    .where('hash', '=', anyOf(hashes))
    .orderBy('hash')
    .select(['hash', 'profile', 'plan', 'period', 'reserved', 'charged', 'status', 'final'])
    .select(['mined_hash', 'block_number', 'block_hash', 'gas_used'])
    .forUpdate()
    .execute()
}

function minedIn({ mined_hash, block_number, block_hash, gas_used }: RelayRow): MinedIn | null {
  if (mined_hash === null || block_hash === null) return null
  return {
    hash: mined_hash,
    blockNumber: Number(block_number),
    blockHash: block_hash,
    gasUsed: BigInt(gas_used ?? 0),
  }
}

async function saveRelays(db: Queries, relays: readonly ChangedRelay[]): Promise<void> {
  if (relays.length === 0) return
  const column = <Value>(value: (relay: ChangedRelay) => Value) => relays.map(value)
  const text = (value: bigint | null | undefined) => (value === null || value === undefined ? null : String(value))
  const changed = sql<RelaysTable>`unnest(
    ${column(({ hash }) => hash)}::text[],
    ${column(({ status }) => status)}::text[],
    ${column(({ mined }) => mined?.hash ?? null)}::text[],
    ${column(({ mined }) => mined?.blockNumber ?? null)}::bigint[],
    ${column(({ mined }) => mined?.blockHash ?? null)}::text[],
    ${column(({ mined }) => text(mined?.gasUsed))}::bigint[],
    ${column(({ final }) => final)}::boolean[],
    ${column(({ reserved }) => text(reserved))}::numeric[],
    ${column(({ charged }) => text(charged))}::numeric[])`
  await db
    .updateTable('relays')
    .from(
      changed.as<'changed'>(
        sql`changed(hash, status, mined_hash, block_number, block_hash, gas_used, final, reserved, charged)`,
      ),
    )
    .set((row) => ({
      status: row.ref('changed.status'),
      mined_hash: row.ref('changed.mined_hash'),
      block_number: row.ref('changed.block_number'),
      block_hash: row.ref('changed.block_hash'),
      gas_used: row.ref('changed.gas_used'),
      final: row.ref('changed.final'),
      reserved: row.ref('changed.reserved'),
      charged: row.ref('changed.charged'),
    }))
    .whereRef('relays.hash', '=', 'changed.hash')
    .execute()
}
