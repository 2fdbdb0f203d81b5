-- The operator's list is answered from this index alone; one item has at most one open dead letter.
CREATE INDEX dead_letters_open ON dead_letters
    (installation_id, failed_at DESC, item_type, item_id, repository, reason_code, error_class, attempt_count, replay_class, resolution)
    WHERE resolution IS NULL;
CREATE UNIQUE INDEX dead_letters_open_item ON dead_letters (item_type, item_id) WHERE resolution IS NULL;
