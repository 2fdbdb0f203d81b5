-- When each worker last looked, and last succeeded. Survives a restart.
CREATE TABLE worker_ticks (
    worker             TEXT PRIMARY KEY,
    last_poll_at       INTEGER NOT NULL,               -- microseconds UTC
    last_success_at    INTEGER                         -- microseconds UTC; null until the first
) STRICT, WITHOUT ROWID;
