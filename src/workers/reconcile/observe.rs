//! Observing: what an item's subject shows at the forge, without deciding anything.

use std::time::Duration;

use super::Reconcile;
use crate::domain::dead_letter::ErrorClass;
use crate::domain::lease::Claim;
use crate::domain::outbox::{CheckRunStatus, SendResult};
use crate::domain::reconcile::task::{self, ReconcileTask, Subject};
use crate::domain::reconcile::{self, check_run, uncertain, workflow};
use crate::domain::time::Timestamp;
use crate::forge::{
    self, CheckRunLookup, CheckRunUpdate, NewCheckRun, Permission, TokenUse, unavailable,
};
use crate::store;
use crate::workers::gate::Gate;

/// What must be left of the lease when an update leaves: one call with its redirect (30 s), and room.
const CALL_MAX: Duration = Duration::from_secs(90);

/// Looks at the subject of a claim.
///
/// # Errors
/// Nothing was learned: from when on to look again.
pub(super) fn observe(
    worker: &Reconcile,
    claim: &Claim<ReconcileTask>,
) -> Result<store::Observation, Timestamp> {
    let task = &claim.item;
    let permission = match &task.subject {
        Subject::Inbox(_) => return Ok(store::Observation::Inbox),
        Subject::WorkflowRun(_) | Subject::UnknownRun(_) | Subject::Dispatch(_) => {
            Permission::ActionsRead
        }
        // A creation is only looked for, but `Permission` has none that is limited to reading check runs.
        Subject::Creation(_) | Subject::CheckRun(_) => Permission::ChecksWrite,
    };
    // An installation that is not active, or a repository we may not see, cannot be asked about.
    let Some(repository) = &task.repository else {
        return Ok(unseen(&task.subject, unknown(ErrorClass::State)));
    };
    let gate = Gate::new(&worker.store, task.installation, &worker.notify);
    // The specification asks for a token of each candidate's own.
    let opened = worker.forge.open(task.installation, repository, permission, TokenUse::Own, &gate);
    let observation = match opened {
        Ok(mut session) => observe_subject(worker, claim, session.as_mut())?,
        Err(refused) => unseen(&task.subject, unavailable(refused)),
    };
    // Asked after the session: what was seen before the pause is discarded, since a part of it may be missing.
    match gate.stopped() {
        None => Ok(observation),
        Some(SendResult::Deferred(until)) => Err(until),
        Some(_) => Err(Timestamp::MIN),
    }
}

fn observe_subject(
    worker: &Reconcile,
    claim: &Claim<ReconcileTask>,
    session: &mut dyn forge::Session,
) -> Result<store::Observation, Timestamp> {
    Ok(match &claim.item.subject {
        Subject::Inbox(_) => store::Observation::Inbox,
        Subject::WorkflowRun(run) => store::Observation::Workflow(session.workflow_run(run)),
        Subject::UnknownRun(dispatch) | Subject::Dispatch(dispatch) => {
            store::Observation::Uncertain(session.find_workflow_run(dispatch))
        }
        Subject::Creation(creation) => {
            store::Observation::Uncertain(creation_seen(session, creation))
        }
        Subject::CheckRun(run) => {
            store::Observation::CheckRun(check_run_seen(worker, claim, session, run)?)
        }
    })
}

const fn unknown(class: ErrorClass) -> reconcile::Unavailable {
    reconcile::Unavailable { class, wait_until: None }
}

const fn unseen(subject: &Subject, why: reconcile::Unavailable) -> store::Observation {
    match subject {
        Subject::WorkflowRun(_) => store::Observation::Workflow(workflow::Lookup::Unavailable(why)),
        Subject::UnknownRun(_) | Subject::Dispatch(_) | Subject::Creation(_) => {
            store::Observation::Uncertain(uncertain::Observation::Unavailable(why))
        }
        Subject::CheckRun(_) => {
            store::Observation::CheckRun(check_run::Observation::Unavailable(why))
        }
        Subject::Inbox(_) => store::Observation::Inbox,
    }
}

fn creation_seen(
    session: &mut dyn forge::Session,
    creation: &task::Creation,
) -> uncertain::Observation {
    let wanted = NewCheckRun {
        name: &creation.name,
        head_sha: creation.head_sha.as_str(),
        attempt: creation.attempt,
    };
    match session.find_check_run(&wanted) {
        Ok(Some(run)) => uncertain::Observation::CheckRun(run),
        Ok(None) => uncertain::Observation::NoCheckRun,
        Err(why) => uncertain::Observation::Unavailable(why),
    }
}

/// Looks at a check run, and sets it when it is ours, shows something else than it must, and is not as it
/// was when the forge refused to set it.
fn check_run_seen(
    worker: &Reconcile,
    claim: &Claim<ReconcileTask>,
    session: &mut dyn forge::Session,
    run: &task::CheckRun,
) -> Result<check_run::Observation, Timestamp> {
    let state = match session.check_run(run) {
        CheckRunLookup::BindingMismatch => return Ok(check_run::Observation::BindingMismatch),
        CheckRunLookup::Expected => return Ok(check_run::Observation::Expected),
        CheckRunLookup::NotFound => return Ok(check_run::Observation::NotFound),
        CheckRunLookup::Unavailable(why) => return Ok(check_run::Observation::Unavailable(why)),
        CheckRunLookup::Different(state) if run.refused_state == Some(state) => {
            return Ok(check_run::Observation::Unchanged);
        }
        CheckRunLookup::Different(state) => state,
    };
    // No mark as the outbox has: setting a state twice is harmless, so only lease and pace are checked.
    match worker.store.begin_write(claim, CALL_MAX, worker.pace) {
        Ok(None) => {}
        Ok(Some(until)) => return Err(until),
        Err(_) => return Err(Timestamp::MIN),
    }
    let (conclusion, completed_at) = (run.conclusion, run.completed_at);
    let unconfirmed = run.unconfirmed;
    let status = CheckRunStatus::Completed { conclusion, completed_at, unconfirmed };
    let update = CheckRunUpdate {
        check_run: run.check_run,
        attempt: run.attempt,
        head_sha: run.head_sha.as_str(),
        name: run.name.as_deref(),
        status,
    };
    Ok(match session.update_check_run(&update) {
        SendResult::CheckRunUpdated => check_run::Observation::Updated,
        SendResult::CheckRunMismatch => check_run::Observation::BindingMismatch,
        SendResult::Refused(class) => {
            check_run::Observation::Refused(check_run::Refused { class, state })
        }
        // The next observation reads first, once the wait is over.
        SendResult::Uncertain(_, Some(until)) => {
            let paused = worker.store.pause(claim.item.installation, until);
            return Err(paused.map_or(Timestamp::MIN, |()| until));
        }
        // It may have been applied: what it shows now decides.
        failed @ SendResult::Uncertain(_, None) => match session.check_run(run) {
            CheckRunLookup::Expected => check_run::Observation::Updated,
            CheckRunLookup::BindingMismatch => check_run::Observation::BindingMismatch,
            CheckRunLookup::Different(_)
            | CheckRunLookup::NotFound
            | CheckRunLookup::Unavailable(_) => {
                check_run::Observation::NotUpdated(unavailable(failed))
            }
        },
        // The request had no effect, so what was seen before still holds.
        failed => check_run::Observation::NotUpdated(unavailable(failed)),
    })
}
