-- The ledger of version 0.2.0 after three relay calls, and with three under way.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA touchstone_31337;

CREATE FUNCTION touchstone_31337.are_held(signers text[], holders text[]) RETURNS boolean
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

CREATE FUNCTION touchstone_31337.change_relays(accounts text[], periods integer[], amounts numeric[], reverting text[], more_reverts integer[], now_seconds bigint, changes json) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

CREATE FUNCTION touchstone_31337.store_relays(signers text[], expected_nonces bigint[], next_nonces bigint[], accounts text[], periods integer[], reservations numeric[], registrations boolean[], scopes text[], starts bigint[], amounts numeric[], limits numeric[], now_seconds bigint, new_relays json) RETURNS boolean
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE touchstone_31337.attempts (
    hash text NOT NULL COLLATE pg_catalog."C",
    relay text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    account_nonce bigint NOT NULL,
    raw text NOT NULL,
    max_fee_per_gas numeric(78,0) NOT NULL,
    max_priority_fee_per_gas numeric(78,0),
    created_at_ms bigint NOT NULL
);

CREATE TABLE touchstone_31337.budgets (
    scope text NOT NULL COLLATE pg_catalog."C",
    starts_at bigint NOT NULL,
    used numeric(78,0) NOT NULL
);

CREATE TABLE touchstone_31337.facts (
    name text NOT NULL,
    value text NOT NULL
);

CREATE TABLE touchstone_31337.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);

CREATE TABLE touchstone_31337.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);

CREATE TABLE touchstone_31337.profiles (
    address text NOT NULL COLLATE pg_catalog."C",
    registered boolean NOT NULL,
    suspended boolean DEFAULT false NOT NULL,
    plan text NOT NULL COLLATE pg_catalog."C",
    allowance numeric(78,0) NOT NULL,
    used numeric(78,0) NOT NULL,
    reset_at bigint,
    period integer DEFAULT 0 NOT NULL,
    reverts integer DEFAULT 0 NOT NULL,
    reverted_at bigint DEFAULT 0 NOT NULL,
    slowed_until bigint DEFAULT 0 NOT NULL,
    CONSTRAINT profiles_allowance_check CHECK ((allowance >= (0)::numeric)),
    CONSTRAINT profiles_used_check CHECK ((used >= (0)::numeric))
);

CREATE TABLE touchstone_31337.relays (
    hash text NOT NULL COLLATE pg_catalog."C",
    identity text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    key_manager text NOT NULL COLLATE pg_catalog."C",
    signer text NOT NULL COLLATE pg_catalog."C",
    nonce numeric(78,0) NOT NULL,
    expires_at numeric(78,0),
    status text NOT NULL COLLATE pg_catalog."C",
    plan text NOT NULL COLLATE pg_catalog."C",
    period integer NOT NULL,
    reserved numeric(78,0) NOT NULL,
    charged numeric(78,0),
    gas_limit bigint NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    account_nonce bigint NOT NULL,
    mined_hash text,
    block_number bigint,
    block_hash text,
    gas_used bigint,
    final boolean DEFAULT false NOT NULL,
    superseded boolean DEFAULT false NOT NULL,
    created_at_ms bigint NOT NULL,
    request_id text,
    CONSTRAINT relays_reserved_check CHECK ((reserved >= (0)::numeric))
);

CREATE TABLE touchstone_31337.signer_accounts (
    address text NOT NULL COLLATE pg_catalog."C",
    next_nonce bigint NOT NULL,
    offered_below bigint DEFAULT 0 NOT NULL,
    refused_nonce bigint,
    refused_since_ms bigint,
    refusals integer DEFAULT 0 NOT NULL,
    holder text
);

INSERT INTO touchstone_31337.attempts VALUES ('0x411c200b2a2230d05dd56ba9eca455e9d15ff07e15a317ffbe9460f008f37dbc', '0x411c200b2a2230d05dd56ba9eca455e9d15ff07e15a317ffbe9460f008f37dbc', 'call', '0x0152C7C72641f4B7b94741981bbae3c059036829', 0, '0x02f90233827a6980843b9aca008465736ad28301dd0794e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e7400000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000041519d85c5a9cb82c14b7bd815540dd24c85be75744fc4a6fd01e4d12281cfc08609978cea30ac6a81512360bb58cb5e318d069eef2d51e2781d63fc91262546c51c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a0e9ff05b5e6bded2c99024092c4b9f32283bae29683452f683f80f459564f059fa03439260db4babaf0166df1b5c486cf62ef233ea91f1000bd24af5ef3bb189099', 1702062802, 1000000000, 1795436139708);
INSERT INTO touchstone_31337.attempts VALUES ('0xfa3165a96200bbf9726c9e6f931e57f6ba028110ed26b37f3e019f7d861d3e5f', '0xfa3165a96200bbf9726c9e6f931e57f6ba028110ed26b37f3e019f7d861d3e5f', 'call', '0x0152C7C72641f4B7b94741981bbae3c059036829', 1, '0x02f90233827a6901843b9aca008465736ad283012fa594e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e740000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000010000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000004102abaec63591b2d7fb7bce985286154a780e5359c1b92c43371680d094fbadf86134e6e0263b9052fd72f1469e95c7741831582b93dfa2ce9936bcdffba4f91c1c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a0fcbc021f72468c1369be2e1717b53f997f753e73b79f9abed6379583e4852453a02f8ebd9dc3dd5ca90728355775e3e221da1d85741154702cb66cf2ccbc1c2fa0', 1702062802, 1000000000, 1795436139745);
INSERT INTO touchstone_31337.attempts VALUES ('0x90c7be943385c55b05cbb7c174d74e27b0abf13df71e403d028f57a14dfbb368', '0x90c7be943385c55b05cbb7c174d74e27b0abf13df71e403d028f57a14dfbb368', 'call', '0x0152C7C72641f4B7b94741981bbae3c059036829', 2, '0x02f90233827a6902843b9aca008465736ad283012f9794e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e7400000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000100000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000041809c717f0c3999a1a4c1c4d1b2cba20d7280af3d5c23010679c291b183ab4b8216618017e15669218c00985380a3be46c52fc838154506dab429504d1ab551c81b0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c001a0e90c2bbc5d0e40b5a53b81df12fe227b56523accaaf90cdefcf53224f65cb8b8a07b938038a0a9caa1767795550a664479e59d698752cfdd3bab233bf4b662657b', 1702062802, 1000000000, 1795436139760);
INSERT INTO touchstone_31337.attempts VALUES ('0x23d05e380101f6b132cca267aa1dda8be92c6396a40acd18eade5a1b57cc754c', '0x23d05e380101f6b132cca267aa1dda8be92c6396a40acd18eade5a1b57cc754c', 'call', '0x0152C7C72641f4B7b94741981bbae3c059036829', 3, '0x02f90233827a6903843b9aca008465736ad283012fa594e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e74000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000001000000000000000000000000000000030000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000000417c810328a26ef2cb1006ca60621f6cc7ea5703f486d1f54016305474278cd3e31673b0e0203b19230995a718042797b7636a646335973b02f10e2226868147a01c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a0c1a53283079002b76653763ce6937f085b3ee2d19c3188c8f8b7f54d439422f8a06320728cd963ff4e90533cc29b0b6a771e7271ab6dc81e88f6a42f419559c78b', 1702062802, 1000000000, 1795436140183);
INSERT INTO touchstone_31337.attempts VALUES ('0xe5d30ec04d3ebc1ab3d8cc4e56cd69587aa44a9923e398ca704fd37241c458d8', '0xe5d30ec04d3ebc1ab3d8cc4e56cd69587aa44a9923e398ca704fd37241c458d8', 'call', '0x0152C7C72641f4B7b94741981bbae3c059036829', 4, '0x02f90233827a6904843b9aca008465736ad283012fa594e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e7400000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000100000000000000000000000000000004000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000041fdaafd20ae68d4321e9b020986e746e5f2ac10d135267953a1976ce6e9692dfa18abb23a9e39dbf1d5d603be33de0f67379588816d4d3310762a850bd4ce2aee1c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c001a0a919db4e539f9ebdece1427cb8c49550a8cc0f8243703c5c4c81230bd222dbe2a02381b0d6e7440c1b50a5668a8132f34109d2629f32bd03c22551cc06aedcfb68', 1702062802, 1000000000, 1795436140210);
INSERT INTO touchstone_31337.attempts VALUES ('0xfd12f80cc8bb13a4b094ad40dde06edb29eaddc2d69e5c70615aefd2f00d83ee', '0xfd12f80cc8bb13a4b094ad40dde06edb29eaddc2d69e5c70615aefd2f00d83ee', 'call', '0x0152C7C72641f4B7b94741981bbae3c059036829', 5, '0x02f90233827a6905843b9aca008465736ad283012fa594e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e7400000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000100000000000000000000000000000005000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000041821c1b2e148b56fcb705cb39eb17537dec56bd79d306a4cde7f16b52134de4ea7fe26acef3cf5bae38924769b0d298cba45ef8620965f7ab1ed9e689c06713991b0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a0095ff6b55bd8fb85c93bc9b13fbc916ae55386be8832bd5b9ad9b617f23397cca037a22a22b84724fe5d80a68228ecf2c84a5c66a2d2fcaba371217aefdd24f170', 1702062802, 1000000000, 1795436140237);

INSERT INTO touchstone_31337.budgets VALUES ('0x1b81a273973bbcb1318754fbf1f57d4e647ef33b6d7b35f94815d3f252343756/3600', 1795435200, 510770);
INSERT INTO touchstone_31337.budgets VALUES ('0x1b81a273973bbcb1318754fbf1f57d4e647ef33b6d7b35f94815d3f252343756/86400', 1795392000, 510770);
INSERT INTO touchstone_31337.budgets VALUES ('all/3600', 1795435200, 510770);
INSERT INTO touchstone_31337.budgets VALUES ('all/86400', 1795392000, 510770);

INSERT INTO touchstone_31337.facts VALUES ('migration 001-tables', 'f746d489500846d72278f3d3669e0e227623ddc96da345de988d939d82b1dcf7');
INSERT INTO touchstone_31337.facts VALUES ('genesis', '0x9f2f01dd226ffa9ef2c98ba99afe4122325def2f2edaef07d0262ee5e86b5d6a');

INSERT INTO touchstone_31337.kysely_migration VALUES ('001-tables', '2026-11-23T12:15:39.534Z');

INSERT INTO touchstone_31337.kysely_migration_lock VALUES ('migration_lock', 0);

INSERT INTO touchstone_31337.profiles VALUES ('0x5FbDB2315678afecb367f032d93F642f64180aa3', false, false, 'default', 20000000, 456658, 1796083200, 0, 0, 0, 0);

INSERT INTO touchstone_31337.relays VALUES ('0x411c200b2a2230d05dd56ba9eca455e9d15ff07e15a317ffbe9460f008f37dbc', '0x7612e190b0166367a2d31ed43ca0a0a132609df7650660f3b22e48fb8fa53e55', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x707a99b00dcd9E7A0F203cAf0B900Af55cCd3932', 340282366920938463463374607431768211456, NULL, 'succeeded', 'default', 0, 122119, 99149, 122119, '0x0152C7C72641f4B7b94741981bbae3c059036829', 0, '0x411c200b2a2230d05dd56ba9eca455e9d15ff07e15a317ffbe9460f008f37dbc', 9, '0xc198e173dc3af612ecad60819d1239bea0aaf0a97a4b92297b17be530f9a06f5', 99149, true, false, 1795436139708, '6e0df66d-28bc-4871-9b20-3c297a442998');
INSERT INTO touchstone_31337.relays VALUES ('0xfa3165a96200bbf9726c9e6f931e57f6ba028110ed26b37f3e019f7d861d3e5f', '0xaa29dcec690c1d7af25a5b16b7caf1dd8e135525ad7c2ce4079540ad3acdbd95', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x707a99b00dcd9E7A0F203cAf0B900Af55cCd3932', 340282366920938463463374607431768211457, NULL, 'succeeded', 'default', 0, 77733, 62161, 77733, '0x0152C7C72641f4B7b94741981bbae3c059036829', 1, '0xfa3165a96200bbf9726c9e6f931e57f6ba028110ed26b37f3e019f7d861d3e5f', 10, '0x5eb5568433ed3c633b449fa15dca11c9add048839d902185ce8857dc4c23913c', 62161, true, false, 1795436139745, 'a9086f23-6eeb-4c36-8e14-51bfb39bce77');
INSERT INTO touchstone_31337.relays VALUES ('0x90c7be943385c55b05cbb7c174d74e27b0abf13df71e403d028f57a14dfbb368', '0x10079f20cca51da0a85b8b582a5097a28f4265800c29527d5af8ab4eebd51805', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x707a99b00dcd9E7A0F203cAf0B900Af55cCd3932', 340282366920938463463374607431768211458, NULL, 'succeeded', 'default', 0, 77719, 62149, 77719, '0x0152C7C72641f4B7b94741981bbae3c059036829', 2, '0x90c7be943385c55b05cbb7c174d74e27b0abf13df71e403d028f57a14dfbb368', 11, '0x615683f07d86a9b2805949ddb2e6a60a4f50c507df6f91cc8363b70cedbfe3b8', 62149, true, false, 1795436139760, 'b72879b6-f0ed-4fd0-8762-6c2d5a5c96ef');
INSERT INTO touchstone_31337.relays VALUES ('0x23d05e380101f6b132cca267aa1dda8be92c6396a40acd18eade5a1b57cc754c', '0x65d2407db4c3ed9fb48cfee2d66a7bf23d0a5ca5fd3ab25c07545e990733e36b', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x707a99b00dcd9E7A0F203cAf0B900Af55cCd3932', 340282366920938463463374607431768211459, NULL, 'pending', 'default', 0, 77733, NULL, 77733, '0x0152C7C72641f4B7b94741981bbae3c059036829', 3, NULL, NULL, NULL, NULL, false, false, 1795436140183, 'fc811e41-74cb-438c-a962-4b9cc672fb80');
INSERT INTO touchstone_31337.relays VALUES ('0xe5d30ec04d3ebc1ab3d8cc4e56cd69587aa44a9923e398ca704fd37241c458d8', '0xc1c71fc7dde78f1e7c413fe2d6efcc2e061b8f4e2c7de5b3098a27e6b3ec8a14', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x707a99b00dcd9E7A0F203cAf0B900Af55cCd3932', 340282366920938463463374607431768211460, NULL, 'pending', 'default', 0, 77733, NULL, 77733, '0x0152C7C72641f4B7b94741981bbae3c059036829', 4, NULL, NULL, NULL, NULL, false, false, 1795436140210, 'afb522cf-34cd-4ac8-83f8-4c2d5f5b0cf0');
INSERT INTO touchstone_31337.relays VALUES ('0xfd12f80cc8bb13a4b094ad40dde06edb29eaddc2d69e5c70615aefd2f00d83ee', '0x68ccc9e1228b9e65892d3862da666e43ff8d18509f8318dc21d040b09a914a44', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x707a99b00dcd9E7A0F203cAf0B900Af55cCd3932', 340282366920938463463374607431768211461, NULL, 'pending', 'default', 0, 77733, NULL, 77733, '0x0152C7C72641f4B7b94741981bbae3c059036829', 5, NULL, NULL, NULL, NULL, false, false, 1795436140237, '00a67b0a-ddf9-4914-9305-b228170d2478');

INSERT INTO touchstone_31337.signer_accounts VALUES ('0x330414611aa9f40E82CCC1018dC4756964260482', 0, 0, NULL, NULL, 0, NULL);
INSERT INTO touchstone_31337.signer_accounts VALUES ('0x0152C7C72641f4B7b94741981bbae3c059036829', 6, 6, NULL, NULL, 0, 'e2adc87a-eab7-402e-96a6-a88c7ed3e604');

ALTER TABLE ONLY touchstone_31337.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY touchstone_31337.budgets
    ADD CONSTRAINT budgets_pkey PRIMARY KEY (scope);

ALTER TABLE ONLY touchstone_31337.facts
    ADD CONSTRAINT facts_pkey PRIMARY KEY (name);

ALTER TABLE ONLY touchstone_31337.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);

ALTER TABLE ONLY touchstone_31337.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY touchstone_31337.profiles
    ADD CONSTRAINT profiles_pkey PRIMARY KEY (address);

ALTER TABLE ONLY touchstone_31337.relays
    ADD CONSTRAINT relays_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY touchstone_31337.signer_accounts
    ADD CONSTRAINT signer_accounts_pkey PRIMARY KEY (address);

CREATE INDEX attempts_relay ON touchstone_31337.attempts USING btree (relay);

CREATE INDEX relays_created ON touchstone_31337.relays USING brin (created_at_ms);

CREATE INDEX relays_identity ON touchstone_31337.relays USING btree (identity) WHERE (status <> 'abandoned'::text);

CREATE UNIQUE INDEX relays_nonce ON touchstone_31337.relays USING btree (key_manager, signer, nonce) WHERE ((status = ANY (ARRAY['pending'::text, 'succeeded'::text])) AND (NOT superseded));

CREATE INDEX relays_open ON touchstone_31337.relays USING btree (account, account_nonce) WHERE (final = false);

CREATE INDEX relays_reverted ON touchstone_31337.relays USING btree (key_manager, signer, nonce) WHERE ((status = 'reverted'::text) AND (NOT superseded));
