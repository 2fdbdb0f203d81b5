-- A release of one commit under one tag. Unique by what is released, so that a webhook replayed
-- under a new delivery id starts nothing.
CREATE TABLE release_runs (
    id                        INTEGER PRIMARY KEY,
    release_run_id            TEXT NOT NULL UNIQUE,    -- UUIDv7
    forge_installation_id     INTEGER NOT NULL,
    repository_id             INTEGER NOT NULL,
    git_ref                   TEXT NOT NULL,           -- full ref, refs/tags/...
    head_sha                  TEXT NOT NULL,           -- commit, lower-case hex
    status                    TEXT NOT NULL CHECK (status IN
        ('queued', 'dispatching', 'running', 'reporting', 'succeeded', 'failed', 'timed_out', 'cancelled')),
    decision                  TEXT CHECK (decision IN ('accepted', 'accepted_at_risk', 'rejected')),
    conclusion                TEXT CHECK (conclusion IN ('success', 'neutral', 'failure', 'timed_out', 'cancelled')),
    failure_reason            TEXT,                    -- stable reason code
    current_attempt_id        TEXT NOT NULL UNIQUE,    -- release_run_attempts.attempt_id
    workflow_run_id           INTEGER,                 -- of the current attempt, once known
    check_run_id              INTEGER,                 -- of the current attempt, once known
    forge_check_published_at  INTEGER,                 -- microseconds UTC; the final check run reached the forge
    created_at                INTEGER NOT NULL,        -- microseconds UTC
    updated_at                INTEGER NOT NULL,        -- microseconds UTC
    finished_at               INTEGER,                 -- microseconds UTC; set while terminal
    UNIQUE (forge_installation_id, repository_id, git_ref, head_sha),
    CHECK ((status IN ('succeeded', 'failed', 'timed_out', 'cancelled')) = (finished_at IS NOT NULL))
) STRICT;
