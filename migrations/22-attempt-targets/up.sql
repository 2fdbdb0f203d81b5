-- What an attempt's effects were addressed to, kept beyond them: an answer, or a result, about another
-- workflow or check run is not the attempt's. Null for attempts of older writers.
ALTER TABLE release_run_attempts ADD COLUMN workflow TEXT;           -- file name of the dispatched workflow
ALTER TABLE release_run_attempts ADD COLUMN check_run_name TEXT;     -- name the check run was created with
