-- The right to carry out one invocation once. The two unique indexes are why no second one is ever in flight in a lane or
-- in a session, whatever processes do.
CREATE TABLE relay_grants (
    id            INTEGER PRIMARY KEY,
    grant_id      TEXT NOT NULL UNIQUE,                -- UUIDv7
    invocation_id TEXT NOT NULL UNIQUE REFERENCES relay_invocations (invocation_id) ON DELETE CASCADE,
    session_id    TEXT NOT NULL,                       -- that of the invocation
    lane          BLOB NOT NULL CHECK (length(lane) = 32), -- that of the session when it was approved
    state         TEXT NOT NULL CHECK (state IN ('unused', 'claimed', 'spent', 'dead')),
    lasts         INTEGER NOT NULL CHECK (lasts >= 0), -- how long it can be claimed once its turn has come; microseconds
    expires_at    INTEGER,                             -- until when it can be claimed; NULL before its turn; microseconds UTC
    claimed_at    INTEGER,                             -- microseconds UTC
    claimed_for   TEXT,                                -- UUID of the page that was told to act
    deadline_at   INTEGER,                             -- when it is unknown how it ended; microseconds UTC
    created_at    INTEGER NOT NULL,                    -- microseconds UTC
    CHECK ((state IN ('claimed', 'spent')) = (claimed_at IS NOT NULL)),
    CHECK ((claimed_at IS NULL) = (claimed_for IS NULL) AND (claimed_at IS NULL) = (deadline_at IS NULL)),
    CHECK (claimed_at IS NULL OR expires_at IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX relay_one_in_flight_per_lane ON relay_grants (lane) WHERE state = 'claimed';
CREATE UNIQUE INDEX relay_one_in_flight_per_session ON relay_grants (session_id) WHERE state = 'claimed';
-- Whose turn has come, by session and by lane, and whose time is over.
CREATE INDEX relay_grants_due_of_session ON relay_grants (session_id, id)
    WHERE state = 'unused' AND expires_at IS NOT NULL;
CREATE INDEX relay_grants_due_of_lane ON relay_grants (lane, session_id)
    WHERE state = 'unused' AND expires_at IS NOT NULL;
CREATE INDEX relay_grants_expiry ON relay_grants (expires_at) WHERE state = 'unused' AND expires_at IS NOT NULL;
-- What was not heard of in time.
CREATE INDEX relay_grants_deadline ON relay_grants (deadline_at) WHERE state = 'claimed';
