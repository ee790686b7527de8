-- A call that was given up, and is executed all the same after a reorganisation.
-- Frozen: databases record the SHA-256 of this file. The next change is a file of its own.

-- Another call may have its nonce by then. That one reverts; until it is settled, both would contend for the nonce.
create function yield_nonce() returns trigger language plpgsql as $$
begin
  new.superseded := exists (
    select from relays
      where key_manager = new.key_manager and signer = new.signer and nonce = new.nonce
        and status in ('pending', 'succeeded') and not superseded);
  return new;
end
$$;

create trigger relays_executed_late before update of status on relays
  for each row when (old.status = 'abandoned' and new.status = 'succeeded')
  execute function yield_nonce();
