-- The age of the oldest webhook that is not processed, whether it has a job or lost it.
CREATE INDEX webhook_inbox_unprocessed ON webhook_inbox (received_at, state) WHERE state IN ('accepted', 'processing');
