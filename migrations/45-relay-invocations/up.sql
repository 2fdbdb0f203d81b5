-- The steps of proposals: one action each. What is asked for goes as soon as it has ended.
CREATE TABLE relay_invocations (
    id               INTEGER PRIMARY KEY,
    invocation_id    TEXT NOT NULL UNIQUE,             -- UUIDv7
    proposal_id      TEXT NOT NULL REFERENCES relay_proposals (proposal_id) ON DELETE CASCADE,
    session_id       TEXT NOT NULL,                    -- that of the proposal
    position         INTEGER NOT NULL CHECK (position BETWEEN 0 AND 19), -- in the proposal
    action           TEXT NOT NULL,                    -- name of the action
    effect           TEXT NOT NULL CHECK (effect IN ('read', 'export', 'write', 'destructive')),
    arguments        TEXT,                             -- a JSON object; NULL once it has ended
    arguments_sha256 BLOB NOT NULL CHECK (length(arguments_sha256) = 32), -- of action and arguments
    state            TEXT NOT NULL CHECK (state IN ('proposed', 'shown', 'approved', 'running', 'succeeded', 'failed',
        'stale', 'denied', 'cancelled', 'expired', 'unknown')),
    reason           TEXT,                             -- stable word: why it ended so
    is_late          INTEGER NOT NULL DEFAULT 0 CHECK (is_late IN (0, 1)), -- it was 'unknown' before its end was known
    created_at       INTEGER NOT NULL,                 -- microseconds UTC
    updated_at       INTEGER NOT NULL,                 -- of the last change of its state; microseconds UTC
    UNIQUE (proposal_id, position),
    CHECK ((state IN ('proposed', 'shown', 'approved', 'running')) = (arguments IS NOT NULL))
) STRICT;

-- What hangs on a session that closes, changes its file or ends.
CREATE INDEX relay_invocations_open ON relay_invocations (session_id, id)
    WHERE state IN ('proposed', 'shown', 'approved', 'running');
-- What a page that returns may know more about.
CREATE INDEX relay_invocations_unknown ON relay_invocations (session_id, id) WHERE state = 'unknown';
