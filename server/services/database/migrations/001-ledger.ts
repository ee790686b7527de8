import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The first ledger. A migration is never edited once released: the next one changes what it made. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    const uint256 = sql`numeric(78)`
    await db.schema
      .createTable('facts')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute()

    await db.schema
      .createTable('profiles')
      .addColumn('address', 'text', (column) => column.primaryKey())
      .addColumn('registered', 'boolean', (column) => column.notNull())
      .addColumn('suspended', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('plan', 'text', (column) => column.notNull())
      .addColumn('allowance', uint256, (column) => column.notNull().check(sql`allowance >= 0`))
      .addColumn('used', uint256, (column) => column.notNull().check(sql`used >= 0`))
      .addColumn('reset_at', 'bigint')
      .addColumn('period', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()

    await db.schema
      .createTable('signer_accounts')
      .addColumn('address', 'text', (column) => column.primaryKey())
      .addColumn('next_nonce', 'bigint', (column) => column.notNull())
      .execute()

    await db.schema
      .createTable('relays')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('identity', 'text', (column) => column.notNull())
      .addColumn('profile', 'text', (column) => column.notNull())
      .addColumn('key_manager', 'text', (column) => column.notNull())
      .addColumn('signer', 'text', (column) => column.notNull())
      .addColumn('nonce', uint256, (column) => column.notNull())
      .addColumn('expires_at', uint256)
      .addColumn('call_data', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('plan', 'text', (column) => column.notNull())
      .addColumn('period', 'integer', (column) => column.notNull())
      .addColumn('reserved', uint256, (column) => column.notNull().check(sql`reserved >= 0`))
      .addColumn('charged', uint256)
      .addColumn('gas_limit', 'bigint', (column) => column.notNull())
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('account_nonce', 'bigint', (column) => column.notNull())
      .addColumn('mined_hash', 'text')
      .addColumn('block_number', 'bigint')
      .addColumn('block_hash', 'text')
      .addColumn('gas_used', 'bigint')
      .addColumn('final', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('request_id', 'text')
      .execute()

    await db.schema
      .createTable('attempts')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('account_nonce', 'bigint', (column) => column.notNull())
      .addColumn('raw', 'text', (column) => column.notNull())
      .addColumn('max_fee_per_gas', uint256, (column) => column.notNull())
      .addColumn('max_priority_fee_per_gas', uint256)
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('sent_at_ms', 'bigint')
      .execute()

    // One live relay per call; an abandoned one may be tried anew.
    await db.schema
      .createIndex('relays_identity')
      .on('relays')
      .column('identity')
      .unique()
      .where(sql.ref('status'), '<>', 'abandoned')
      .execute()
    // One payload per nonce; a call that reverted gave its nonce back. Also finds what is pending in a channel.
    await db.schema
      .createIndex('relays_nonce')
      .on('relays')
      .columns(['key_manager', 'signer', 'nonce'])
      .unique()
      .where(sql.ref('status'), 'in', ['pending', 'succeeded'])
      .execute()
    // What the background work still has to follow.
    await db.schema
      .createIndex('relays_open')
      .on('relays')
      .columns(['account', 'account_nonce'])
      .where(sql.ref('final'), '=', false)
      .execute()
    // Rows come in the order of their times: such an index costs next to nothing.
    await db.schema.createIndex('relays_created').on('relays').using('brin').column('created_at_ms').execute()
    await db.schema.createIndex('attempts_relay').on('attempts').column('relay').execute()
    await db.schema
      .createIndex('attempts_unsent')
      .on('attempts')
      .columns(['account', 'account_nonce'])
      .where(sql.ref('sent_at_ms'), 'is', null)
      .execute()
  },
}
