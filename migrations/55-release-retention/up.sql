-- What the sweeper reads of release runs: finished ones, oldest first.
CREATE INDEX release_runs_finished ON release_runs (finished_at, id) WHERE finished_at IS NOT NULL;
-- Deliveries that wait for an operator: the release runs of their repository are kept.
CREATE INDEX webhook_inbox_dead ON webhook_inbox (repository_id) WHERE state = 'dead_letter';
-- When an attempt is deleted, SQLite looks for rows that refer to it: let it look here.
CREATE INDEX outbox_of_attempt ON outbox (attempt_id);
CREATE INDEX release_run_results_of_attempt ON release_run_results (attempt_id);
CREATE INDEX result_callbacks_of_attempt ON result_callbacks (attempt_id);
