-- The exact conclusion the forge was first told for the current attempt; `neutral` for one that was
-- accepted at risk. Once set it is never overwritten while that attempt stands, whoever writes: the
-- triggers keep it, and derive it, for writers that do not know the column.
ALTER TABLE release_runs ADD COLUMN forge_conclusion TEXT
    CHECK (forge_conclusion IN ('success', 'neutral', 'failure', 'timed_out', 'cancelled'));  -- null until the release run has ended

UPDATE release_runs SET forge_conclusion = CASE decision
    WHEN 'accepted' THEN 'success' WHEN 'accepted_at_risk' THEN 'neutral' WHEN 'rejected' THEN 'failure'
    ELSE conclusion END;

CREATE TRIGGER release_runs_forge_conclusion_derived AFTER INSERT ON release_runs
WHEN NEW.forge_conclusion IS NULL AND coalesce(NEW.decision, NEW.conclusion) IS NOT NULL
BEGIN
    UPDATE release_runs SET forge_conclusion = CASE NEW.decision
        WHEN 'accepted' THEN 'success' WHEN 'accepted_at_risk' THEN 'neutral' WHEN 'rejected' THEN 'failure'
        ELSE NEW.conclusion END
    WHERE id = NEW.id;
END;

CREATE TRIGGER release_runs_forge_conclusion_kept AFTER UPDATE ON release_runs
WHEN NEW.current_attempt_id = OLD.current_attempt_id AND NEW.finished_at IS NOT NULL
    AND coalesce(OLD.forge_conclusion, NEW.forge_conclusion, NEW.decision, NEW.conclusion) IS NOT NULL
    AND (NEW.forge_conclusion IS NULL OR NEW.forge_conclusion IS NOT coalesce(OLD.forge_conclusion, NEW.forge_conclusion))
BEGIN
    UPDATE release_runs SET forge_conclusion = coalesce(OLD.forge_conclusion, CASE NEW.decision
        WHEN 'accepted' THEN 'success' WHEN 'accepted_at_risk' THEN 'neutral' WHEN 'rejected' THEN 'failure'
        ELSE NEW.conclusion END)
    WHERE id = NEW.id;
END;

-- Another attempt publishes anew.
CREATE TRIGGER release_runs_forge_conclusion_of_next_attempt AFTER UPDATE OF current_attempt_id ON release_runs
WHEN NEW.current_attempt_id <> OLD.current_attempt_id AND NEW.finished_at IS NULL AND NEW.forge_conclusion IS NOT NULL
BEGIN
    UPDATE release_runs SET forge_conclusion = NULL WHERE id = NEW.id;
END;

-- A trigger on insert makes SQLite look for children of the new row: let it look here.
CREATE INDEX outbox_of_release_run ON outbox (release_run_id);
