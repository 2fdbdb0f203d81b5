-- What the sweeper reads: finished rows, oldest first.
CREATE INDEX webhook_inbox_finished ON webhook_inbox (updated_at, inbox_id) WHERE state IN ('processed', 'ignored');
CREATE INDEX control_plane_jobs_completed ON control_plane_jobs (finished_at, id) WHERE status = 'completed';
CREATE INDEX outbox_finished ON outbox (finished_at, id) WHERE status IN ('completed', 'superseded');
