import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Less to write for each relay, and accounts that are locked for no longer than a statement: see `store-relays.ts` and
 * `store-changes.ts` in `server/services/ledger`.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    // Compared byte by byte: the rules of a language cost more, and mean nothing for hashes and addresses.
    const names = {
      profiles: ['address', 'plan'],
      signer_accounts: ['address'],
      relays: ['hash', 'identity', 'profile', 'key_manager', 'signer', 'status', 'plan', 'account'],
      attempts: ['hash', 'relay', 'kind', 'account'],
    }
    for (const [table, columns] of Object.entries(names)) {
      const changes = columns.map((column) => sql`alter column ${sql.ref(column)} type text collate "C"`)
      await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db)
    }
    // The signed transaction has it.
    await db.schema.alterTable('relays').dropColumn('call_data').execute()
    // What is pending is among what is open.
    await db.schema.dropIndex('relays_pending').execute()

    await sql`drop function store_relays`.execute(db)
    await sql`
      create function store_relays(
        signers text[], expected_nonces bigint[], next_nonces bigint[],
        accounts text[], periods integer[], reservations numeric[], must_be_registered boolean,
        new_relays json
      ) returns boolean language plpgsql
      set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
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

    await sql`
      create function change_relays(
        accounts text[], periods integer[], amounts numeric[], changes json
      ) returns void language plpgsql
      set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
      declare
        found_rows bigint;
      begin
        -- Accounts, relays: always locked in this order.
        update profiles set used = used + change.amount
          from unnest(accounts, periods, amounts) as change(address, period, amount)
          where profiles.address = change.address and profiles.period = change.period;
        get diagnostics found_rows = row_count;
        if found_rows < cardinality(accounts) then
          raise exception 'an account is not what it was' using errcode = 'serialization_failure';
        end if;

        update relays set
            status = change.status, mined_hash = change.mined_hash, block_number = change.block_number,
            block_hash = change.block_hash, gas_used = change.gas_used, final = change.final,
            reserved = change.reserved, charged = change.charged
          from json_to_recordset(changes) as change(
            hash text, version xid, status text, mined_hash text, block_number bigint, block_hash text,
            gas_used bigint, final boolean, reserved numeric, charged numeric)
          where relays.hash = change.hash and relays.xmin = change.version;
        get diagnostics found_rows = row_count;
        if found_rows < json_array_length(changes) then
          raise exception 'a relay is not what it was' using errcode = 'serialization_failure';
        end if;
      end
      $$`.execute(db)
  },
}
