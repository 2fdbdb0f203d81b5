-- The key is no longer unique here as well: an index on a random key makes every insert change a page of its own. SQLite
-- cannot drop the index of a constraint alone, so the table is made anew.
ALTER TABLE control_plane_jobs RENAME TO control_plane_jobs_of_step_55;

-- Lifecycle jobs: what a webhook asks of us. Its status is authoritative for its inbox row.
CREATE TABLE control_plane_jobs (
    id                INTEGER PRIMARY KEY,
    job_id            TEXT NOT NULL UNIQUE,        -- UUIDv7, shown to operators
    idempotency_key   TEXT NOT NULL,               -- that of the inbox row
    inbox_id          INTEGER NOT NULL UNIQUE REFERENCES webhook_inbox (inbox_id),  -- one job for one delivery
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

INSERT INTO control_plane_jobs (id, job_id, idempotency_key, inbox_id, installation_id, repository, status,
    attempt_count, available_at, lease_owner, claim_id, fencing_token, lease_expires_at, created_at, updated_at, finished_at)
SELECT id, job_id, idempotency_key, inbox_id, installation_id, repository, status,
    attempt_count, available_at, lease_owner, claim_id, fencing_token, lease_expires_at, created_at, updated_at, finished_at
FROM control_plane_jobs_of_step_55 ORDER BY id;

DROP TABLE control_plane_jobs_of_step_55;

-- What a claim reads: the next available job, and the first lease to run out. Neither grows with history.
CREATE INDEX control_plane_jobs_available ON control_plane_jobs (available_at, id) WHERE status = 'available';
CREATE INDEX control_plane_jobs_leased ON control_plane_jobs (lease_expires_at, id) WHERE status = 'leased';
-- What the sweeper reads: finished jobs, oldest first.
CREATE INDEX control_plane_jobs_completed ON control_plane_jobs (finished_at, id) WHERE status = 'completed';
-- The first that is due of the next installation.
CREATE INDEX control_plane_jobs_available_of_installation ON control_plane_jobs (installation_id, available_at, id) WHERE status = 'available';
