-- A device with one open file. What a verb does for a socket is compared with the epoch in which that was accepted.
CREATE TABLE relay_sessions (
    id           INTEGER PRIMARY KEY,
    session_id   TEXT NOT NULL UNIQUE,                 -- UUIDv7
    device_id    TEXT NOT NULL REFERENCES relay_devices (device_id),
    subject      TEXT NOT NULL,                        -- that of the device
    tool         TEXT NOT NULL CHECK (tool IN ('penpot', 'figma', 'test')),
    lane         BLOB NOT NULL CHECK (length(lane) = 32), -- digest of subject, tool and file
    state        TEXT NOT NULL CHECK (state IN ('away', 'connected', 'suspended', 'ended')),
    epoch        INTEGER NOT NULL CHECK (epoch >= 1),  -- one more with every socket that is accepted
    page         TEXT NOT NULL,                        -- UUID of the page whose socket was accepted last
    created_at   INTEGER NOT NULL,                     -- microseconds UTC
    last_seen_at INTEGER NOT NULL,                     -- when it was last used; microseconds UTC
    ended_at     INTEGER,                              -- microseconds UTC
    CHECK ((state = 'ended') = (ended_at IS NOT NULL))
) STRICT;

-- The session that a page comes back to, and the sessions of a device that is revoked.
CREATE INDEX relay_sessions_of_device ON relay_sessions (device_id, lane, id) WHERE state <> 'ended';
-- The sessions of a person.
CREATE INDEX relay_sessions_of_subject ON relay_sessions (subject, id) WHERE state <> 'ended';
-- What was not used for long.
CREATE INDEX relay_sessions_unused ON relay_sessions (last_seen_at) WHERE state <> 'ended';
-- What retention deletes.
CREATE INDEX relay_sessions_ended ON relay_sessions (ended_at, id) WHERE state = 'ended';
-- What sockets hold: each process looks whether its own still do.
CREATE INDEX relay_sessions_held ON relay_sessions (session_id) WHERE state IN ('connected', 'suspended');
