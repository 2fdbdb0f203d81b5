-- Which installation each queue served last: claims go round those that have something due.
CREATE TABLE claim_turns (
    queue            TEXT PRIMARY KEY,                 -- jobs, outbox, or the kind of a reconciliation item
    installation_id  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The first that is due of the next installation.
CREATE INDEX control_plane_jobs_available_of_installation ON control_plane_jobs (installation_id, available_at, id) WHERE status = 'available';
CREATE INDEX outbox_available_of_installation ON outbox (installation_id, available_at, id) WHERE status = 'available';
CREATE INDEX reconciliation_items_open_of_installation ON reconciliation_items (kind, installation_id, next_check_at, id) WHERE status = 'open';
