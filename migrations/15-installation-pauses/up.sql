-- The forge asked this installation to wait; every process honours it, the others go on.
CREATE TABLE installation_pauses (
    installation_id  INTEGER PRIMARY KEY,
    paused_until     INTEGER NOT NULL,                 -- microseconds UTC
    updated_at       INTEGER NOT NULL                  -- microseconds UTC
) STRICT;
