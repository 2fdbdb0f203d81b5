-- Why the last call to the forge failed, beside what kind of failure it was.
ALTER TABLE dead_letters ADD COLUMN cause TEXT;        -- stable code; NULL where no call failed, or an earlier step did not note it

DROP INDEX dead_letters_open;
-- The operator's list is answered from this index alone; one item has at most one open dead letter.
CREATE INDEX dead_letters_open ON dead_letters
    (installation_id, failed_at DESC, item_type, item_id, repository, reason_code, error_class, cause, attempt_count, replay_class, resolution)
    WHERE resolution IS NULL;
