-- Lifecycle jobs: what a webhook asks of us. Its status is authoritative for its inbox row.
CREATE TABLE control_plane_jobs (
    id                INTEGER PRIMARY KEY,
    job_id            TEXT NOT NULL UNIQUE,        -- UUIDv7, shown to operators
    idempotency_key   TEXT NOT NULL UNIQUE,        -- that of the inbox row: one job for one delivery
    inbox_id          INTEGER NOT NULL UNIQUE REFERENCES webhook_inbox (inbox_id),
    installation_id   INTEGER NOT NULL,
    repository        TEXT,                        -- owner/name, for the operator's list
    status            TEXT NOT NULL CHECK (status IN ('available', 'leased', 'completed', 'dead_letter')),
    attempt_count     INTEGER NOT NULL DEFAULT 0,  -- counted at the claim, so that a crash counts too
    available_at      INTEGER NOT NULL,            -- microseconds UTC; not claimed earlier
    lease_owner       TEXT,                        -- random per process start
    claim_id          BLOB,                        -- random per claim; every later write names it
    fencing_token     INTEGER NOT NULL DEFAULT 0,  -- rises with every claim
    lease_expires_at  INTEGER,                     -- microseconds UTC
    created_at        INTEGER NOT NULL,            -- microseconds UTC
    updated_at        INTEGER NOT NULL,            -- microseconds UTC
    finished_at       INTEGER,                     -- microseconds UTC; set while completed or dead
    CHECK ((status = 'leased') = (claim_id IS NOT NULL)),
    CHECK ((status = 'leased') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'dead_letter')) = (finished_at IS NOT NULL))
) STRICT;
