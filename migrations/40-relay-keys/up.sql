-- The key with which the relay proves itself to plugins. All processes at this file share it, and plugins remember it:
-- a plugin that has seen another one under this address connects no more.
CREATE TABLE relay_keys (
    id           INTEGER PRIMARY KEY CHECK (id = 1),   -- one row for ever
    private_key  BLOB NOT NULL CHECK (length(private_key) BETWEEN 1 AND 1024), -- P-256, PKCS #8; a secret
    created_at   INTEGER NOT NULL                      -- microseconds UTC
) STRICT;
