-- Plugin installations whose key a person has confirmed. A revoked one stays for ever, so that its key is never paired
-- again.
CREATE TABLE relay_devices (
    id           INTEGER PRIMARY KEY,
    device_id    TEXT NOT NULL UNIQUE,                 -- UUIDv7
    public_key   BLOB NOT NULL UNIQUE CHECK (length(public_key) = 65), -- P-256, uncompressed point
    subject      TEXT NOT NULL,                        -- whose it is: issuer, a space, subject there; or 'local'
    tool         TEXT NOT NULL CHECK (tool IN ('penpot', 'figma', 'test')), -- in which it was paired
    state        TEXT NOT NULL CHECK (state IN ('active', 'revoked')),
    created_at   INTEGER NOT NULL,                     -- microseconds UTC
    last_seen_at INTEGER NOT NULL,                     -- when a page last proved its key; microseconds UTC
    revoked_at   INTEGER,                              -- microseconds UTC
    CHECK ((state = 'revoked') = (revoked_at IS NOT NULL))
) STRICT;
