-- Invocations that are shown and decided together.
CREATE TABLE relay_proposals (
    id             INTEGER PRIMARY KEY,
    proposal_id    TEXT NOT NULL UNIQUE,               -- UUIDv7
    session_id     TEXT NOT NULL REFERENCES relay_sessions (session_id),
    subject        TEXT NOT NULL,                      -- who proposes; that of the session
    client         TEXT NOT NULL,                      -- through which client
    digest         BLOB NOT NULL CHECK (length(digest) = 32), -- of session and steps: the same call has the same
    preview_sha256 BLOB CHECK (length(preview_sha256) = 32), -- of what its card shows; NULL while it is not shown
    is_waiting     INTEGER NOT NULL CHECK (is_waiting IN (0, 1)), -- a step of it waits for a decision
    expires_at     INTEGER NOT NULL,                   -- until when it can be decided about; microseconds UTC
    created_at     INTEGER NOT NULL,                   -- microseconds UTC
    finished_at    INTEGER,                            -- when its last step ended; microseconds UTC
    CHECK (is_waiting = 0 OR finished_at IS NULL)
) STRICT;

-- The same call twice is one card.
CREATE UNIQUE INDEX relay_proposals_same_call ON relay_proposals (subject, client, session_id, digest)
    WHERE finished_at IS NULL;
-- What waits for a person, by session and by subject, and whose time is over.
CREATE INDEX relay_proposals_waiting_of_session ON relay_proposals (session_id, id) WHERE is_waiting = 1;
CREATE INDEX relay_proposals_waiting_of_subject ON relay_proposals (subject) WHERE is_waiting = 1;
CREATE INDEX relay_proposals_waiting ON relay_proposals (expires_at) WHERE is_waiting = 1;
-- A session is deleted after its proposals.
CREATE INDEX relay_proposals_of_session ON relay_proposals (session_id);
-- What retention deletes.
CREATE INDEX relay_proposals_finished ON relay_proposals (finished_at, id) WHERE finished_at IS NOT NULL;
