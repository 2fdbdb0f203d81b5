-- When the forge showed another check run under the number of this attempt's: it is never written to
-- again. Null while that did not happen.
ALTER TABLE release_run_attempts ADD COLUMN check_run_mismatch_at INTEGER;           -- microseconds UTC

-- Digest of what the check run showed when the forge definitely refused to set it: it is set again only
-- once it shows something else.
ALTER TABLE reconciliation_items ADD COLUMN refused_state BLOB;

-- What was recorded before: those check runs are not ours either.
UPDATE release_run_attempts SET check_run_mismatch_at = updated_at WHERE attempt_id IN
    (SELECT attempt_id FROM reconciliation_items WHERE outcome_code = 'forge_check_run_binding_mismatch');
UPDATE dead_letters SET replay_class = 'binding_mismatch', replay_safe = 0
    WHERE resolution IS NULL AND item_type = 'outbox' AND item_id IN
        (SELECT outbox_id FROM outbox JOIN release_run_attempts USING (attempt_id)
         WHERE kind = 'check_run_update' AND check_run_mismatch_at IS NOT NULL);
