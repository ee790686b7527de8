-- Who has sent the calls that precede others in their channels.
-- Frozen: databases record the SHA-256 of this file. The next change is a file of its own.

-- Called by `sendersBefore` in `server/services/ledger`, which says what it takes and answers.
create function senders_of(key_managers text[], signers text[], nonces numeric[]) returns text[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return array(
    select (
      select account from relays
        where key_manager = asked.key_manager and signer = asked.signer and nonce = asked.nonce
          and status in ('pending', 'succeeded') and not superseded and not final)
    from unnest(key_managers, signers, nonces) with ordinality as asked(key_manager, signer, nonce, place)
    order by place);
end
$$;
