-- Whose repository it was when the release was asked for: the token of a result must name the same. Null for
-- releases of older writers.
ALTER TABLE release_runs ADD COLUMN repository_owner_id INTEGER;     -- forge's number
