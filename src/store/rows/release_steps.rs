//! The steps of a release run, as far as they are kept: effects are deleted before their release run is.

use crate::api::{ReleaseRun, ReleaseStep};
use crate::domain::outbox::EffectKind;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::value::Value;
use crate::store::sql::{Db, Row, params};

/// Most steps of one sort that are read; of deaths, the newest.
const STEPS_MAX: u32 = 200;

/// Attempts, with when each was started.
const ATTEMPTS: &str = "SELECT created_at AS at, 'attempt_started' AS step, attempt_number, \
        NULL AS code, NULL AS outbox_id, NULL AS reconciliation_id \
    FROM release_run_attempts WHERE release_run_id = :release LIMIT +:limit";
const EFFECTS: &str = "SELECT o.finished_at AS at, o.kind AS step, a.attempt_number, NULL AS code, \
        o.outbox_id, NULL AS reconciliation_id \
    FROM outbox o JOIN release_run_attempts a ON a.attempt_id = o.attempt_id \
    WHERE o.release_run_id = :release AND o.status = 'completed' LIMIT +:limit";
const DEATHS: &str = "SELECT d.failed_at AS at, 'died' AS step, a.attempt_number, \
        d.reason_code AS code, d.item_id AS outbox_id, NULL AS reconciliation_id \
    FROM dead_letters d LEFT JOIN release_run_attempts a ON a.attempt_id = d.attempt_id \
    WHERE d.release_run_id = :release ORDER BY d.failed_at DESC LIMIT +:limit";
const ENDS_OF_DEATHS: &str = "SELECT d.resolved_at AS at, d.resolution AS step, a.attempt_number, \
        NULL AS code, d.item_id AS outbox_id, NULL AS reconciliation_id \
    FROM dead_letters d LEFT JOIN release_run_attempts a ON a.attempt_id = d.attempt_id \
    WHERE d.release_run_id = :release AND d.resolution IS NOT NULL \
    ORDER BY d.failed_at DESC LIMIT +:limit";
const RESULTS: &str = "SELECT s.created_at AS at, 'result_recorded' AS step, a.attempt_number, \
        s.decision AS code, NULL AS outbox_id, NULL AS reconciliation_id \
    FROM release_run_results s JOIN release_run_attempts a ON a.attempt_id = s.attempt_id \
    WHERE s.release_run_id = :release LIMIT +:limit";
const ITEMS_OF_ATTEMPTS: &str = "SELECT i.created_at AS at, 'reconciliation_opened' AS step, \
        a.attempt_number, i.reason AS code, NULL AS outbox_id, i.reconciliation_id \
    FROM release_run_attempts a JOIN reconciliation_items i ON i.subject_id = a.attempt_id \
    WHERE a.release_run_id = :release LIMIT +:limit";
const ENDED_ITEMS_OF_ATTEMPTS: &str = "SELECT i.finished_at AS at, 'reconciliation_ended' AS step, \
        a.attempt_number, i.outcome_code AS code, NULL AS outbox_id, i.reconciliation_id \
    FROM release_run_attempts a JOIN reconciliation_items i ON i.subject_id = a.attempt_id \
    WHERE a.release_run_id = :release AND i.finished_at IS NOT NULL LIMIT +:limit";
const ITEMS: &str = "SELECT i.created_at AS at, 'reconciliation_opened' AS step, \
        a.attempt_number, i.reason AS code, NULL AS outbox_id, i.reconciliation_id \
    FROM reconciliation_items i LEFT JOIN release_run_attempts a ON a.attempt_id = i.attempt_id \
    WHERE i.subject_id = :release LIMIT +:limit";
const ENDED_ITEMS: &str = "SELECT i.finished_at AS at, 'reconciliation_ended' AS step, \
        a.attempt_number, i.outcome_code AS code, NULL AS outbox_id, i.reconciliation_id \
    FROM reconciliation_items i LEFT JOIN release_run_attempts a ON a.attempt_id = i.attempt_id \
    WHERE i.subject_id = :release AND i.finished_at IS NOT NULL LIMIT +:limit";

/// Returns the steps of a release run, oldest first.
pub(in crate::store) fn read(db: &Db<'_>, release: &ReleaseRun) -> Result<Vec<ReleaseStep>, Error> {
    let mut steps = vec![of_release("created", release.created_at)];
    for sql in [
        ATTEMPTS,
        EFFECTS,
        DEATHS,
        ENDS_OF_DEATHS,
        RESULTS,
        ITEMS_OF_ATTEMPTS,
        ENDED_ITEMS_OF_ATTEMPTS,
        ITEMS,
        ENDED_ITEMS,
    ] {
        let params: &[(&'static str, Value<'_>)] =
            params! { ":release": release.release_run_id, ":limit": STEPS_MAX };
        steps.extend(db.query(sql, params, step)?);
    }
    steps.extend(release.finished_at.map(|at| of_release("ended", at)));
    steps.extend(release.forge_check_published_at.map(|at| of_release("published", at)));
    // Steps of one instant stay in the order in which one leads to the other.
    steps.sort_by_key(|step| step.at);
    Ok(steps)
}

fn of_release(step: &'static str, at: Timestamp) -> ReleaseStep {
    ReleaseStep {
        at,
        step: step.into(),
        attempt_number: None,
        code: None,
        outbox_id: None,
        reconciliation_id: None,
    }
}

fn step(row: &Row<'_>) -> Result<ReleaseStep, Error> {
    let step: String = row.get("step")?;
    Ok(ReleaseStep {
        at: row.get("at")?,
        step: EffectKind::from_word(&step).map_or_else(|| step.into(), |kind| done(kind).into()),
        attempt_number: row.get("attempt_number")?,
        code: row.get("code")?,
        outbox_id: row.get("outbox_id")?,
        reconciliation_id: row.get("reconciliation_id")?,
    })
}

/// Returns the step that a completed effect is.
const fn done(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::CheckRunCreate => "check_run_created",
        EffectKind::WorkflowDispatch => "workflow_dispatched",
        EffectKind::CheckRunUpdate => "check_run_updated",
    }
}
