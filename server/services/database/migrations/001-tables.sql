-- The tables of one chain's ledger: what their columns mean is said in `server/services/database/tables.ts`.
-- Frozen: databases record the SHA-256 of this file. The next change is a file of its own.
--
-- A uint256 is numeric(78). Names are compared byte by byte (collate "C"): the rules of a language cost more, and mean
-- nothing for hashes and addresses.

create table facts (
  name text primary key,
  value text not null
);

create table profiles (
  address text collate "C" primary key,
  registered boolean not null,
  suspended boolean not null default false,
  plan text collate "C" not null,
  allowance numeric(78) not null check (allowance >= 0),
  used numeric(78) not null check (used >= 0),
  reset_at bigint,
  period integer not null default 0,
  reverts integer not null default 0,
  reverted_at bigint not null default 0,
  slowed_until bigint not null default 0
);

create table budgets (
  scope text collate "C" primary key,
  starts_at bigint not null,
  used numeric(78) not null
);

create table signer_accounts (
  address text collate "C" primary key,
  next_nonce bigint not null,
  offered_below bigint not null default 0,
  refused_nonce bigint,
  refused_since_ms bigint,
  refusals integer not null default 0,
  holder text
);

create table relays (
  hash text collate "C" primary key,
  identity text collate "C" not null,
  profile text collate "C" not null,
  key_manager text collate "C" not null,
  signer text collate "C" not null,
  nonce numeric(78) not null,
  expires_at numeric(78),
  status text collate "C" not null,
  plan text collate "C" not null,
  period integer not null,
  reserved numeric(78) not null check (reserved >= 0),
  charged numeric(78),
  gas_limit bigint not null,
  account text collate "C" not null,
  account_nonce bigint not null,
  mined_hash text,
  block_number bigint,
  block_hash text,
  gas_used bigint,
  final boolean not null default false,
  superseded boolean not null default false,
  created_at_ms bigint not null,
  request_id text
);

-- One payload per nonce; a call that reverted gave its nonce back. Also finds what is pending in a channel.
create unique index relays_nonce on relays (key_manager, signer, nonce)
  where status in ('pending', 'succeeded') and not superseded;
-- The same call has the same nonce: the index above keeps it from being taken twice.
create index relays_identity on relays (identity) where status <> 'abandoned';
-- What a call that is sent anew supersedes.
create index relays_reverted on relays (key_manager, signer, nonce) where status = 'reverted' and not superseded;
-- What the background work still has to follow.
create index relays_open on relays (account, account_nonce) where final = false;
-- Rows come in the order of their times: such an index costs next to nothing.
create index relays_created on relays using brin (created_at_ms);

create table attempts (
  hash text collate "C" primary key,
  relay text collate "C" not null,
  kind text collate "C" not null,
  account text collate "C" not null,
  account_nonce bigint not null,
  raw text not null,
  max_fee_per_gas numeric(78) not null,
  max_priority_fee_per_gas numeric(78),
  created_at_ms bigint not null
);

create index attempts_relay on attempts (relay);

-- The functions take one round trip each. Their plans are kept, since making them anew takes as long as running them; so
-- the plans must be right for tables that are empty as yet and will be large. Hence no sequential scan, and no join that
-- reads a table from end to end by an index.

-- Whether these signers are held under these names. It locks the rows until the transaction ends: nobody can take a
-- signer over between this and what is stored.
create function are_held(signers text[], holders text[]) returns boolean language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  found_rows bigint;
begin
  perform from signer_accounts
    join unnest(signers, holders) as expected(address, name) using (address)
    where holder = expected.name
    order by address for no key update of signer_accounts;
  get diagnostics found_rows = row_count;
  return found_rows = cardinality(signers);
end
$$;

-- Called by `storeRelays` in `server/services/ledger`, which says what it takes, answers and throws.
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
$$;

-- Called by `storeChanges` in `server/services/ledger`, which says what it takes and throws.
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
$$;
