-- A person's leave to read a session for a while, given in the plugin. Each read has an approval and a grant all the same.
CREATE TABLE relay_allowances (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE REFERENCES relay_sessions (session_id) ON DELETE CASCADE,
    page       TEXT NOT NULL,                          -- UUID of the page in which it was given: no other page shows it
    expires_at INTEGER NOT NULL,                       -- microseconds UTC
    signature  BLOB NOT NULL CHECK (length(signature) = 64), -- of the device's key
    created_at INTEGER NOT NULL                        -- microseconds UTC
) STRICT;

-- What a clock that was ahead has given for too long.
CREATE INDEX relay_allowances_end ON relay_allowances (expires_at);
