-- The operator's lists by tag, by time, and of what has not ended. By time the order is that of the clock, so that one that
-- was set back hides nothing.
CREATE INDEX audit_events_of_time ON audit_events (installation_id, created_at, id);
CREATE INDEX release_runs_of_tag ON release_runs (forge_installation_id, git_ref, id);
CREATE INDEX release_runs_of_time ON release_runs (forge_installation_id, created_at, id);
CREATE INDEX release_runs_unfinished ON release_runs (forge_installation_id, id) WHERE finished_at IS NULL;
