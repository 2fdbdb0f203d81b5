-- When the forge showed another check run under the number of this attempt's: it is never written to
-- again. Null while that did not happen.
ALTER TABLE release_run_attempts ADD COLUMN check_run_mismatch_at INTEGER;           -- microseconds UTC

-- Digest of what the check run showed when the forge definitely refused to set it: it is set again only
-- once it shows something else.
ALTER TABLE reconciliation_items ADD COLUMN refused_state BLOB;
