-- The schema as it stands after the newest step, for readers. It is generated and never run; what is run
-- is `migrations/*/up.sql`. `UPDATE=1 cargo test --test it generated` writes it anew.

-- Agent cards that were registered, by name. They belong to the service, not to an installation.
CREATE TABLE agent_cards (
    id               INTEGER PRIMARY KEY,
    name             TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
    digest           TEXT NOT NULL CHECK (length(digest) = 64), -- SHA-256 of the bytes, in hexadecimal
    variant          TEXT NOT NULL,                    -- 'current' or 'legacy'
    protocol_version TEXT NOT NULL,                    -- as the card names it
    revision         INTEGER NOT NULL CHECK (revision >= 1), -- one more with every change
    created_at       INTEGER NOT NULL,                 -- microseconds UTC
    updated_at       INTEGER NOT NULL,                 -- microseconds UTC, of the last change
    updated_by       TEXT NOT NULL,                    -- configured actor of the last change
    card             BLOB NOT NULL CHECK (length(card) BETWEEN 1 AND 1048576) -- exactly as it was sent; last, so that lists do not read it
) STRICT;

-- What was decided by a person, or on everybody's behalf. Never swept, never changed.
CREATE TABLE audit_events (
    id               INTEGER PRIMARY KEY,
    audit_event_id   TEXT NOT NULL UNIQUE,             -- UUIDv7
    installation_id  INTEGER NOT NULL,
    event            TEXT NOT NULL,                    -- control_plane.…
    actor            TEXT NOT NULL,                    -- configured actor, or 'svcd'
    operation_id     TEXT,                             -- the caller's Idempotency-Key
    item_type        TEXT NOT NULL,
    item_id          TEXT NOT NULL,
    reason_code      TEXT,                             -- stable code
    created_at       INTEGER NOT NULL, -- microseconds UTC
    -- Why an operator did it.
    reason TEXT  -- the operator's own words; NULL where none are asked for
) STRICT;
CREATE TRIGGER audit_events_are_not_changed BEFORE UPDATE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
CREATE TRIGGER audit_events_are_not_deleted BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
CREATE INDEX audit_events_of_installation ON audit_events (installation_id, id);
-- All that was done to one item.
CREATE INDEX audit_events_of_item ON audit_events (installation_id, item_type, item_id, id);
-- The operator's lists by tag, by time, and of what has not ended. By time the order is that of the clock, so that one that
-- was set back hides nothing.
CREATE INDEX audit_events_of_time ON audit_events (installation_id, created_at, id);

-- Which installation each queue served last: claims go round those that have something due.
CREATE TABLE claim_turns (
    queue            TEXT PRIMARY KEY,                 -- jobs, outbox, or the kind of a reconciliation item
    installation_id  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Lifecycle jobs: what a webhook asks of us. Its status is authoritative for its inbox row.
CREATE TABLE control_plane_jobs (
    id                INTEGER PRIMARY KEY,
    job_id            TEXT NOT NULL UNIQUE,        -- UUIDv7, shown to operators
    idempotency_key   TEXT NOT NULL,               -- that of the inbox row
    inbox_id          INTEGER NOT NULL UNIQUE REFERENCES webhook_inbox (inbox_id),  -- one job for one delivery
    installation_id   INTEGER NOT NULL,
    repository        TEXT,                        -- owner/name, for the operator's list
    status            TEXT NOT NULL CHECK (status IN ('available', 'leased', 'completed', 'dead_letter')),
    attempt_count     INTEGER NOT NULL DEFAULT 0,  -- counted at the claim, so that a crash counts too
    available_at      INTEGER NOT NULL,            -- microseconds UTC; not claimed earlier
    lease_owner       TEXT,                        -- random per process start
    claim_id          BLOB,                        -- random per claim; every later write names it
    fencing_token     INTEGER NOT NULL DEFAULT 0,  -- rises with every claim
    lease_expires_at  INTEGER,                     -- microseconds UTC
    created_at        INTEGER NOT NULL,            -- microseconds UTC
    updated_at        INTEGER NOT NULL,            -- microseconds UTC
    finished_at       INTEGER,                     -- microseconds UTC; set while completed or dead
    CHECK ((status = 'leased') = (claim_id IS NOT NULL)),
    CHECK ((status = 'leased') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'dead_letter')) = (finished_at IS NOT NULL))
) STRICT;
-- What a claim reads: the next available job, and the first lease to run out. Neither grows with history.
CREATE INDEX control_plane_jobs_available ON control_plane_jobs (available_at, id) WHERE status = 'available';
-- The first that is due of the next installation.
CREATE INDEX control_plane_jobs_available_of_installation ON control_plane_jobs (installation_id, available_at, id) WHERE status = 'available';
-- What the sweeper reads: finished jobs, oldest first.
CREATE INDEX control_plane_jobs_completed ON control_plane_jobs (finished_at, id) WHERE status = 'completed';
CREATE INDEX control_plane_jobs_leased ON control_plane_jobs (lease_expires_at, id) WHERE status = 'leased';

-- One row for each death of a job or an outbox item. Metadata only: nothing here came from a payload
-- but the repository's name. Never swept.
CREATE TABLE dead_letters (
    id               INTEGER PRIMARY KEY,
    installation_id  INTEGER NOT NULL,
    failed_at        INTEGER NOT NULL,                 -- microseconds UTC; rises within an installation
    item_type        TEXT NOT NULL CHECK (item_type IN ('job', 'outbox')),
    item_id          TEXT NOT NULL,                    -- job_id or outbox_id
    repository       TEXT,                             -- owner/name when it died
    reason_code      TEXT NOT NULL,                    -- stable code: why it died
    error_class      TEXT NOT NULL,                    -- stable code: what kind of failure it was
    attempt_count    INTEGER NOT NULL,
    replay_class     TEXT NOT NULL,                    -- stable code: why it may, or may not, be replayed
    replay_safe      INTEGER NOT NULL CHECK (replay_safe IN (0, 1)),  -- follows from replay_class
    resolution       TEXT CHECK (resolution IN ('replayed', 'completed', 'superseded', 'closed')),  -- null while open
    resolved_at      INTEGER,                          -- microseconds UTC
    cause            TEXT,                             -- stable code: why the last call to the forge failed; NULL where none did
    job_action       TEXT,                             -- stable code: what a job does; NULL where it cannot be read
    effect_kind      TEXT,                             -- stable code: what an outbox item does
    release_run_id   TEXT,                             -- of an outbox item
    attempt_id       TEXT,                             -- of an outbox item
    UNIQUE (installation_id, failed_at),
    CHECK ((resolution IS NULL) = (resolved_at IS NULL))
) STRICT;
-- Every death of one item, and the items whose ID begins with a prefix.
CREATE INDEX dead_letters_of_item ON dead_letters (installation_id, item_type, item_id, failed_at);
-- The deaths among the effects of one release run.
CREATE INDEX dead_letters_of_release_run ON dead_letters (release_run_id, failed_at) WHERE release_run_id IS NOT NULL;
-- The operator's list is answered from this index alone; one item has at most one open dead letter.
CREATE INDEX dead_letters_open ON dead_letters
    (installation_id, failed_at DESC, item_type, item_id, repository, reason_code, error_class, cause, attempt_count, replay_class,
        effect_kind, release_run_id, resolution)
    WHERE resolution IS NULL;
-- What the signals read: the oldest open dead letter, and how many reconciliations were given up.
CREATE INDEX dead_letters_open_age ON dead_letters (failed_at) WHERE resolution IS NULL;
CREATE UNIQUE INDEX dead_letters_open_item ON dead_letters (item_type, item_id) WHERE resolution IS NULL;

-- How far an installation's writes at the forge have used up its pace; all replicas share it.
CREATE TABLE forge_write_paces (
    installation_id  INTEGER PRIMARY KEY,
    booked_until     INTEGER NOT NULL                  -- microseconds UTC: each write books one interval
) STRICT;

-- The forge asked this installation to wait; every process honours it, the others go on.
CREATE TABLE installation_pauses (
    installation_id  INTEGER PRIMARY KEY,
    paused_until     INTEGER NOT NULL,                 -- microseconds UTC
    updated_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT;

-- The forge's installations of our app: whose work we may do.
CREATE TABLE installations (
    installation_id  INTEGER PRIMARY KEY CHECK (installation_id > 0),  -- the forge's own number
    account          TEXT,                                             -- login of the owner, null until a webhook names it
    state            TEXT NOT NULL CHECK (state IN ('active', 'suspended', 'deleted')),
    updated_at       INTEGER NOT NULL                                  -- microseconds UTC
) STRICT;

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

-- Idempotency keys of operators: unique in the whole store, kept as long as the audit event.
CREATE TABLE operator_operations (
    operation_id     TEXT PRIMARY KEY,                 -- the caller's Idempotency-Key
    installation_id  INTEGER NOT NULL,
    item_type        TEXT NOT NULL CHECK (item_type IN ('job', 'outbox', 'reconciliation_item')),
    item_id          TEXT NOT NULL,
    audit_event_id   TEXT NOT NULL REFERENCES audit_events (audit_event_id),
    created_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT, WITHOUT ROWID;
CREATE TRIGGER operator_operations_are_not_changed BEFORE UPDATE ON operator_operations BEGIN SELECT RAISE(ABORT, 'operations are final'); END;
CREATE TRIGGER operator_operations_are_not_deleted BEFORE DELETE ON operator_operations BEGIN SELECT RAISE(ABORT, 'operations are final'); END;

-- Side effects at the forge, each stored with its key before it is sent.
CREATE TABLE outbox (
    id                INTEGER PRIMARY KEY,             -- also the order within an attempt
    outbox_id         TEXT NOT NULL UNIQUE,            -- UUIDv7, shown to operators
    effect_key        TEXT NOT NULL UNIQUE,            -- <effect>:<attempt_id>; one row for one effect
    installation_id   INTEGER NOT NULL,
    repository_id     INTEGER NOT NULL,
    release_run_id    TEXT NOT NULL REFERENCES release_runs (release_run_id),
    attempt_id        TEXT NOT NULL REFERENCES release_run_attempts (attempt_id),
    kind              TEXT NOT NULL CHECK (kind IN ('workflow_dispatch', 'check_run_create', 'check_run_update')),
    payload           TEXT NOT NULL,                   -- what to send; never shown, empty once nothing will be sent
    status            TEXT NOT NULL CHECK (status IN
        ('held', 'available', 'leased', 'completed', 'dead_letter', 'superseded')),  -- held: an earlier effect of the attempt is unfinished
    attempt_count     INTEGER NOT NULL DEFAULT 0,      -- counted at the claim, so that a crash counts too
    available_at      INTEGER NOT NULL,                -- microseconds UTC; not claimed earlier
    send_began_at     INTEGER,                         -- microseconds UTC; set before the first byte leaves, cleared by a definite answer
    lease_owner       TEXT,                            -- random per process start
    claim_id          BLOB,                            -- random per claim; every later write names it
    fencing_token     INTEGER NOT NULL DEFAULT 0,      -- rises with every claim
    lease_expires_at  INTEGER,                         -- microseconds UTC
    created_at        INTEGER NOT NULL,                -- microseconds UTC
    updated_at        INTEGER NOT NULL,                -- microseconds UTC
    finished_at       INTEGER,                         -- microseconds UTC
    -- Returns of an item whose refusal may have come from the lag of a fresh token; they are no tries.
    lag_count INTEGER NOT NULL DEFAULT 0,
    -- When an operator closed the dead letter of an effect, without which its release does not go on: the release ends
    -- a deadline later. NULL before, and once that was applied.
    closed_at INTEGER,  -- microseconds UTC
    CHECK ((status = 'leased') = (claim_id IS NOT NULL)),
    CHECK ((status = 'leased') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'dead_letter', 'superseded')) = (finished_at IS NOT NULL))
) STRICT;
-- What a claim reads, and what keeps the order of one attempt; effects of earlier attempts are superseded.
CREATE INDEX outbox_available ON outbox (available_at, id) WHERE status = 'available';
CREATE INDEX outbox_available_of_installation ON outbox (installation_id, available_at, id) WHERE status = 'available';
CREATE INDEX outbox_closed ON outbox (closed_at, id) WHERE closed_at IS NOT NULL;
-- What the sweeper reads: what was closed, oldest first.
CREATE INDEX outbox_closed_finished ON outbox (updated_at, id) WHERE status = 'dead_letter' AND payload = '' AND closed_at IS NULL;
CREATE INDEX outbox_finished ON outbox (finished_at, id) WHERE status IN ('completed', 'superseded');
CREATE INDEX outbox_in_doubt ON outbox (finished_at, id)
    WHERE status = 'dead_letter' AND send_began_at IS NOT NULL;
CREATE INDEX outbox_leased ON outbox (lease_expires_at, id) WHERE status = 'leased';
-- When an attempt is deleted, SQLite looks for rows that refer to it: let it look here.
CREATE INDEX outbox_of_attempt ON outbox (attempt_id);
-- A trigger on insert makes SQLite look for children of the new row: let it look here.
CREATE INDEX outbox_of_release_run ON outbox (release_run_id);
CREATE INDEX outbox_unfinished ON outbox (attempt_id, id) WHERE status IN ('held', 'available', 'leased', 'dead_letter');

-- How often the forge was looked at for one installation within a minute, so that a thousand stuck
-- attempts of one do not use up its rate limit.
CREATE TABLE reconciliation_budgets (
    installation_id  INTEGER PRIMARY KEY,
    window_ends_at   INTEGER NOT NULL,                 -- microseconds UTC
    look_count       INTEGER NOT NULL                  -- within the window
) STRICT;

-- What is being repaired, until when. One open item for one subject and reason.
CREATE TABLE reconciliation_items (
    id                 INTEGER PRIMARY KEY,
    reconciliation_id  TEXT NOT NULL UNIQUE,           -- UUIDv7, safe to log
    kind               TEXT NOT NULL CHECK (kind IN ('workflow_attempt', 'release_run', 'webhook_inbox')),
    reason             TEXT NOT NULL,                  -- stable code, for instance reporting_stale
    subject_id         TEXT NOT NULL,                  -- attempt_id, release_run_id or inbox_id
    installation_id    INTEGER NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('open', 'leased', 'completed', 'dead_letter')),
    outcome_code       TEXT,                           -- stable code of the last or final observation
    attempt_count      INTEGER NOT NULL DEFAULT 0,     -- counted at the claim
    next_check_at      INTEGER NOT NULL,               -- microseconds UTC
    deadline_at        INTEGER NOT NULL,               -- microseconds UTC
    lease_owner        TEXT,                           -- random per process start
    claim_id           BLOB,                           -- random per claim
    fencing_token      INTEGER NOT NULL DEFAULT 0,     -- rises with every claim
    lease_expires_at   INTEGER,                        -- microseconds UTC
    created_at         INTEGER NOT NULL,               -- microseconds UTC
    updated_at         INTEGER NOT NULL,               -- microseconds UTC
    finished_at        INTEGER,                        -- microseconds UTC
    -- Holders of the item that vanished; an item nobody survives is given up.
    vanished_count INTEGER NOT NULL DEFAULT 0,
    -- The attempt the item is about; null for an inbox row, and for items of older writers.
    attempt_id TEXT,
    -- Returns of an item whose refusal may have come from the lag of a fresh token; they are no tries.
    lag_count INTEGER NOT NULL DEFAULT 0,
    -- Digest of what the check run showed when the forge definitely refused to set it: it is set again only
    -- once it shows something else.
    refused_state BLOB,
    -- When the deadline of an item that was given up was applied to its subject; null until then.
    deadline_applied_at INTEGER,  -- microseconds UTC
    -- When an operator acknowledged an item that was given up; null until then.
    closed_at INTEGER,  -- microseconds UTC
    CHECK ((status = 'leased') = (claim_id IS NOT NULL)),
    CHECK ((status = 'leased') = (lease_expires_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'dead_letter')) = (finished_at IS NOT NULL))
) STRICT;
-- How many those are, and the oldest one.
CREATE INDEX reconciliation_items_dead ON reconciliation_items (finished_at) WHERE status = 'dead_letter' AND closed_at IS NULL;
-- What the signals read: the earliest deadline of a repair.
CREATE INDEX reconciliation_items_deadline ON reconciliation_items (deadline_at) WHERE status IN ('open', 'leased');
CREATE INDEX reconciliation_items_finished ON reconciliation_items (finished_at, id) WHERE status = 'completed';
CREATE INDEX reconciliation_items_given_up ON reconciliation_items (kind, deadline_at)
    WHERE status = 'dead_letter' AND deadline_applied_at IS NULL;
CREATE INDEX reconciliation_items_leased ON reconciliation_items (lease_expires_at, id) WHERE status = 'leased';
-- The operator's list of reconciliation items, newest first. An item stands in one of the two: while it is
-- looked at, and once it has ended.
CREATE INDEX reconciliation_items_listed ON reconciliation_items (installation_id, id) WHERE status IN ('open', 'leased');
CREATE INDEX reconciliation_items_listed_finished ON reconciliation_items (installation_id, status, id) WHERE status IN ('completed', 'dead_letter');
CREATE INDEX reconciliation_items_not_closed ON reconciliation_items (installation_id, reconciliation_id)
    WHERE status = 'dead_letter' AND closed_at IS NULL;
CREATE INDEX reconciliation_items_of_subject ON reconciliation_items (subject_id, reason, created_at);
CREATE INDEX reconciliation_items_open ON reconciliation_items (kind, next_check_at, id) WHERE status = 'open';
CREATE INDEX reconciliation_items_open_of_installation ON reconciliation_items (kind, installation_id, next_check_at, id) WHERE status = 'open';
-- Read by a poll that finds nothing due: whether the latest lookup of an unfinished item was not answered.
CREATE INDEX reconciliation_items_outcome ON reconciliation_items (kind, outcome_code, status) WHERE status IN ('open', 'leased');
CREATE UNIQUE INDEX reconciliation_items_subject ON reconciliation_items (kind, reason, subject_id) WHERE status IN ('open', 'leased');

-- A person's leave to read a session for a while, given in the plugin. Each read has an approval and a grant all the same.
CREATE TABLE relay_allowances (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE REFERENCES relay_sessions (session_id) ON DELETE CASCADE,
    page       TEXT NOT NULL,                          -- UUID of the page in which it was given: no other page shows it
    expires_at INTEGER NOT NULL,                       -- microseconds UTC
    signature  BLOB NOT NULL CHECK (length(signature) = 64), -- of the device's key
    created_at INTEGER NOT NULL, -- microseconds UTC
    ended_at INTEGER  -- when it was audited that it has run out; microseconds UTC
) STRICT;
-- What has run out, and what a clock that was ahead has given for too long.
CREATE INDEX relay_allowances_lasting ON relay_allowances (expires_at) WHERE ended_at IS NULL;

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
    hash             BLOB NOT NULL CHECK (length(hash) = 32),
    public_key BLOB CHECK (length(public_key) = 65),  -- of a device that was paired: P-256, uncompressed point
    pairing_id TEXT,  -- that the person confirmed
    minutes INTEGER,  -- for which an allowance was given; 0 ended it
    nonce TEXT CHECK (length(nonce) = 22),  -- of the socket on which the person confirmed, or gave or ended an allowance
    card_sha256 BLOB CHECK (length(card_sha256) % 32 = 0)  -- arguments_sha256 of every step on the card, in order
) STRICT;
CREATE TRIGGER relay_audit_events_are_not_changed BEFORE UPDATE ON relay_audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
CREATE TRIGGER relay_audit_events_are_not_deleted BEFORE DELETE ON relay_audit_events BEGIN SELECT RAISE(ABORT, 'audit events are final'); END;
-- The key of a device, as it was paired.
CREATE INDEX relay_audit_events_paired ON relay_audit_events (device_id, seq) WHERE public_key IS NOT NULL;

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
-- What was not heard of in time.
CREATE INDEX relay_grants_deadline ON relay_grants (deadline_at) WHERE state = 'claimed';
CREATE INDEX relay_grants_due_of_lane ON relay_grants (lane, session_id)
    WHERE state = 'unused' AND expires_at IS NOT NULL;
-- Whose turn has come, by session and by lane, and whose time is over.
CREATE INDEX relay_grants_due_of_session ON relay_grants (session_id, id)
    WHERE state = 'unused' AND expires_at IS NOT NULL;
CREATE INDEX relay_grants_expiry ON relay_grants (expires_at) WHERE state = 'unused' AND expires_at IS NOT NULL;
CREATE UNIQUE INDEX relay_one_in_flight_per_lane ON relay_grants (lane) WHERE state = 'claimed';
CREATE UNIQUE INDEX relay_one_in_flight_per_session ON relay_grants (session_id) WHERE state = 'claimed';

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

-- The key with which the relay proves itself to plugins. All processes at this file share it, and plugins remember it:
-- a plugin that has seen another one under this address connects no more.
CREATE TABLE relay_keys (
    id           INTEGER PRIMARY KEY CHECK (id = 1),   -- one row for ever
    private_key  BLOB NOT NULL CHECK (length(private_key) BETWEEN 1 AND 1024), -- P-256, PKCS #8; a secret
    created_at   INTEGER NOT NULL                      -- microseconds UTC
) STRICT;

-- Codes that plugins show, until a person has typed one elsewhere and confirmed it in the plugin; and, without a code,
-- the question whether a known device may work on another file.
CREATE TABLE relay_pairings (
    id            INTEGER PRIMARY KEY,
    pairing_id    TEXT NOT NULL UNIQUE,                 -- UUIDv7
    code_sha256   BLOB CHECK (length(code_sha256) = 32), -- of the code; NULL where there was none
    public_key    BLOB NOT NULL CHECK (length(public_key) = 65), -- that has proved itself: P-256, uncompressed point
    tool          TEXT NOT NULL CHECK (tool IN ('penpot', 'figma', 'test')),
    session_id    TEXT,                                 -- the session that gets another file; NULL where one is to be made
    session_epoch INTEGER,                              -- of the socket that asks for it
    state         TEXT NOT NULL CHECK (state IN ('offered', 'claimed', 'confirmed', 'refused', 'expired')),
    subject       TEXT,                                 -- who typed the code, or whose device it is
    client        TEXT,                                 -- through which client the code was typed; '' where there was none
    expires_at    INTEGER NOT NULL,                     -- of the time that its state has; microseconds UTC
    created_at    INTEGER NOT NULL,                     -- microseconds UTC
    finished_at   INTEGER,                              -- microseconds UTC
    CHECK (state <> 'offered' OR code_sha256 IS NOT NULL AND subject IS NULL),
    CHECK (state NOT IN ('claimed', 'confirmed', 'refused') OR subject IS NOT NULL AND client IS NOT NULL),
    CHECK ((session_id IS NULL) = (session_epoch IS NULL)),
    CHECK ((state IN ('offered', 'claimed')) = (finished_at IS NULL))
) STRICT;
-- What retention deletes.
CREATE INDEX relay_pairings_finished ON relay_pairings (finished_at, id) WHERE finished_at IS NOT NULL;
-- The code that is typed.
CREATE UNIQUE INDEX relay_pairings_offered ON relay_pairings (code_sha256) WHERE state = 'offered';
-- How many are open, and whose time is over.
CREATE INDEX relay_pairings_open ON relay_pairings (expires_at) WHERE finished_at IS NULL;

-- Processes that have accepted sockets. One whose beat rises no more has ended, and its sockets with it.
CREATE TABLE relay_processes (
    process_id TEXT PRIMARY KEY,                       -- UUIDv7
    beat       INTEGER NOT NULL                        -- rises every few seconds while it holds sockets
) STRICT, WITHOUT ROWID;

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
    -- The same call twice is one card. It is taken back when the client of its last call has gone.
    calls INTEGER NOT NULL DEFAULT 1 CHECK (calls >= 0),  -- whose clients have not gone, or may ask for it later
    CHECK (is_waiting = 0 OR finished_at IS NULL)
) STRICT;
-- What retention deletes.
CREATE INDEX relay_proposals_finished ON relay_proposals (finished_at, id) WHERE finished_at IS NOT NULL;
-- A session is deleted after its proposals.
CREATE INDEX relay_proposals_of_session ON relay_proposals (session_id);
-- The same call twice is one card.
CREATE UNIQUE INDEX relay_proposals_same_call ON relay_proposals (subject, client, session_id, digest)
    WHERE finished_at IS NULL;
CREATE INDEX relay_proposals_waiting ON relay_proposals (expires_at) WHERE is_waiting = 1;
-- What waits for a person, by session and by subject, and whose time is over.
CREATE INDEX relay_proposals_waiting_of_session ON relay_proposals (session_id, id) WHERE is_waiting = 1;
CREATE INDEX relay_proposals_waiting_of_subject ON relay_proposals (subject) WHERE is_waiting = 1;

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
    -- The process that accepted the socket of a session last.
    process_id TEXT,  -- NULL where a process of an earlier step did
    CHECK ((state = 'ended') = (ended_at IS NOT NULL))
) STRICT;
-- What retention deletes.
CREATE INDEX relay_sessions_ended ON relay_sessions (ended_at, id) WHERE state = 'ended';
-- What sockets hold: each process looks whether its own still do.
CREATE INDEX relay_sessions_held ON relay_sessions (session_id) WHERE state IN ('connected', 'suspended');
-- The session that a page comes back to, and the sessions of a device that is revoked.
CREATE INDEX relay_sessions_of_device ON relay_sessions (device_id, lane, id) WHERE state <> 'ended';
-- The sessions of a person.
CREATE INDEX relay_sessions_of_subject ON relay_sessions (subject, id) WHERE state <> 'ended';
-- What was not used for long.
CREATE INDEX relay_sessions_unused ON relay_sessions (last_seen_at) WHERE state <> 'ended';

-- One dispatch of a release run's workflow. Only the current attempt may end the release.
CREATE TABLE release_run_attempts (
    id                    INTEGER PRIMARY KEY,
    attempt_id            TEXT NOT NULL UNIQUE,        -- UUIDv7; external_id of its check run
    release_run_id        TEXT NOT NULL REFERENCES release_runs (release_run_id),
    attempt_number        INTEGER NOT NULL CHECK (attempt_number > 0),
    nonce                 TEXT NOT NULL UNIQUE,        -- random; binds a result callback to this attempt
    status                TEXT NOT NULL CHECK (status IN
        ('queued', 'dispatching', 'running', 'reporting', 'succeeded', 'failed', 'timed_out', 'cancelled', 'superseded')),
    workflow_run_id       INTEGER,                     -- the forge's number, once known
    workflow_run_attempt  INTEGER,                     -- the forge's re-run counter this attempt is bound to
    check_run_id          INTEGER,                     -- the forge's number, once known
    failure_reason        TEXT,                        -- stable reason code
    hinted_at             INTEGER,                     -- microseconds UTC; a webhook said to look now
    created_at            INTEGER NOT NULL,            -- microseconds UTC
    updated_at            INTEGER NOT NULL,            -- microseconds UTC
    -- What an attempt's effects were addressed to, kept beyond them: an answer, or a result, about another
    -- workflow or check run is not the attempt's. Null for attempts of older writers.
    workflow TEXT,  -- file name of the dispatched workflow
    -- What an attempt's effects were addressed to, kept beyond them: an answer, or a result, about another
    -- workflow or check run is not the attempt's. Null for attempts of older writers.
    check_run_name TEXT,  -- name the check run was created with
    -- When the first result of an attempt was refused whose credential held: it is audited once.
    result_refused_at INTEGER,  -- microseconds UTC; null while there was none
    -- When the forge showed another check run under the number of this attempt's: it is never written to
    -- again. Null while that did not happen.
    check_run_mismatch_at INTEGER,  -- microseconds UTC
    UNIQUE (release_run_id, attempt_number)
) STRICT;
CREATE UNIQUE INDEX release_run_attempts_check_run ON release_run_attempts (check_run_id) WHERE check_run_id IS NOT NULL;
-- What each reconciler looks for.
CREATE INDEX release_run_attempts_running ON release_run_attempts (updated_at, id)
    WHERE status IN ('running', 'reporting');
CREATE UNIQUE INDEX release_run_attempts_workflow_run ON release_run_attempts (workflow_run_id) WHERE workflow_run_id IS NOT NULL;

-- The accepted result of a release run, and how its publication went.
CREATE TABLE release_run_results (
    release_run_id          TEXT PRIMARY KEY REFERENCES release_runs (release_run_id),
    attempt_id              TEXT NOT NULL REFERENCES release_run_attempts (attempt_id),
    decision                TEXT NOT NULL CHECK (decision IN ('accepted', 'accepted_at_risk', 'rejected')),
    payload_sha256          BLOB NOT NULL,             -- digest of the exact accepted body
    accepted_payload        TEXT NOT NULL,             -- tenant content; never shown, never copied elsewhere
    last_publication_error  TEXT,                      -- stable reason code
    created_at              INTEGER NOT NULL,          -- microseconds UTC
    updated_at              INTEGER NOT NULL           -- microseconds UTC
) STRICT, WITHOUT ROWID;
CREATE INDEX release_run_results_of_attempt ON release_run_results (attempt_id);

-- A release of one commit under one tag. Unique by what is released, so that a webhook replayed
-- under a new delivery id starts nothing.
CREATE TABLE release_runs (
    id                        INTEGER PRIMARY KEY,
    release_run_id            TEXT NOT NULL UNIQUE,    -- UUIDv7
    forge_installation_id     INTEGER NOT NULL,
    repository_id             INTEGER NOT NULL,
    git_ref                   TEXT NOT NULL,           -- full ref, refs/tags/...
    head_sha                  TEXT NOT NULL,           -- commit, lower-case hex
    status                    TEXT NOT NULL CHECK (status IN
        ('queued', 'dispatching', 'running', 'reporting', 'succeeded', 'failed', 'timed_out', 'cancelled')),
    decision                  TEXT CHECK (decision IN ('accepted', 'accepted_at_risk', 'rejected')),
    conclusion                TEXT CHECK (conclusion IN ('success', 'neutral', 'failure', 'timed_out', 'cancelled')),
    failure_reason            TEXT,                    -- stable reason code
    current_attempt_id        TEXT NOT NULL UNIQUE,    -- release_run_attempts.attempt_id
    workflow_run_id           INTEGER,                 -- of the current attempt, once known
    check_run_id              INTEGER,                 -- of the current attempt, once known
    forge_check_published_at  INTEGER,                 -- microseconds UTC; the final check run reached the forge
    created_at                INTEGER NOT NULL,        -- microseconds UTC
    updated_at                INTEGER NOT NULL,        -- microseconds UTC
    finished_at               INTEGER,                 -- microseconds UTC; set while terminal
    -- The exact conclusion the forge was first told for the current attempt; `neutral` for one that was
    -- accepted at risk. Once set it is never overwritten while that attempt stands, whoever writes: the
    -- triggers keep it, and derive it, for writers that do not know the column.
    forge_conclusion TEXT
    CHECK (forge_conclusion IN ('success', 'neutral', 'failure', 'timed_out', 'cancelled')),  -- null until the release run has ended
    -- Whose repository it was when the release was asked for: the token of a result must name the same. Null for
    -- releases of older writers.
    repository_owner_id INTEGER,  -- forge's number
    -- Completes step 21: the conclusion first sent to the forge is derived as soon as a decision is set, and is
    -- kept while the attempt is current, before the release ends as well, whichever version writes. The kept value
    -- has its own column, so that restoring it terminates when triggers fire recursively (recursive_triggers).
    forge_conclusion_kept TEXT
    CHECK (forge_conclusion_kept IN ('success', 'neutral', 'failure', 'timed_out', 'cancelled')),  -- first forge_conclusion of the current attempt; written by triggers only; null until one is known
    UNIQUE (forge_installation_id, repository_id, git_ref, head_sha),
    CHECK ((status IN ('succeeded', 'failed', 'timed_out', 'cancelled')) = (finished_at IS NOT NULL))
) STRICT;
-- What the sweeper reads of release runs: finished ones, oldest first.
CREATE INDEX release_runs_finished ON release_runs (finished_at, id) WHERE finished_at IS NOT NULL;
-- A row that is new has nothing kept: an update that changes nothing has it learned.
CREATE TRIGGER release_runs_forge_conclusion_derived AFTER INSERT ON release_runs
WHEN coalesce(NEW.forge_conclusion, NEW.decision, NEW.conclusion) IS NOT NULL
BEGIN
    UPDATE release_runs SET forge_conclusion = forge_conclusion WHERE id = NEW.id;
END;
CREATE TRIGGER release_runs_forge_conclusion_kept AFTER UPDATE ON release_runs
WHEN NEW.current_attempt_id = OLD.current_attempt_id AND NEW.forge_conclusion_kept IS NOT NULL
    AND NEW.forge_conclusion IS NOT NEW.forge_conclusion_kept
BEGIN
    UPDATE release_runs SET forge_conclusion = forge_conclusion_kept WHERE id = NEW.id;
END;
-- The first conclusion that is set, or that follows from a decision.
CREATE TRIGGER release_runs_forge_conclusion_learned AFTER UPDATE ON release_runs
WHEN NEW.current_attempt_id = OLD.current_attempt_id AND NEW.forge_conclusion_kept IS NULL
    AND coalesce(NEW.forge_conclusion, NEW.decision, NEW.conclusion) IS NOT NULL
BEGIN
    UPDATE release_runs SET forge_conclusion_kept = coalesce(NEW.forge_conclusion, CASE NEW.decision
        WHEN 'accepted' THEN 'success' WHEN 'accepted_at_risk' THEN 'neutral' WHEN 'rejected' THEN 'failure'
        ELSE NEW.conclusion END)
    WHERE id = NEW.id;
END;
-- Another attempt publishes anew: only what was written with it counts.
CREATE TRIGGER release_runs_forge_conclusion_of_next_attempt AFTER UPDATE OF current_attempt_id ON release_runs
WHEN NEW.current_attempt_id <> OLD.current_attempt_id
BEGIN
    UPDATE release_runs SET forge_conclusion_kept = NULL,
        forge_conclusion = nullif(NEW.forge_conclusion, OLD.forge_conclusion)
    WHERE id = NEW.id;
END;
-- A release run by the beginning of its ID.
CREATE INDEX release_runs_of_id ON release_runs (forge_installation_id, release_run_id);
-- The operator's list of release runs, newest first: all of an installation, and those of one status.
CREATE INDEX release_runs_of_installation ON release_runs (forge_installation_id, id);
-- The operator's list of the release runs of one repository, newest first, and the repository of a name: the forge
-- takes names for the same whatever their case.
CREATE INDEX release_runs_of_repository ON release_runs (forge_installation_id, repository_id, id);
CREATE INDEX release_runs_of_status ON release_runs (forge_installation_id, status, id);
CREATE INDEX release_runs_of_tag ON release_runs (forge_installation_id, git_ref, id);
CREATE INDEX release_runs_of_time ON release_runs (forge_installation_id, created_at, id);
CREATE INDEX release_runs_unfinished ON release_runs (forge_installation_id, id) WHERE finished_at IS NULL;
CREATE INDEX release_runs_unpublished ON release_runs (finished_at, id)
    WHERE forge_check_published_at IS NULL AND check_run_id IS NOT NULL AND finished_at IS NOT NULL;

-- Repositories by the forge's number; the name is only how to address it today.
CREATE TABLE repositories (
    repository_id    INTEGER PRIMARY KEY CHECK (repository_id > 0),    -- the forge's own number
    installation_id  INTEGER NOT NULL,                                 -- the installation that last named it
    full_name        TEXT NOT NULL,                                    -- owner/name; changes on rename and transfer
    state            TEXT NOT NULL CHECK (state IN ('active', 'deleted')),
    updated_at       INTEGER NOT NULL                                  -- microseconds UTC
) STRICT;
CREATE INDEX repositories_of_name
    ON repositories (installation_id, full_name COLLATE NOCASE, state, repository_id DESC);

-- Token ids of result callbacks that were answered, so that the same one gets the same answer.
CREATE TABLE result_callbacks (
    token_id         TEXT PRIMARY KEY,                 -- jti of the run's identity token
    attempt_id       TEXT NOT NULL REFERENCES release_run_attempts (attempt_id),
    payload_sha256   BLOB NOT NULL,                    -- digest of the exact body
    outcome          TEXT NOT NULL,                    -- the stored answer
    created_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT, WITHOUT ROWID;
CREATE INDEX result_callbacks_of_attempt ON result_callbacks (attempt_id);

-- Who may use this file. Read again inside every write transaction, so that a rolling upgrade can
-- shut an older writer out without stopping it first.
CREATE TABLE schema_compatibility (
    id                   INTEGER PRIMARY KEY CHECK (id = 1),  -- one row for ever
    oldest_reader_step   INTEGER NOT NULL,                    -- a binary whose newest step is lower must not open the file
    oldest_writer_step   INTEGER NOT NULL                     -- a binary whose newest step is lower must not write to it
) STRICT;

-- Which database this is: plans of svcctl name it, so that none is applied to another one. A copy of the file keeps it.
CREATE TABLE store_identity (
    id           INTEGER PRIMARY KEY CHECK (id = 1),   -- one row for ever
    store_id     TEXT NOT NULL                         -- random UUID, version 4
) STRICT;

-- Every webhook that was acknowledged. Deliveries are deduplicated by idempotency_key.
CREATE TABLE webhook_inbox (
    inbox_id            INTEGER PRIMARY KEY,
    idempotency_key     TEXT NOT NULL UNIQUE,      -- <provider>:<delivery_id>, the id in lower case
    event               TEXT NOT NULL,             -- event header, or 'unknown'
    installation_id     INTEGER,                   -- null when the payload names none
    repository_id       INTEGER,                   -- null when the payload names none
    repository          TEXT,                      -- owner/name as delivered; null when the payload names none
    body_sha256         BLOB NOT NULL,             -- digest of the raw body: tells a redelivery from a forgery
    normalized_actions  TEXT,                      -- tenant content; cleared when the job completes
    state               TEXT NOT NULL CHECK (state IN ('accepted', 'processing', 'processed', 'dead_letter', 'ignored')),
    redelivery_count    INTEGER NOT NULL DEFAULT 0,  -- same id, same body
    conflict_count      INTEGER NOT NULL DEFAULT 0,  -- same id, another body: the first was kept
    received_at         INTEGER NOT NULL,          -- microseconds UTC
    updated_at          INTEGER NOT NULL           -- microseconds UTC
) STRICT;
CREATE INDEX webhook_inbox_closed ON webhook_inbox (updated_at, inbox_id) WHERE state = 'dead_letter' AND normalized_actions IS NULL;
CREATE INDEX webhook_inbox_dead ON webhook_inbox (repository_id) WHERE state = 'dead_letter' AND normalized_actions IS NOT NULL;
-- What the sweeper reads: finished rows, oldest first.
CREATE INDEX webhook_inbox_finished ON webhook_inbox (updated_at, inbox_id) WHERE state IN ('processed', 'ignored');
-- The age of the oldest webhook that is not processed, whether it has a job or lost it.
CREATE INDEX webhook_inbox_unprocessed ON webhook_inbox (received_at, state) WHERE state IN ('accepted', 'processing');

-- How often the forge was asked to send a delivery again that did not arrive. Counted before each
-- request leaves, so that a crash forgets none; kept until the forge can send it no more.
CREATE TABLE webhook_redeliveries (
    idempotency_key    TEXT PRIMARY KEY,               -- <provider>:<delivery_id>, as in webhook_inbox
    request_count      INTEGER NOT NULL,
    requested_at       INTEGER NOT NULL                -- of the last request; microseconds UTC
) STRICT, WITHOUT ROWID;
-- What the verb that counts a request deletes.
CREATE INDEX webhook_redeliveries_old ON webhook_redeliveries (requested_at);

-- When each worker last looked, and last succeeded. Survives a restart.
CREATE TABLE worker_ticks (
    worker             TEXT PRIMARY KEY,
    last_poll_at       INTEGER NOT NULL,               -- microseconds UTC
    last_success_at    INTEGER                         -- microseconds UTC; null until the first
) STRICT, WITHOUT ROWID;
