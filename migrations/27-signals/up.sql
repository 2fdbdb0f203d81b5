-- What the signals read: the earliest deadline of a repair.
CREATE INDEX reconciliation_items_deadline ON reconciliation_items (deadline_at) WHERE status IN ('open', 'leased');
