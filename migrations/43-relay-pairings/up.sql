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

-- The code that is typed.
CREATE UNIQUE INDEX relay_pairings_offered ON relay_pairings (code_sha256) WHERE state = 'offered';
-- How many are open, and whose time is over.
CREATE INDEX relay_pairings_open ON relay_pairings (expires_at) WHERE finished_at IS NULL;
-- What retention deletes.
CREATE INDEX relay_pairings_finished ON relay_pairings (finished_at, id) WHERE finished_at IS NOT NULL;
