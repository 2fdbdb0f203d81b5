-- Holders of the item that vanished; an item nobody survives is given up.
ALTER TABLE reconciliation_items ADD COLUMN vanished_count INTEGER NOT NULL DEFAULT 0;
-- The attempt the item is about; null for an inbox row, and for items of older writers.
ALTER TABLE reconciliation_items ADD COLUMN attempt_id TEXT;

-- What each reconciler claims, and what stops a finished item from being found again.
DROP INDEX reconciliation_items_open;
CREATE INDEX reconciliation_items_open ON reconciliation_items (kind, next_check_at, id) WHERE status = 'open';
CREATE INDEX reconciliation_items_of_subject ON reconciliation_items (subject_id, reason, created_at);
CREATE INDEX reconciliation_items_finished ON reconciliation_items (finished_at, id) WHERE status = 'completed';

-- What each reconciler looks for.
CREATE INDEX release_run_attempts_running ON release_run_attempts (updated_at, id)
    WHERE status IN ('running', 'reporting');
CREATE INDEX release_runs_unpublished ON release_runs (finished_at, id)
    WHERE forge_check_published_at IS NULL AND check_run_id IS NOT NULL AND finished_at IS NOT NULL;
CREATE INDEX outbox_in_doubt ON outbox (finished_at, id)
    WHERE status = 'dead_letter' AND send_began_at IS NOT NULL;
