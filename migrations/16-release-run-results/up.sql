-- The accepted result of a release run, and how its publication went.
CREATE TABLE release_run_results (
    release_run_id          TEXT PRIMARY KEY REFERENCES release_runs (release_run_id),
    attempt_id              TEXT NOT NULL REFERENCES release_run_attempts (attempt_id),
    decision                TEXT NOT NULL CHECK (decision IN ('accepted', 'accepted_at_risk', 'rejected')),
    payload_sha256          BLOB NOT NULL,             -- digest of the exact accepted body
    accepted_payload        TEXT NOT NULL,             -- tenant content; never shown, never copied elsewhere
    last_publication_error  TEXT,                      -- stable reason code
    created_at              INTEGER NOT NULL,          -- microseconds UTC
    updated_at              INTEGER NOT NULL           -- microseconds UTC
) STRICT, WITHOUT ROWID;
