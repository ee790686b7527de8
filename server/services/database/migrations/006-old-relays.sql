-- Which relays are old, and deleting them.
-- Frozen: databases record the SHA-256 of this file. The next change is a file of its own.

-- A relay gets its entry when it is made final, so that storing one takes no longer.
create index relays_old on relays (created_at_ms) where final;

-- Called by `retention.ts` in `server/services/ledger`, which says what it takes and answers.
create function delete_old_relays(before_ms bigint, at_most integer) returns integer language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  first_attempts text[];
begin
  first_attempts := array(
    select distinct first_attempt from (
      select coalesce(bundle, hash) as first_attempt from relays
        where final and created_at_ms < before_ms
          and not exists (select from relays as other where other.bundle = relays.bundle and not other.final)
        order by created_at_ms limit at_most for update) as old);
  delete from relays where hash = any(first_attempts);
  delete from relays where bundle = any(first_attempts);
  delete from attempts where relay = any(first_attempts);
  return cardinality(first_attempts);
end
$$;
