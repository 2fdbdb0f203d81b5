-- Read by a poll that finds nothing due: whether the latest lookup of an unfinished item was not answered.
CREATE INDEX reconciliation_items_outcome ON reconciliation_items (kind, outcome_code, status) WHERE status IN ('open', 'leased');
