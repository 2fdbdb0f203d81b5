-- Completes step 21: the conclusion first sent to the forge is derived as soon as a decision is set, and is
-- kept while the attempt is current, before the release ends as well, whichever version writes. The kept value
-- has its own column, so that restoring it terminates when triggers fire recursively (recursive_triggers).
ALTER TABLE release_runs ADD COLUMN forge_conclusion_kept TEXT
    CHECK (forge_conclusion_kept IN ('success', 'neutral', 'failure', 'timed_out', 'cancelled'));  -- first forge_conclusion of the current attempt; written by triggers only; null until one is known

DROP TRIGGER release_runs_forge_conclusion_derived;
DROP TRIGGER release_runs_forge_conclusion_kept;
DROP TRIGGER release_runs_forge_conclusion_of_next_attempt;

-- The first conclusion that is set, or that follows from a decision.
CREATE TRIGGER release_runs_forge_conclusion_learned AFTER UPDATE ON release_runs
WHEN NEW.current_attempt_id = OLD.current_attempt_id AND NEW.forge_conclusion_kept IS NULL
    AND coalesce(NEW.forge_conclusion, NEW.decision, NEW.conclusion) IS NOT NULL
BEGIN
    UPDATE release_runs SET forge_conclusion_kept = coalesce(NEW.forge_conclusion, CASE NEW.decision
        WHEN 'accepted' THEN 'success' WHEN 'accepted_at_risk' THEN 'neutral' WHEN 'rejected' THEN 'failure'
        ELSE NEW.conclusion END)
    WHERE id = NEW.id;
END;

CREATE TRIGGER release_runs_forge_conclusion_kept AFTER UPDATE ON release_runs
WHEN NEW.current_attempt_id = OLD.current_attempt_id AND NEW.forge_conclusion_kept IS NOT NULL
    AND NEW.forge_conclusion IS NOT NEW.forge_conclusion_kept
BEGIN
    UPDATE release_runs SET forge_conclusion = forge_conclusion_kept WHERE id = NEW.id;
END;

-- A row that is new has nothing kept: an update that changes nothing has it learned.
CREATE TRIGGER release_runs_forge_conclusion_derived AFTER INSERT ON release_runs
WHEN coalesce(NEW.forge_conclusion, NEW.decision, NEW.conclusion) IS NOT NULL
BEGIN
    UPDATE release_runs SET forge_conclusion = forge_conclusion WHERE id = NEW.id;
END;

-- Another attempt publishes anew: only what was written with it counts.
CREATE TRIGGER release_runs_forge_conclusion_of_next_attempt AFTER UPDATE OF current_attempt_id ON release_runs
WHEN NEW.current_attempt_id <> OLD.current_attempt_id
BEGIN
    UPDATE release_runs SET forge_conclusion_kept = NULL,
        forge_conclusion = nullif(NEW.forge_conclusion, OLD.forge_conclusion)
    WHERE id = NEW.id;
END;

UPDATE release_runs SET forge_conclusion = forge_conclusion
WHERE coalesce(forge_conclusion, decision, conclusion) IS NOT NULL;
