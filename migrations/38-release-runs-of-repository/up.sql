-- The operator's list of the release runs of one repository, newest first, and the repository of a name: the forge
-- takes names for the same whatever their case.
CREATE INDEX release_runs_of_repository ON release_runs (forge_installation_id, repository_id, id);
CREATE INDEX repositories_of_name
    ON repositories (installation_id, full_name COLLATE NOCASE, state, repository_id DESC);
-- The same, without the name.
DROP INDEX repositories_of_installation;
