-- The forge's installations of our app: whose work we may do.
CREATE TABLE installations (
    installation_id  INTEGER PRIMARY KEY CHECK (installation_id > 0),  -- the forge's own number
    account          TEXT,                                             -- login of the owner, null until a webhook names it
    state            TEXT NOT NULL CHECK (state IN ('active', 'suspended', 'deleted')),
    updated_at       INTEGER NOT NULL                                  -- microseconds UTC
) STRICT;
