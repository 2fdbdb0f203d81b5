//! Looking: what an item's subject shows at the forge, without deciding anything.

use std::time::Duration;

use super::Reconcile;
use crate::domain::dead_letter::ErrorClass;
use crate::domain::lease::Claim;
use crate::domain::outbox::{CheckRunStatus, SendResult};
use crate::domain::reconcile::look::{self, Look, Subject};
use crate::domain::reconcile::{Unavailable, check_run, doubt, workflow};
use crate::domain::time::Timestamp;
use crate::forge::{CheckRunLook, CheckRunUpdate, NewCheckRun, Permission, Session, unavailable};
use crate::store::Observation;
use crate::workers::gate::Gate;

/// What must be left of the lease when an update leaves: one call with its redirect (30 s), and room.
const CALL_MAX: Duration = Duration::from_secs(90);

/// Looks at the subject of a claim.
///
/// # Errors
/// Nothing was learned: from when on to look again.
pub(super) fn observe(worker: &Reconcile, claim: &Claim<Look>) -> Result<Observation, Timestamp> {
    let look = &claim.item;
    let permission = match &look.subject {
        Subject::Inbox(_) => return Ok(Observation::Inbox),
        Subject::WorkflowRun(_) | Subject::UnknownRun(_) | Subject::Dispatch(_) => {
            Permission::ActionsRead
        }
        Subject::Creation(_) | Subject::CheckRun(_) => Permission::ChecksWrite,
    };
    // An installation that is not active, or a repository we may not see, cannot be asked about.
    let Some(repository) = &look.repository else {
        return Ok(unseen(&look.subject, unknown(ErrorClass::State)));
    };
    let gate = Gate::new(&worker.store, look.installation);
    let check = || gate.check();
    let opened = worker.forge.open(look.installation, repository, permission, &check);
    let observation = match opened {
        Ok(mut session) => look_at(worker, claim, session.as_mut())?,
        Err(refused) => unseen(&look.subject, unavailable(refused)),
    };
    match gate.stopped() {
        None => Ok(observation),
        Some(SendResult::Deferred(until)) => Err(until),
        Some(_) => Err(Timestamp::MIN),
    }
}

fn look_at(
    worker: &Reconcile,
    claim: &Claim<Look>,
    session: &mut dyn Session,
) -> Result<Observation, Timestamp> {
    Ok(match &claim.item.subject {
        Subject::Inbox(_) => Observation::Inbox,
        Subject::WorkflowRun(run) => Observation::Workflow(session.workflow_run(run)),
        Subject::UnknownRun(dispatch) | Subject::Dispatch(dispatch) => {
            Observation::Doubt(session.find_workflow_run(dispatch))
        }
        Subject::Creation(creation) => Observation::Doubt(creation_seen(session, creation)),
        Subject::CheckRun(run) => {
            Observation::CheckRun(check_run_seen(worker, claim, session, run)?)
        }
    })
}

const fn unknown(class: ErrorClass) -> Unavailable {
    Unavailable { class, wait_until: None }
}

const fn unseen(subject: &Subject, why: Unavailable) -> Observation {
    match subject {
        Subject::WorkflowRun(_) => Observation::Workflow(workflow::Lookup::Unavailable(why)),
        Subject::UnknownRun(_) | Subject::Dispatch(_) | Subject::Creation(_) => {
            Observation::Doubt(doubt::Observation::Unavailable(why))
        }
        Subject::CheckRun(_) => Observation::CheckRun(check_run::Observation::Unavailable(why)),
        Subject::Inbox(_) => Observation::Inbox,
    }
}

fn creation_seen(session: &mut dyn Session, creation: &look::Creation) -> doubt::Observation {
    let wanted = NewCheckRun {
        name: &creation.name,
        head_sha: creation.head_sha.as_str(),
        attempt: creation.attempt,
    };
    match session.find_check_run(&wanted) {
        Ok(Some(run)) => doubt::Observation::CheckRun(run),
        Ok(None) => doubt::Observation::NoCheckRun,
        Err(why) => doubt::Observation::Unavailable(why),
    }
}

/// Looks at a check run, and sets it when it is ours, shows something else than it must, and is not as it
/// was when the forge refused to set it.
fn check_run_seen(
    worker: &Reconcile,
    claim: &Claim<Look>,
    session: &mut dyn Session,
    run: &look::CheckRun,
) -> Result<check_run::Observation, Timestamp> {
    let state = match session.check_run(run) {
        CheckRunLook::BindingMismatch => return Ok(check_run::Observation::BindingMismatch),
        CheckRunLook::Expected => return Ok(check_run::Observation::Expected),
        CheckRunLook::NotFound => return Ok(check_run::Observation::NotFound),
        CheckRunLook::Unavailable(why) => return Ok(check_run::Observation::Unavailable(why)),
        CheckRunLook::Different(state) if run.refused_state == Some(state) => {
            return Ok(check_run::Observation::Unchanged);
        }
        CheckRunLook::Different(state) => state,
    };
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
        // The next look reads first, once the wait is over.
        SendResult::Uncertain(_, Some(until)) => {
            let paused = worker.store.pause(claim.item.installation, until);
            return Err(paused.map_or(Timestamp::MIN, |()| until));
        }
        // It may have been applied: what it shows now decides.
        failed @ SendResult::Uncertain(_, None) => match session.check_run(run) {
            CheckRunLook::Expected => check_run::Observation::Updated,
            CheckRunLook::BindingMismatch => check_run::Observation::BindingMismatch,
            CheckRunLook::Different(_) | CheckRunLook::NotFound | CheckRunLook::Unavailable(_) => {
                check_run::Observation::NotUpdated(unavailable(failed))
            }
        },
        failed => check_run::Observation::NotUpdated(unavailable(failed)),
    })
}
