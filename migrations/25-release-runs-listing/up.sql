-- The operator's list of release runs, newest first: all of an installation, and those of one status.
CREATE INDEX release_runs_of_installation ON release_runs (forge_installation_id, id);
CREATE INDEX release_runs_of_status ON release_runs (forge_installation_id, status, id);
