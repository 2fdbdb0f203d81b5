-- Every change of the relay, in the transaction that makes it. Never swept, never changed. Each row holds the hash of the
-- one before it. `hash` = SHA-256 of prev_hash and of the RFC 8785 form of the row as operators see it, without
-- `prevHash`, `hash` and members that are null.
CREATE TABLE relay_audit_events (
    seq              INTEGER PRIMARY KEY CHECK (seq >= 1), -- without a gap
    event            TEXT NOT NULL,                    -- relay.…
    subject          TEXT NOT NULL,                    -- whose device, session or proposal it is
    client           TEXT,                             -- through which client it was proposed or paired
    device_id        TEXT,
    session_id       TEXT,
    proposal_id      TEXT,
    invocation_id    TEXT,
    action           TEXT,                             -- name of the action
    arguments_sha256 BLOB CHECK (length(arguments_sha256) = 32), -- of action and arguments
    preview_sha256   BLOB CHECK (length(preview_sha256) = 32), -- of what the card showed
    decided_by       TEXT CHECK (decided_by IN ('person', 'allowance', 'plugin', 'operator', 'caller')),
    reason           TEXT,                             -- stable word
    epoch            INTEGER,                          -- of the session
    signature        BLOB CHECK (length(signature) = 64), -- of the device's key, over a decision or an allowance
    actor            TEXT,                             -- the configured actor, where an operator did it
    created_at       INTEGER NOT NULL,                 -- microseconds UTC
    prev_hash        BLOB NOT NULL CHECK (length(prev_hash) = 32), -- of the row before; zeros in the first one
    hash             BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE TRIGGER relay_audit_events_are_not_changed BEFORE UPDATE ON relay_audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
CREATE TRIGGER relay_audit_events_are_not_deleted BEFORE DELETE ON relay_audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
