import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * A call that reverted gave its nonce back, and may be sent anew: in a relay of its own, beside the former one. That one
 * may come back in a reorganisation; it is marked, so that it does not contend for the nonce.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('relays')
      .addColumn('superseded', 'boolean', (column) => column.notNull().defaultTo(false))
      .execute()
    const live = sql<boolean>`status in ('pending', 'succeeded') and not superseded`
    await db.schema.dropIndex('relays_nonce').execute()
    await db.schema
      .createIndex('relays_nonce')
      .on('relays')
      .columns(['key_manager', 'signer', 'nonce'])
      .unique()
      .where(live)
      .execute()
    // The same call has the same nonce: the index above keeps it from being taken twice.
    await db.schema.dropIndex('relays_identity').execute()
    await db.schema
      .createIndex('relays_identity')
      .on('relays')
      .column('identity')
      .where(sql.ref('status'), '<>', 'abandoned')
      .execute()
    await db.schema
      .createIndex('relays_reverted')
      .on('relays')
      .columns(['key_manager', 'signer', 'nonce'])
      .where(sql<boolean>`status = 'reverted' and not superseded`)
      .execute()

    await sql`
      create or replace function store_relays(
        signers text[], expected_nonces bigint[], next_nonces bigint[],
        accounts text[], periods integer[], reservations numeric[], must_be_registered boolean,
        new_relays json
      ) returns boolean language plpgsql
      set plan_cache_mode = force_generic_plan
      set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        found_rows bigint;
      begin
        -- Signers, accounts, relays: always locked in this order.
        update signer_accounts set next_nonce = change.next
          from unnest(signers, expected_nonces, next_nonces) as change(address, expected, next)
          where signer_accounts.address = change.address and next_nonce = change.expected;
        get diagnostics found_rows = row_count;
        if found_rows = 0 then
          return false;
        elsif found_rows < cardinality(signers) then
          raise exception 'a nonce is not the expected one' using errcode = 'serialization_failure';
        end if;

        update profiles set used = used + change.amount
          from unnest(accounts, periods, reservations) as change(address, period, amount)
          where profiles.address = change.address and profiles.period = change.period
            and not suspended and (registered or not must_be_registered)
            and used + change.amount <= allowance;
        get diagnostics found_rows = row_count;
        if found_rows < cardinality(accounts) then
          raise exception 'an account is not what it was' using errcode = 'serialization_failure';
        end if;

        update relays set superseded = true
          from json_to_recordset(new_relays) as relay(key_manager text, signer text, nonce numeric)
          where relays.key_manager = relay.key_manager and relays.signer = relay.signer and relays.nonce = relay.nonce
            and relays.status = 'reverted' and not relays.superseded;

        with stored as (
          select * from json_to_recordset(new_relays) as relay(
            hash text, identity text, profile text, key_manager text, signer text, nonce numeric, expires_at numeric,
            plan text, period integer, reserved numeric, gas_limit bigint, account text, account_nonce bigint,
            created_at_ms bigint, request_id text, raw text, max_fee_per_gas numeric, max_priority_fee_per_gas numeric)
        ), first_attempts as (
          insert into attempts (
              hash, relay, kind, account, account_nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms)
            select
              hash, hash, 'call', account, account_nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms
            from stored
        )
        insert into relays (
            hash, identity, profile, key_manager, signer, nonce, expires_at, status, plan, period, reserved,
            gas_limit, account, account_nonce, created_at_ms, request_id)
          select
            hash, identity, profile, key_manager, signer, nonce, expires_at, 'pending', plan, period, reserved,
            gas_limit, account, account_nonce, created_at_ms, request_id
          from stored;
        return true;
      end
      $$`.execute(db)
  },
}
