-- One dispatch of a release run's workflow. Only the current attempt may end the release.
CREATE TABLE release_run_attempts (
    id                    INTEGER PRIMARY KEY,
    attempt_id            TEXT NOT NULL UNIQUE,        -- UUIDv7; external_id of its check run
    release_run_id        TEXT NOT NULL REFERENCES release_runs (release_run_id),
    attempt_number        INTEGER NOT NULL CHECK (attempt_number > 0),
    nonce                 TEXT NOT NULL UNIQUE,        -- random; binds a result callback to this attempt
    status                TEXT NOT NULL CHECK (status IN
        ('queued', 'dispatching', 'running', 'reporting', 'succeeded', 'failed', 'timed_out', 'cancelled', 'superseded')),
    workflow_run_id       INTEGER,                     -- the forge's number, once known
    workflow_run_attempt  INTEGER,                     -- the forge's re-run counter this attempt is bound to
    check_run_id          INTEGER,                     -- the forge's number, once known
    failure_reason        TEXT,                        -- stable reason code
    hinted_at             INTEGER,                     -- microseconds UTC; a webhook said to look now
    created_at            INTEGER NOT NULL,            -- microseconds UTC
    updated_at            INTEGER NOT NULL,            -- microseconds UTC
    UNIQUE (release_run_id, attempt_number)
) STRICT;
CREATE UNIQUE INDEX release_run_attempts_workflow_run ON release_run_attempts (workflow_run_id) WHERE workflow_run_id IS NOT NULL;
CREATE UNIQUE INDEX release_run_attempts_check_run ON release_run_attempts (check_run_id) WHERE check_run_id IS NOT NULL;
