import { sql } from 'kysely'
import { OperatorError } from '../../core/operator-error.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Queries } from '../database/database.ts'
import { transactionOf } from '../database/tables.ts'
import type { Plans } from '../quotas/plans.ts'
import type { SignerAccount } from '../signers/signer-account.ts'

/** The nonces and receipts in a ledger mean nothing on another chain, even one of the same id. */
export async function assertSameChain(db: Queries, upstream: Upstream): Promise<void> {
  const block = await upstream.request<{ hash: string } | null>('eth_getBlockByNumber', ['0x0', false])
  // Some nodes do not keep their first block.
  if (!block) return
  await db
    .insertInto('facts')
    .values({ name: 'genesis', value: block.hash })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { value } = await db.selectFrom('facts').where('name', '=', 'genesis').select('value').executeTakeFirstOrThrow()
  if (value !== block.hash) {
    throw new OperatorError(
      `database: its ledger belongs to another chain of this id (first block ${value}, the node has ${block.hash}): use another one`,
    )
  }
}

/** Takes the nonces of the accounts up where the ledger left them, or, for new ones, where the chain has them. */
export async function openSignerAccounts(
  db: Queries,
  upstream: Upstream,
  accounts: readonly SignerAccount[],
): Promise<void> {
  for (const { address } of accounts) {
    const count = Number(await upstream.request<string>('eth_getTransactionCount', [address, 'pending']))
    await db
      .insertInto('signer_accounts')
      .values({ address, next_nonce: count })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    // Used elsewhere while nothing of ours was under way: what follows goes behind that.
    await db
      .updateTable('signer_accounts')
      .set({ next_nonce: count })
      .where('address', '=', address)
      .where('next_nonce', '<', count)
      .execute()
  }
}

/** Profiles in a plan that the configuration has no more could be neither charged nor told what they have. */
export async function assertPlansKnown(db: Queries, plans: Plans): Promise<void> {
  const rows = await db.selectFrom('profiles').select('plan').distinct().execute()
  const unknown = rows.map(({ plan }) => plan).filter((plan) => !plans.byName.has(plan))
  if (unknown.length > 0) {
    throw new OperatorError(
      `database: profiles are in plans that the configuration lacks: ${unknown.join(', ')}: add them, or move the profiles`,
    )
  }
}

/** The most that an account's transactions can cost that are not mined, in wei. */
export async function pendingCostWei(db: Queries, account: string): Promise<bigint> {
  const priced = db
    .selectFrom('relays')
    .innerJoin('attempts', (join) => join.on('attempts.relay', '=', transactionOf))
    .where('relays.account', '=', account)
    .where('relays.final', '=', false)
    .where('relays.mined_hash', 'is', null)
    .groupBy(['relays.hash', 'relays.bundle', 'relays.gas_limit'])
    // The gas limit of a bundle is that of its calls and a 63rd part: see `bundleGasLimit`.
    .select(
      sql<string>`(relays.gas_limit + case when relays.bundle is null then 0 else relays.gas_limit / 63 + 1 end)
        * max(attempts.max_fee_per_gas)`.as('cost'),
    )
  const { total } = await db
    .selectFrom(priced.as('priced'))
    .select(sql<string | null>`sum(priced.cost)`.as('total'))
    .executeTakeFirstOrThrow()
  return BigInt(total ?? 0)
}
