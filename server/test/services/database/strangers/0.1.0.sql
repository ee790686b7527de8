-- The ledger of version 0.1.0 after three relay calls, and with three under way.

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

CREATE FUNCTION touchstone_31337.change_relays(accounts text[], periods integer[], amounts numeric[], changes json) RETURNS void
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

CREATE FUNCTION touchstone_31337.store_relays(signers text[], expected_nonces bigint[], next_nonces bigint[], accounts text[], periods integer[], reservations numeric[], must_be_registered boolean, new_relays json) RETURNS boolean
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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
    created_at_ms bigint NOT NULL,
    request_id text,
    CONSTRAINT relays_reserved_check CHECK ((reserved >= (0)::numeric))
);

CREATE TABLE touchstone_31337.signer_accounts (
    address text NOT NULL COLLATE pg_catalog."C",
    next_nonce bigint NOT NULL,
    offered_below bigint DEFAULT 0 NOT NULL
);

INSERT INTO touchstone_31337.attempts VALUES ('0x5fb72fa845c2f3bf2a5e46dd4dfe6e7a1ee1dbfa97fe56c6eafc00822218bfce', '0x5fb72fa845c2f3bf2a5e46dd4dfe6e7a1ee1dbfa97fe56c6eafc00822218bfce', 'call', '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 0, '0x02f90233827a6980843b9aca008465736ae48301dd0794e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e74000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000000411879d88d8514bfdac2e3714a40feea7ade589956d798a63076694f705994b4e4147d4ad7df89838fd5d074f01877d58daf87f6ce400219f4afa27a2c159832ac1c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a03f18374663811465a5cf8d063dfc877108ae6921057ea41204c736b4d60f6574a03d59fa57fd65245e57b0feb057b503c2f605f66da620e147aabdf4ce502a89a2', 1702062820, 1000000000, 1795385197378);
INSERT INTO touchstone_31337.attempts VALUES ('0x2a38c45c52ee58cbca864b8bc9aac6c757654784fac61f6a11414b51ec7d53da', '0x2a38c45c52ee58cbca864b8bc9aac6c757654784fac61f6a11414b51ec7d53da', 'call', '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 1, '0x02f90233827a6901843b9aca008465736ae483012fa594e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e740000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000010000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000004173032373a4ffd39bcde124faa061767ade55983470edcb40d99f6750f116f71b608c2614f4ed166c634168bc0c493caeb9b17d42d2d76022b43cef337941ef071c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a063ec730d81bdaaa4ee505a05460b95dbf66987d69cf6676d6ea42f9a720f0ccaa05082a2e05dbf19ee6f71f57f8f06321e8d6346bd9e5e0822204d1b8df2e2601f', 1702062820, 1000000000, 1795385197436);
INSERT INTO touchstone_31337.attempts VALUES ('0xcc577a0a4ecfb6eb8d1b945ca70a13d4a4102227ca3a1d9540a6b884b3e9591b', '0xcc577a0a4ecfb6eb8d1b945ca70a13d4a4102227ca3a1d9540a6b884b3e9591b', 'call', '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 2, '0x02f90233827a6902843b9aca008465736ae483012f9794e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e7400000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000100000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000041e169cc7d6153f04925ee8274e182aa0c422fbdec091406e8c58f2e059b05d0311016e90a21f618f96b48f453ff7df46c000fa7cc31577bb125706c4afe5307861b0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a0dde47e8d21022f480bfb26e664a4c681933efdf3671441777bfe65332f847e49a06e5235e52d605daebedc9f070a75edd1e5158cb3647cda540ae05cd7e74e01c1', 1702062820, 1000000000, 1795385197469);
INSERT INTO touchstone_31337.attempts VALUES ('0xdd1fed043ea4d42c4f87b59175ee9ea48550bbffba2db907006079133946ea81', '0xdd1fed043ea4d42c4f87b59175ee9ea48550bbffba2db907006079133946ea81', 'call', '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 3, '0x02f90233827a6903843b9aca008465736ae483017fbf94e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e74000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000000415de2eb9d43c0cc38afe58617f55d2f206395afd979944575ce07b2386756f28025a9714886cc26bb1be705730dfcc944b5a0639b6e62b8466ab4f73d9ae7d8ee1c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c001a0a536bce6832edfd0df31b3c935bbd589dd0e25945315eabc0950e6c58f428e61a01cdd8b25941c2ee6e05316f7d56da0a7ef5062ee13123610874a81a1fc820076', 1702062820, 1000000000, 1795385197760);
INSERT INTO touchstone_31337.attempts VALUES ('0xf190a9afc126fcd1091c3a3e5de49aaec2ca15fb30ddb06d4bde428e1c50113b', '0xf190a9afc126fcd1091c3a3e5de49aaec2ca15fb30ddb06d4bde428e1c50113b', 'call', '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 4, '0x02f90233827a6904843b9aca008465736ae483012fa594e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e740000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000020000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000004194150276038a856a28ac07cfcc0115d7ecc3c14df8dc3b59c145c640a60403431e47d35ee04f3a9e251b5a20a83ee43791e0e73e4e8b7948d4d1c00a6694221d1c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c080a03c149e759b96d222dea3d2634057071366193f8ea9955269d4e6ffca9c257e20a0475b2d1a73a94d89b16cc9a2a576af95ccdab9d4514c37aed19ec3ee9a4969f6', 1702062820, 1000000000, 1795385197806);
INSERT INTO touchstone_31337.attempts VALUES ('0xfef14e082589b78985045957b8fa7064cba41b0d343c99c7849619b56f0fd143', '0xfef14e082589b78985045957b8fa7064cba41b0d343c99c7849619b56f0fd143', 'call', '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 5, '0x02f90233827a6905843b9aca008465736ae483017fbf94e7f1725e7734ce288f8367e1bb143e90bb3f051280b901c44c8a4e7400000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000300000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000041f1fca776dfa73fb79619dacc90e7d804375c049184972c5625418e6cdfb0ddd231dbc86a6997a9a4e347bba482f792fd4ff02b9dfdfbb4267a576541c7b1d2c41b0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000847f23690cabababababababababababababababababababababababababababababababab00000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000001010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c001a077518a4131d3162d145ff426b35271f39f01849203fdd99a6778ccef0da8eb16a06263fca62b12444db586b90d973c0eaa2aabf2f104d376e7b48640d880a4bf70', 1702062820, 1000000000, 1795385197817);

INSERT INTO touchstone_31337.facts VALUES ('genesis', '0xb0a553c1c432938baaf810346ab7c4ddc88429f2efc653aff8a4d906babf2a3b');

INSERT INTO touchstone_31337.kysely_migration VALUES ('001-ledger', '2026-11-22T22:06:36.460Z');
INSERT INTO touchstone_31337.kysely_migration VALUES ('002-store-relays', '2026-11-22T22:06:36.489Z');
INSERT INTO touchstone_31337.kysely_migration VALUES ('003-lean-ledger', '2026-11-22T22:06:36.598Z');
INSERT INTO touchstone_31337.kysely_migration VALUES ('004-offered', '2026-11-22T22:06:36.604Z');
INSERT INTO touchstone_31337.kysely_migration VALUES ('005-planned-by-index', '2026-11-22T22:06:36.621Z');

INSERT INTO touchstone_31337.kysely_migration_lock VALUES ('migration_lock', 0);

INSERT INTO touchstone_31337.profiles VALUES ('0x5FbDB2315678afecb367f032d93F642f64180aa3', false, false, 'default', 20000000, 497670, 1796083200, 0);

INSERT INTO touchstone_31337.relays VALUES ('0x5fb72fa845c2f3bf2a5e46dd4dfe6e7a1ee1dbfa97fe56c6eafc00822218bfce', '0x8ef826df3fa83190237f78bad903ef263dc033667dfa50bfaf8135096a36217a', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x2819B17a60Bdf9f9D9C97A29067D4D4AA23C2fFc', 340282366920938463463374607431768211456, NULL, 'succeeded', 'default', 0, 122119, 99149, 122119, '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 0, '0x5fb72fa845c2f3bf2a5e46dd4dfe6e7a1ee1dbfa97fe56c6eafc00822218bfce', 9, '0x226574a939da588a01ffa93b328d4b9d4ffc5cea7a25aa395eb2378cc53056f9', 99149, true, 1795385197378, 'b56a9bb1-5e1f-4115-96f5-6556fcfbc6ff');
INSERT INTO touchstone_31337.relays VALUES ('0x2a38c45c52ee58cbca864b8bc9aac6c757654784fac61f6a11414b51ec7d53da', '0x6211a7bdd7ee91d86f53bb84cbac97ab093de59f5e18ff8e4d110d4fdfe05e3d', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x2819B17a60Bdf9f9D9C97A29067D4D4AA23C2fFc', 340282366920938463463374607431768211457, NULL, 'succeeded', 'default', 0, 77733, 62161, 77733, '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 1, '0x2a38c45c52ee58cbca864b8bc9aac6c757654784fac61f6a11414b51ec7d53da', 10, '0xe475ebcfb08dea4ac2713440821854e776540477cee8deba6ee3b25c18d5ebea', 62161, false, 1795385197436, 'bb1e310f-126a-4e61-8cdd-39e4715393df');
INSERT INTO touchstone_31337.relays VALUES ('0xcc577a0a4ecfb6eb8d1b945ca70a13d4a4102227ca3a1d9540a6b884b3e9591b', '0x591ec02d17a4fe5417d501cdf1a3479c61979b58b7bc8e515128b3486130684e', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x2819B17a60Bdf9f9D9C97A29067D4D4AA23C2fFc', 340282366920938463463374607431768211458, NULL, 'succeeded', 'default', 0, 77719, 62149, 77719, '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 2, '0xcc577a0a4ecfb6eb8d1b945ca70a13d4a4102227ca3a1d9540a6b884b3e9591b', 11, '0x8f79f74cba09ef6ba6a47827b19a7720e11dfb95bb8a6fc85444cbb1bef62fb3', 62149, false, 1795385197469, '319577f1-b19e-4e5d-8382-c89ef7f262fe');
INSERT INTO touchstone_31337.relays VALUES ('0xdd1fed043ea4d42c4f87b59175ee9ea48550bbffba2db907006079133946ea81', '0x63da60564a1edb94e4d7318a2cd7841254f7cd2c1a9fa6a70180f0d19de3cdd2', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x2819B17a60Bdf9f9D9C97A29067D4D4AA23C2fFc', 680564733841876926926749214863536422912, NULL, 'pending', 'default', 0, 98239, NULL, 98239, '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 3, NULL, NULL, NULL, NULL, false, 1795385197760, 'a1a4c362-0e60-4330-af0c-34a94a3ff1c2');
INSERT INTO touchstone_31337.relays VALUES ('0xf190a9afc126fcd1091c3a3e5de49aaec2ca15fb30ddb06d4bde428e1c50113b', '0x58ab3b3a472fe6edadd07a845a24ec765852e7f520f03c4dbe475e5ebdc3d4b7', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x2819B17a60Bdf9f9D9C97A29067D4D4AA23C2fFc', 680564733841876926926749214863536422913, NULL, 'pending', 'default', 0, 77733, NULL, 77733, '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 4, NULL, NULL, NULL, NULL, false, 1795385197806, '573d8ac9-66f0-45f1-a0b4-7ce42a751396');
INSERT INTO touchstone_31337.relays VALUES ('0xfef14e082589b78985045957b8fa7064cba41b0d343c99c7849619b56f0fd143', '0x0202f8ec5e133f105fc821ad84cabed1341df32f787d97e66edcafac338e716c', '0x5FbDB2315678afecb367f032d93F642f64180aa3', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', '0x2819B17a60Bdf9f9D9C97A29067D4D4AA23C2fFc', 1020847100762815390390123822295304634368, NULL, 'pending', 'default', 0, 98239, NULL, 98239, '0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 5, NULL, NULL, NULL, NULL, false, 1795385197817, 'dccfea1b-4950-42bd-a457-3ca0d9bd23a7');

INSERT INTO touchstone_31337.signer_accounts VALUES ('0xD12e4FCa934b9834b1882959A0C88BFB9D3f67F9', 0, 0);
INSERT INTO touchstone_31337.signer_accounts VALUES ('0xB7bd2c8ec9B12a4969A0DEA24fe9c760b3eEe085', 6, 6);

ALTER TABLE ONLY touchstone_31337.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (hash);

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

CREATE UNIQUE INDEX relays_identity ON touchstone_31337.relays USING btree (identity) WHERE (status <> 'abandoned'::text);

CREATE UNIQUE INDEX relays_nonce ON touchstone_31337.relays USING btree (key_manager, signer, nonce) WHERE (status = ANY (ARRAY['pending'::text, 'succeeded'::text]));

CREATE INDEX relays_open ON touchstone_31337.relays USING btree (account, account_nonce) WHERE (final = false);

