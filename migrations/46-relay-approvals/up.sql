-- What was decided about a proposal in the plugin, as the device signed it. There is no second decision.
CREATE TABLE relay_approvals (
    id             INTEGER PRIMARY KEY,
    proposal_id    TEXT NOT NULL UNIQUE REFERENCES relay_proposals (proposal_id) ON DELETE CASCADE,
    subject        TEXT NOT NULL,                      -- that of the proposal
    client         TEXT NOT NULL,                      -- that of the proposal
    decision       TEXT NOT NULL CHECK (decision IN ('approved', 'denied')),
    decided_by     TEXT NOT NULL CHECK (decided_by IN ('person', 'allowance', 'plugin')),
    preview_sha256 BLOB NOT NULL CHECK (length(preview_sha256) = 32), -- of what the card showed
    epoch          INTEGER NOT NULL,                   -- of the session, as it was signed
    signature      BLOB NOT NULL CHECK (length(signature) = 64), -- of the device's key
    created_at     INTEGER NOT NULL                    -- microseconds UTC
) STRICT;

-- How often a person has denied a client of late.
CREATE INDEX relay_approvals_denials ON relay_approvals (subject, client, created_at)
    WHERE decision = 'denied' AND decided_by = 'person';
