-- One row for each death of a job or an outbox item. Metadata only: nothing here came from a payload
-- but the repository's name. Never swept.
CREATE TABLE dead_letters (
    id               INTEGER PRIMARY KEY,
    installation_id  INTEGER NOT NULL,
    failed_at        INTEGER NOT NULL,                 -- microseconds UTC; rises within an installation
    item_type        TEXT NOT NULL CHECK (item_type IN ('job', 'outbox')),
    item_id          TEXT NOT NULL,                    -- job_id or outbox_id
    repository       TEXT,                             -- owner/name when it died
    reason_code      TEXT NOT NULL,                    -- stable code: why it died
    error_class      TEXT NOT NULL,                    -- stable code: what kind of failure it was
    attempt_count    INTEGER NOT NULL,
    replay_class     TEXT NOT NULL,                    -- stable code: why it may, or may not, be replayed
    replay_safe      INTEGER NOT NULL CHECK (replay_safe IN (0, 1)),  -- follows from replay_class
    resolution       TEXT CHECK (resolution IN ('replayed', 'completed', 'superseded')),  -- null while open
    resolved_at      INTEGER,                          -- microseconds UTC
    UNIQUE (installation_id, failed_at),
    CHECK ((resolution IS NULL) = (resolved_at IS NULL))
) STRICT;
