-- Returns of an item whose refusal may have come from the lag of a fresh token; they are no tries.
ALTER TABLE outbox ADD COLUMN lag_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reconciliation_items ADD COLUMN lag_count INTEGER NOT NULL DEFAULT 0;
