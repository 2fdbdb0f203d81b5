-- Side effects at the forge, each stored with its key before it is sent.
CREATE TABLE outbox (
    id                INTEGER PRIMARY KEY,             -- also the order within an attempt
    outbox_id         TEXT NOT NULL UNIQUE,            -- UUIDv7, shown to operators
    effect_key        TEXT NOT NULL UNIQUE,            -- <effect>:<attempt_id>; one row for one effect
    installation_id   INTEGER NOT NULL,
    repository_id     INTEGER NOT NULL,
    release_run_id    TEXT NOT NULL REFERENCES release_runs (release_run_id),
    attempt_id        TEXT NOT NULL REFERENCES release_run_attempts (attempt_id),
    kind              TEXT NOT NULL CHECK (kind IN ('workflow_dispatch', 'check_run_create', 'check_run_update')),
    payload           TEXT NOT NULL,                   -- what to send; never shown, empty once nothing will be sent
    status            TEXT NOT NULL CHECK (status IN
        ('held', 'available', 'leased', 'completed', 'dead_letter', 'superseded')),  -- held: an earlier effect of the attempt is unfinished
    attempt_count     INTEGER NOT NULL DEFAULT 0,      -- counted at the claim, so that a crash counts too
    available_at      INTEGER NOT NULL,                -- microseconds UTC; not claimed earlier
    send_began_at     INTEGER,                         -- microseconds UTC; set before the first byte leaves, cleared by a definite answer
    lease_owner       TEXT,                            -- random per process start
    claim_id          BLOB,                            -- random per claim; every later write names it
    fencing_token     INTEGER NOT NULL DEFAULT 0,      -- rises with every claim
    lease_expires_at  INTEGER,                         -- microseconds UTC
    created_at        INTEGER NOT NULL,                -- microseconds UTC
    updated_at        INTEGER NOT NULL,                -- microseconds UTC
    finished_at       INTEGER,                         -- microseconds UTC
    CHECK ((status = 'leased') = (claim_id IS NOT NULL)),
    CHECK ((status = 'leased') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'dead_letter', 'superseded')) = (finished_at IS NOT NULL))
) STRICT;
