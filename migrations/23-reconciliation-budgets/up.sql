-- How often the forge was looked at for one installation within a minute, so that a thousand stuck
-- attempts of one do not use up its rate limit.
CREATE TABLE reconciliation_budgets (
    installation_id  INTEGER PRIMARY KEY,
    window_ends_at   INTEGER NOT NULL,                 -- microseconds UTC
    look_count       INTEGER NOT NULL                  -- within the window
) STRICT;
