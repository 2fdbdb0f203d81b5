-- Repositories by the forge's number; the name is only how to address it today.
CREATE TABLE repositories (
    repository_id    INTEGER PRIMARY KEY CHECK (repository_id > 0),    -- the forge's own number
    installation_id  INTEGER NOT NULL,                                 -- the installation that last named it
    full_name        TEXT NOT NULL,                                    -- owner/name; changes on rename and transfer
    state            TEXT NOT NULL CHECK (state IN ('active', 'deleted')),
    updated_at       INTEGER NOT NULL                                  -- microseconds UTC
) STRICT;
CREATE INDEX repositories_of_installation ON repositories (installation_id);
