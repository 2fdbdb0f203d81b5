-- What was decided by a person, or on everybody's behalf. Never swept, never changed.
CREATE TABLE audit_events (
    id               INTEGER PRIMARY KEY,
    audit_event_id   TEXT NOT NULL UNIQUE,             -- UUIDv7
    installation_id  INTEGER NOT NULL,
    event            TEXT NOT NULL,                    -- control_plane.…
    actor            TEXT NOT NULL,                    -- configured actor, or 'svcd'
    operation_id     TEXT,                             -- the caller's Idempotency-Key
    item_type        TEXT NOT NULL,
    item_id          TEXT NOT NULL,
    reason_code      TEXT,                             -- stable code
    created_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT;
CREATE INDEX audit_events_of_installation ON audit_events (installation_id, id);
CREATE TRIGGER audit_events_are_not_changed BEFORE UPDATE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
CREATE TRIGGER audit_events_are_not_deleted BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
