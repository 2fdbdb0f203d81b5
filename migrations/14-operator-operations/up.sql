-- Idempotency keys of operators: unique in the whole store, kept as long as the audit event.
CREATE TABLE operator_operations (
    operation_id     TEXT PRIMARY KEY,                 -- the caller's Idempotency-Key
    installation_id  INTEGER NOT NULL,
    item_type        TEXT NOT NULL CHECK (item_type IN ('job', 'outbox')),
    item_id          TEXT NOT NULL,
    audit_event_id   TEXT NOT NULL REFERENCES audit_events (audit_event_id),
    created_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT, WITHOUT ROWID;
CREATE TRIGGER operator_operations_are_not_changed BEFORE UPDATE ON operator_operations BEGIN SELECT RAISE(ABORT, 'operations are final'); END;
CREATE TRIGGER operator_operations_are_not_deleted BEFORE DELETE ON operator_operations BEGIN SELECT RAISE(ABORT, 'operations are final'); END;
