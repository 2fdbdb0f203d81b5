-- How often the forge was asked to send a delivery again that did not arrive. Counted before each
-- request leaves, so that a crash forgets none; kept until the forge can send it no more.
CREATE TABLE webhook_redeliveries (
    idempotency_key    TEXT PRIMARY KEY,               -- <provider>:<delivery_id>, as in webhook_inbox
    request_count      INTEGER NOT NULL,
    requested_at       INTEGER NOT NULL                -- of the last request; microseconds UTC
) STRICT, WITHOUT ROWID;

-- What the verb that counts a request deletes.
CREATE INDEX webhook_redeliveries_old ON webhook_redeliveries (requested_at);
