-- Marks the file as ours ('svc' and a one), so that another program's database is never touched.
PRAGMA application_id = 0x73766331;

-- Who may use this file. Read again inside every write transaction, so that a rolling upgrade can
-- shut an older writer out without stopping it first.
CREATE TABLE schema_compatibility (
    id                   INTEGER PRIMARY KEY CHECK (id = 1),  -- one row for ever
    oldest_reader_step   INTEGER NOT NULL,                    -- a binary whose newest step is lower must not open the file
    oldest_writer_step   INTEGER NOT NULL                     -- a binary whose newest step is lower must not write to it
) STRICT;
INSERT INTO schema_compatibility VALUES (1, 20, 20);
