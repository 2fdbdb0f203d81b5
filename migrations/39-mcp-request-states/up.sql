-- The key that seals the state of multi-round requests of the Model Context Protocol. All processes at this
-- file share it, so that each opens what another one sealed, also after a restart.
CREATE TABLE mcp_request_state_keys (
    id           INTEGER PRIMARY KEY CHECK (id = 1),   -- one row for ever
    sealing_key  BLOB NOT NULL CHECK (length(sealing_key) = 32), -- random, a secret
    created_at   INTEGER NOT NULL                      -- microseconds UTC
) STRICT;

-- Which sealed states were used, so that none is used twice. A row is needed until its state expires.
CREATE TABLE mcp_used_request_states (
    nonce        BLOB PRIMARY KEY CHECK (length(nonce) = 12), -- of the seal
    expires_at   INTEGER NOT NULL                      -- of the state; microseconds UTC
) STRICT, WITHOUT ROWID;

-- What retention deletes, and how many are in use.
CREATE INDEX mcp_used_request_states_expiry ON mcp_used_request_states (expires_at);
