-- The same call twice is one card. It is taken back when the client of its last call has gone.
ALTER TABLE relay_proposals ADD COLUMN calls INTEGER NOT NULL DEFAULT 1 CHECK (calls >= 0); -- whose clients have not gone, or may ask for it later

-- Processes that have accepted sockets. One whose beat rises no more has ended, and its sockets with it.
CREATE TABLE relay_processes (
    process_id TEXT PRIMARY KEY,                       -- UUIDv7
    beat       INTEGER NOT NULL                        -- rises every few seconds while it holds sockets
) STRICT, WITHOUT ROWID;

-- The process that accepted the socket of a session last.
ALTER TABLE relay_sessions ADD COLUMN process_id TEXT; -- NULL where a process of an earlier step did
