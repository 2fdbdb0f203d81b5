-- When the deadline of an item that was given up was applied to its subject; null until then.
ALTER TABLE reconciliation_items ADD COLUMN deadline_applied_at INTEGER;             -- microseconds UTC
CREATE INDEX reconciliation_items_given_up ON reconciliation_items (kind, deadline_at)
    WHERE status = 'dead_letter' AND deadline_applied_at IS NULL;

-- What cannot be read fails again at every replay.
UPDATE dead_letters SET replay_class = 'unreadable', replay_safe = 0
    WHERE reason_code = 'actions_unreadable' AND resolution IS NULL AND replay_safe = 1;
