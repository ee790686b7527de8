-- Several relays in one transaction: what the columns mean is said in `server/services/database/tables.ts`.
-- Frozen: databases record the SHA-256 of this file. The next change is a file of its own.

alter table relays add column bundle text collate "C", add column place integer;
-- The calls of a bundle, by the hash that their callers were told.
create index relays_bundle on relays (bundle) where bundle is not null;

alter table attempts add column carries integer[];

-- Called by `storeRelays` in `server/services/ledger`, which says what it takes, answers and throws.
create or replace function store_relays(
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

  -- A call that reverted gave its nonce back. Its relay may come back in a reorganisation; it is marked, so that it does
  -- not contend for the nonce.
  update relays set superseded = true
    from json_to_recordset(new_relays) as relay(key_manager text, signer text, nonce numeric)
    where relays.key_manager = relay.key_manager and relays.signer = relay.signer and relays.nonce = relay.nonce
      and relays.status = 'reverted' and not relays.superseded;

  with stored as (
    select * from json_to_recordset(new_relays) as relay(
      hash text, identity text, profile text, key_manager text, signer text, nonce numeric, expires_at numeric,
      plan text, period integer, reserved numeric, gas_limit bigint, account text, account_nonce bigint,
      created_at_ms bigint, request_id text, raw text, max_fee_per_gas numeric, max_priority_fee_per_gas numeric,
      bundle text, place integer, carries integer[])
  ), first_attempts as (
    insert into attempts (
        hash, relay, kind, account, account_nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms,
        carries)
      select
        coalesce(bundle, hash), coalesce(bundle, hash), 'call', account, account_nonce, raw, max_fee_per_gas,
        max_priority_fee_per_gas, created_at_ms, carries
      from stored
      -- The first call of a bundle brings the transaction of all.
      where place is null or place = 0
  )
  insert into relays (
      hash, identity, profile, key_manager, signer, nonce, expires_at, status, plan, period, reserved,
      gas_limit, account, account_nonce, created_at_ms, request_id, bundle, place)
    select
      hash, identity, profile, key_manager, signer, nonce, expires_at, 'pending', plan, period, reserved,
      gas_limit, account, account_nonce, created_at_ms, request_id, bundle, place
    from stored;
  return true;
end
$$;
