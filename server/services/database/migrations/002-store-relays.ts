import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What makes storing and sending cheaper: see `store-relays.ts` and `sent.ts` in `server/services/ledger`. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    // A function takes one round trip. Its plans are kept, since making them anew takes as long as running them; so they
    // must be right for tables that are empty as yet and will be large.
    await sql`
      create function store_relays(
        signers text[], expected_nonces bigint[], next_nonces bigint[],
        accounts text[], periods integer[], reservations numeric[], must_be_registered boolean,
        new_relays json, new_attempts json
      ) returns boolean language plpgsql
      set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
      declare
        found_rows bigint;
      begin
        -- Signers, accounts, relays: always locked in this order.
        perform from signer_accounts
          join unnest(signers, expected_nonces) as expected(address, nonce) using (address)
          where next_nonce = expected.nonce
          order by address for update of signer_accounts;
        get diagnostics found_rows = row_count;
        if found_rows < cardinality(signers) then
          return false;
        end if;

        perform from profiles
          join unnest(accounts, periods, reservations) as wanted(address, period, amount) using (address)
          where profiles.period = wanted.period
            and not suspended and (registered or not must_be_registered)
            and used + wanted.amount <= allowance
          order by address for update of profiles;
        get diagnostics found_rows = row_count;
        if found_rows < cardinality(accounts) then
          return false;
        end if;

        update signer_accounts set next_nonce = changed.nonce
          from unnest(signers, next_nonces) as changed(address, nonce)
          where signer_accounts.address = changed.address;
        update profiles set used = used + wanted.amount
          from unnest(accounts, reservations) as wanted(address, amount)
          where profiles.address = wanted.address;
        insert into relays (
            hash, identity, profile, key_manager, signer, nonce, expires_at, call_data, status, plan, period, reserved,
            gas_limit, account, account_nonce, created_at_ms, request_id)
          select
            hash, identity, profile, key_manager, signer, nonce, expires_at, call_data, status, plan, period, reserved,
            gas_limit, account, account_nonce, created_at_ms, request_id
          from json_populate_recordset(null::relays, new_relays);
        insert into attempts (
            hash, relay, kind, account, account_nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms)
          select
            hash, relay, kind, account, account_nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms
          from json_populate_recordset(null::attempts, new_attempts);
        return true;
      end
      $$`.execute(db)

    // With an index on what is unsent, noting that a transaction is sent would write new entries in every index of its
    // table; without it, and with room in the page, none.
    await db.schema.dropIndex('attempts_unsent').execute()
    await sql`alter table attempts set (fillfactor = 70)`.execute(db)
    await db.schema
      .createIndex('relays_pending')
      .on('relays')
      .columns(['account', 'account_nonce'])
      .where(sql.ref('status'), '=', 'pending')
      .execute()
  },
}
