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
