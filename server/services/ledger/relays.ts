import type { TransactionStatus } from '../../../specs/index.ts'
import type { Database } from '../database/database.ts'
import type { RelayStatus } from '../database/tables.ts'
import { planOf } from '../quotas/account.ts'
import { amountInUnit } from '../quotas/exact-number.ts'
import type { Plans } from '../quotas/plans.ts'

/** What became of relay calls. */
export interface Relays {
  /** @param hash of any attempt, lower case */
  status(hash: string): Promise<TransactionStatus | undefined>
  /** How many calls wait to be mined. */
  countPending(): Promise<number>
  /** How many calls came since then, by their status now. */
  countSince(sinceMs: number): Promise<Readonly<Record<RelayStatus, number>>>
}

declare module '../../core/define.ts' {
  interface Services {
    relays: Relays
  }
}

export function createRelays({ database, plans }: { database: Database; plans: Plans }): Relays {
  const { db } = database
  return {
    status: async (hash) => {
      const relay = await db
        .selectFrom('relays')
        .innerJoin('attempts', 'attempts.relay', 'relays.hash')
        .where('attempts.hash', '=', hash)
        .selectAll('relays')
        .executeTakeFirst()
      if (!relay) return undefined
      const attempts = await db
        .selectFrom('attempts')
        .where('relay', '=', relay.hash)
        .where('kind', '=', 'call')
        .orderBy('created_at_ms')
        .select(['hash', 'created_at_ms'])
        .execute()
      const { unit } = planOf(relay, plans)
      return {
        status: relay.status,
        transactionHash: relay.mined_hash ?? attempts.at(-1)?.hash ?? relay.hash,
        attempts: attempts.map(({ hash: transactionHash, created_at_ms }) => ({
          transactionHash,
          signedAt: Math.floor(Number(created_at_ms) / 1000),
        })),
        block:
          relay.block_number === null || relay.block_hash === null
            ? null
            : { number: Number(relay.block_number), hash: relay.block_hash },
        gasUsed: relay.gas_used === null ? null : Number(relay.gas_used),
        charged: relay.charged === null ? null : { amount: amountInUnit(BigInt(relay.charged), unit), unit },
      }
    },
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
