-- What is being repaired, until when. One open item for one subject and reason.
CREATE TABLE reconciliation_items (
    id                 INTEGER PRIMARY KEY,
    reconciliation_id  TEXT NOT NULL UNIQUE,           -- UUIDv7, safe to log
    kind               TEXT NOT NULL CHECK (kind IN ('workflow_attempt', 'release_run', 'webhook_inbox')),
    reason             TEXT NOT NULL,                  -- stable code, for instance reporting_stale
    subject_id         TEXT NOT NULL,                  -- attempt_id, release_run_id or inbox_id
    installation_id    INTEGER NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('open', 'leased', 'completed', 'dead_letter')),
    outcome_code       TEXT,                           -- stable code of the last or final observation
    attempt_count      INTEGER NOT NULL DEFAULT 0,     -- counted at the claim
    next_check_at      INTEGER NOT NULL,               -- microseconds UTC
    deadline_at        INTEGER NOT NULL,               -- microseconds UTC
    lease_owner        TEXT,                           -- random per process start
    claim_id           BLOB,                           -- random per claim
    fencing_token      INTEGER NOT NULL DEFAULT 0,     -- rises with every claim
    lease_expires_at   INTEGER,                        -- microseconds UTC
    created_at         INTEGER NOT NULL,               -- microseconds UTC
    updated_at         INTEGER NOT NULL,               -- microseconds UTC
    finished_at        INTEGER,                        -- microseconds UTC
    CHECK ((status = 'leased') = (claim_id IS NOT NULL)),
    CHECK ((status = 'leased') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'dead_letter')) = (finished_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX reconciliation_items_subject ON reconciliation_items (kind, reason, subject_id) WHERE status IN ('open', 'leased');
CREATE INDEX reconciliation_items_open ON reconciliation_items (next_check_at, id) WHERE status = 'open';
CREATE INDEX reconciliation_items_leased ON reconciliation_items (lease_expires_at, id) WHERE status = 'leased';
