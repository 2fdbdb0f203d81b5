//! Looking: what an item's subject shows at the forge, without deciding anything.

use std::time::Duration;

use super::Reconcile;
use crate::domain::dead_letter::ErrorClass;
use crate::domain::lease::Claim;
use crate::domain::outbox::{CheckRunStatus, SendResult};
use crate::domain::reconcile::look::{self, Look, Subject};
use crate::domain::reconcile::{Unavailable, check_run, doubt, workflow};
use crate::forge::{CheckRunLook, NewCheckRun, Permission, Session, unavailable};
use crate::store::Observation;

/// What must be left of the lease when an update leaves: one call with its redirect and freshness waits.
const CALL_MAX: Duration = Duration::from_secs(90);

/// Looks at the subject of a claim. Nothing when nothing was learned: the lease is as good as over.
pub(super) fn observe(worker: &Reconcile, claim: &Claim<Look>) -> Option<Observation> {
    let look = &claim.item;
    let permission = match &look.subject {
        Subject::Inbox(_) => return Some(Observation::Inbox),
        Subject::WorkflowRun(_) | Subject::UnknownRun(_) | Subject::Dispatch(_) => {
            Permission::ActionsRead
        }
        Subject::Creation(_) | Subject::CheckRun(_) => Permission::ChecksWrite,
    };
    // An installation that is not active, or a repository we may not see, cannot be asked about.
    let Some(repository) = &look.repository else {
        return Some(unseen(&look.subject, unknown(ErrorClass::State)));
    };
    let mut session = match worker.forge.open(look.installation, repository, permission) {
        Ok(session) => session,
        Err(refused) => return Some(unseen(&look.subject, unavailable(refused))),
    };
    Some(match &look.subject {
        Subject::Inbox(_) => Observation::Inbox,
        Subject::WorkflowRun(run) => Observation::Workflow(session.workflow_run(run)),
        Subject::UnknownRun(dispatch) | Subject::Dispatch(dispatch) => {
            Observation::Doubt(session.find_workflow_run(dispatch))
        }
        Subject::Creation(creation) => {
            Observation::Doubt(creation_seen(session.as_mut(), creation))
        }
        Subject::CheckRun(run) => {
            Observation::CheckRun(check_run_seen(worker, claim, session.as_mut(), run)?)
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

/// Looks at a check run, and sets it when it is ours and shows something else than it must.
fn check_run_seen(
    worker: &Reconcile,
    claim: &Claim<Look>,
    session: &mut dyn Session,
    run: &look::CheckRun,
) -> Option<check_run::Observation> {
    Some(match session.check_run(run) {
        CheckRunLook::BindingMismatch => check_run::Observation::BindingMismatch,
        CheckRunLook::Expected => check_run::Observation::Expected,
        CheckRunLook::NotFound => check_run::Observation::NotFound,
        CheckRunLook::Unavailable(why) => check_run::Observation::Unavailable(why),
        CheckRunLook::Different => {
            worker.store.confirm_look(claim, CALL_MAX).ok()?;
            let status = CheckRunStatus::Completed {
                conclusion: run.conclusion,
                completed_at: run.completed_at,
            };
            match session.update_check_run(run.check_run, status) {
                SendResult::CheckRunUpdated => check_run::Observation::Updated,
                failed => check_run::Observation::NotUpdated(unavailable(failed)),
            }
        }
    })
}
