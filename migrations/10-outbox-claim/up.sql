-- What a claim reads, and what keeps the order of one attempt; effects of earlier attempts are superseded.
CREATE INDEX outbox_available ON outbox (available_at, id) WHERE status = 'available';
CREATE INDEX outbox_leased ON outbox (lease_expires_at, id) WHERE status = 'leased';
CREATE INDEX outbox_unfinished ON outbox (attempt_id, id) WHERE status IN ('held', 'available', 'leased', 'dead_letter');
