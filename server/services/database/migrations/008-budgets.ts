import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * What unregistered profiles may use together, and which profiles are slowed since their calls reverted: see `budgets.ts`
 * and `settle.ts` in `server/services/ledger`.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('budgets')
      .addColumn('scope', sql`text collate "C"`, (column) => column.primaryKey())
      .addColumn('starts_at', 'bigint', (column) => column.notNull())
      .addColumn('used', sql`numeric(78)`, (column) => column.notNull())
      .execute()
    await db.schema
      .alterTable('profiles')
      .addColumn('reverts', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('reverted_at', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('slowed_until', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()

    await sql`drop function store_relays`.execute(db)
    await sql`
      create function store_relays(
        signers text[], expected_nonces bigint[], next_nonces bigint[],
        accounts text[], periods integer[], reservations numeric[], registrations boolean[],
        scopes text[], starts bigint[], amounts numeric[], limits numeric[],
        now_seconds bigint, new_relays json
      ) returns boolean language plpgsql
      set plan_cache_mode = force_generic_plan
      set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        found_rows bigint;
      begin
        -- Signers, accounts, budgets, relays: always locked in this order.
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
          from unnest(accounts, periods, reservations, registrations) as change(address, period, amount, registered)
          where profiles.address = change.address and profiles.period = change.period
            and not suspended and profiles.registered = change.registered and slowed_until <= now_seconds
            and used + change.amount <= allowance;
        get diagnostics found_rows = row_count;
        if found_rows < cardinality(accounts) then
          raise exception 'an account is not what it was' using errcode = 'serialization_failure';
        end if;

        if cardinality(scopes) > 0 then
          -- A window that has begun stays so, also for a process whose clock is behind.
          insert into budgets as budget (scope, starts_at, used)
            select change.scope, change.starts_at, change.amount
            from unnest(scopes, starts, amounts, limits) as change(scope, starts_at, amount, at_most)
            where change.amount <= change.at_most
            on conflict (scope) do update set
              starts_at = greatest(budget.starts_at, excluded.starts_at),
              used = excluded.used + case when budget.starts_at < excluded.starts_at then 0 else budget.used end
            where excluded.used + case when budget.starts_at < excluded.starts_at then 0 else budget.used end
              <= limits[array_position(scopes, excluded.scope)];
          get diagnostics found_rows = row_count;
          if found_rows < cardinality(scopes) then
            raise exception 'a budget does not suffice' using errcode = 'serialization_failure';
          end if;
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

    await sql`drop function change_relays`.execute(db)
    await sql`
      create function change_relays(
        accounts text[], periods integer[], amounts numeric[], reverting text[], more_reverts integer[],
        now_seconds bigint, changes json
      ) returns void language plpgsql
      set plan_cache_mode = force_generic_plan
      set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
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

        -- One revert is forgotten each hour. From the fourth on, each doubles the pause, up to an hour.
        update profiles set
            reverts = least(15, greatest(0, greatest(0, reverts - (now_seconds - reverted_at) / 3600) + change.more)),
            reverted_at = now_seconds
          from unnest(reverting, more_reverts) as change(address, more)
          where profiles.address = change.address;
        update profiles set
            slowed_until = greatest(slowed_until, now_seconds + least(3600, power(2, reverts - 3)::bigint))
          from unnest(reverting, more_reverts) as change(address, more)
          where profiles.address = change.address and change.more > 0 and reverts > 3;

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
