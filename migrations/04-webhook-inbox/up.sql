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
