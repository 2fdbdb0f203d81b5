-- When the first result of an attempt was refused whose credential held: it is audited once.
ALTER TABLE release_run_attempts ADD COLUMN result_refused_at INTEGER;   -- microseconds UTC; null while there was none
