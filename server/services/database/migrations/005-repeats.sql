-- Which calls a profile has made with a nonce, for whichever key manager.
-- Frozen: databases record the SHA-256 of this file. The next change is a file of its own.

create index relays_profile on relays (profile, nonce) where status <> 'abandoned';
