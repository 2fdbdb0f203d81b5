-- What the signals read: the oldest open dead letter, and how many reconciliations were given up.
CREATE INDEX dead_letters_open_age ON dead_letters (failed_at) WHERE resolution IS NULL;
-- When an operator acknowledged an item that was given up; null until then.
ALTER TABLE reconciliation_items ADD COLUMN closed_at INTEGER;             -- microseconds UTC
CREATE INDEX reconciliation_items_not_closed ON reconciliation_items (installation_id, reconciliation_id)
    WHERE status = 'dead_letter' AND closed_at IS NULL;
-- How many those are, and the oldest one.
CREATE INDEX reconciliation_items_dead ON reconciliation_items (finished_at) WHERE status = 'dead_letter' AND closed_at IS NULL;

-- Operators' requests are about reconciliation items too. SQLite cannot change a constraint, so the table is made anew.
ALTER TABLE operator_operations RENAME TO operator_operations_of_step_58;

-- Idempotency keys of operators: unique in the whole store, kept as long as the audit event.
CREATE TABLE operator_operations (
    operation_id     TEXT PRIMARY KEY,                 -- the caller's Idempotency-Key
    installation_id  INTEGER NOT NULL,
    item_type        TEXT NOT NULL CHECK (item_type IN ('job', 'outbox', 'reconciliation_item')),
    item_id          TEXT NOT NULL,
    audit_event_id   TEXT NOT NULL REFERENCES audit_events (audit_event_id),
    created_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT, WITHOUT ROWID;

INSERT INTO operator_operations (operation_id, installation_id, item_type, item_id, audit_event_id, created_at)
SELECT operation_id, installation_id, item_type, item_id, audit_event_id, created_at
FROM operator_operations_of_step_58;

DROP TABLE operator_operations_of_step_58;

CREATE TRIGGER operator_operations_are_not_changed BEFORE UPDATE ON operator_operations BEGIN SELECT RAISE(ABORT, 'operations are final'); END;
CREATE TRIGGER operator_operations_are_not_deleted BEFORE DELETE ON operator_operations BEGIN SELECT RAISE(ABORT, 'operations are final'); END;
