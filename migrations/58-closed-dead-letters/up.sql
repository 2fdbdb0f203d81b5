-- A dead letter can be closed, and shows what died. SQLite cannot change a constraint, so the table is made anew.
ALTER TABLE dead_letters RENAME TO dead_letters_of_step_57;

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
    resolution       TEXT CHECK (resolution IN ('replayed', 'completed', 'superseded', 'closed')),  -- null while open
    resolved_at      INTEGER,                          -- microseconds UTC
    cause            TEXT,                             -- stable code: why the last call to the forge failed; NULL where none did
    job_action       TEXT,                             -- stable code: what a job does; NULL where it cannot be read
    effect_kind      TEXT,                             -- stable code: what an outbox item does
    release_run_id   TEXT,                             -- of an outbox item
    attempt_id       TEXT,                             -- of an outbox item
    UNIQUE (installation_id, failed_at),
    CHECK ((resolution IS NULL) = (resolved_at IS NULL))
) STRICT;

INSERT INTO dead_letters (id, installation_id, failed_at, item_type, item_id, repository, reason_code, error_class,
    attempt_count, replay_class, replay_safe, resolution, resolved_at, cause, job_action, effect_kind, release_run_id, attempt_id)
SELECT d.id, d.installation_id, d.failed_at, d.item_type, d.item_id, d.repository, d.reason_code, d.error_class,
    d.attempt_count, d.replay_class, d.replay_safe, d.resolution, d.resolved_at, d.cause,
    CASE WHEN json_valid(i.normalized_actions) THEN json_extract(i.normalized_actions, '$[0].action') END,
    o.kind, o.release_run_id, o.attempt_id
FROM dead_letters_of_step_57 d
LEFT JOIN outbox o ON d.item_type = 'outbox' AND o.outbox_id = d.item_id
LEFT JOIN control_plane_jobs j ON d.item_type = 'job' AND j.job_id = d.item_id
LEFT JOIN webhook_inbox i ON i.inbox_id = j.inbox_id
ORDER BY d.id;

DROP TABLE dead_letters_of_step_57;

-- The operator's list is answered from this index alone; one item has at most one open dead letter.
CREATE INDEX dead_letters_open ON dead_letters
    (installation_id, failed_at DESC, item_type, item_id, repository, reason_code, error_class, cause, attempt_count, replay_class,
        effect_kind, release_run_id, resolution)
    WHERE resolution IS NULL;
CREATE UNIQUE INDEX dead_letters_open_item ON dead_letters (item_type, item_id) WHERE resolution IS NULL;
-- Every death of one item, and the items whose ID begins with a prefix.
CREATE INDEX dead_letters_of_item ON dead_letters (installation_id, item_type, item_id, failed_at);
-- The deaths among the effects of one release run.
CREATE INDEX dead_letters_of_release_run ON dead_letters (release_run_id, failed_at) WHERE release_run_id IS NOT NULL;

-- Why an operator did it.
ALTER TABLE audit_events ADD COLUMN reason TEXT;      -- the operator's own words; NULL where none are asked for
-- All that was done to one item.
CREATE INDEX audit_events_of_item ON audit_events (installation_id, item_type, item_id, id);

-- When an operator closed the dead letter of an effect, without which its release does not go on: the release ends
-- a deadline later. NULL before, and once that was applied.
ALTER TABLE outbox ADD COLUMN closed_at INTEGER;      -- microseconds UTC
CREATE INDEX outbox_closed ON outbox (closed_at, id) WHERE closed_at IS NOT NULL;
-- What the sweeper reads: what was closed, oldest first.
CREATE INDEX outbox_closed_finished ON outbox (updated_at, id) WHERE status = 'dead_letter' AND payload = '' AND closed_at IS NULL;
CREATE INDEX webhook_inbox_closed ON webhook_inbox (updated_at, inbox_id) WHERE state = 'dead_letter' AND normalized_actions IS NULL;
-- Deliveries that wait for an operator: the release runs of their repository are kept.
DROP INDEX webhook_inbox_dead;
CREATE INDEX webhook_inbox_dead ON webhook_inbox (repository_id) WHERE state = 'dead_letter' AND normalized_actions IS NOT NULL;

-- A release run by the beginning of its ID.
CREATE INDEX release_runs_of_id ON release_runs (forge_installation_id, release_run_id);
