-- Token ids of result callbacks that were answered, so that the same one gets the same answer.
CREATE TABLE result_callbacks (
    token_id         TEXT PRIMARY KEY,                 -- jti of the run's identity token
    attempt_id       TEXT NOT NULL REFERENCES release_run_attempts (attempt_id),
    payload_sha256   BLOB NOT NULL,                    -- digest of the exact body
    outcome          TEXT NOT NULL,                    -- the stored answer
    created_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT, WITHOUT ROWID;
