-- Events keep whatever their device signed and no other column holds, so that each signature can be checked from the
-- log alone. Events of earlier steps have none of it.

ALTER TABLE relay_audit_events ADD COLUMN public_key BLOB CHECK (length(public_key) = 65); -- of a device that was paired: P-256, uncompressed point
ALTER TABLE relay_audit_events ADD COLUMN pairing_id TEXT; -- that the person confirmed
ALTER TABLE relay_audit_events ADD COLUMN minutes INTEGER; -- for which an allowance was given; 0 ended it
ALTER TABLE relay_audit_events ADD COLUMN nonce TEXT CHECK (length(nonce) = 22); -- of the socket on which the person confirmed, or gave or ended an allowance
ALTER TABLE relay_audit_events ADD COLUMN card_sha256 BLOB CHECK (length(card_sha256) % 32 = 0); -- arguments_sha256 of every step on the card, in order
-- The key of a device, as it was paired.
CREATE INDEX relay_audit_events_paired ON relay_audit_events (device_id, seq) WHERE public_key IS NOT NULL;

-- An allowance that has run out is audited once, and keeps its row: a read that was decided by it still gets its reason.

ALTER TABLE relay_allowances ADD COLUMN ended_at INTEGER; -- when it was audited that it has run out; microseconds UTC
DROP INDEX relay_allowances_end;
-- What has run out, and what a clock that was ahead has given for too long.
CREATE INDEX relay_allowances_lasting ON relay_allowances (expires_at) WHERE ended_at IS NULL;
