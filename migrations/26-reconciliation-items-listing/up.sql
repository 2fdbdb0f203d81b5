-- The operator's list of reconciliation items, newest first. An item stands in one of the two: while it is
-- looked at, and once it has ended.
CREATE INDEX reconciliation_items_listed ON reconciliation_items (installation_id, id) WHERE status IN ('open', 'leased');
CREATE INDEX reconciliation_items_listed_finished ON reconciliation_items (installation_id, status, id) WHERE status IN ('completed', 'dead_letter');
