//! Applying an observation: in one transaction that checks the claim, reads where the subject stands
//! now, decides, and writes.

use crate::domain::delivery::InboxState;
use crate::domain::digest::Digest;
use crate::domain::id::AttemptId;
use crate::domain::lease::{Claim, Fence, RowHandle};
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::task::{self, ReconcileTask, Subject, TaskOutcome};
use crate::domain::reconcile::{
    AttemptStanding, ReconcileCode, Rules, check_run, lag_until, lifecycle, uncertain, workflow,
};
use crate::domain::release::Ending;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::items::Held;
use crate::store::rows::{
    attempts, forge_limits, inbox, items, publication, release_end, settlement, ticks,
};
use crate::store::sql::{Tx, params};
use crate::store::types::Observation;

impl Store {
    /// Applies an observation to its subject, and finishes the item or puts it off.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours: what was seen is discarded.
    pub fn apply_observation(
        &self,
        claim: &Claim<ReconcileTask>,
        observation: Observation,
        rules: Rules,
    ) -> Result<TaskOutcome, Error> {
        let (fence, task) = (claim.fence, claim.item.clone());
        self.write(move |tx| {
            let Held { deadline, lag_count } = items::held(tx, fence)?;
            // Whatever becomes of the item: the pause concerns the whole installation.
            if let Some(until) = observation.wait_until() {
                forge_limits::pause(tx, task.installation, until)?;
            }
            let decides = observation.decides(deadline, tx.now);
            let lag_until = lag_until(observation.failed(), decides, tx.now, lag_count);
            let item = Applying { fence, task: &task, deadline, lag_until, rules: &rules };
            let settled = match (&task.subject, observation) {
                (Subject::WorkflowRun(run), Observation::Workflow(lookup)) => {
                    workflow(tx, &item, run.attempt, lookup)?
                }
                (Subject::UnknownRun(it), Observation::Uncertain(seen)) => {
                    unknown_run(tx, &item, it.attempt, seen)?
                }
                (Subject::Dispatch(it), Observation::Uncertain(seen)) => {
                    uncertain(tx, &item, it.attempt, EffectKind::WorkflowDispatch, seen)?
                }
                (Subject::Creation(it), Observation::Uncertain(seen)) => {
                    uncertain(tx, &item, it.attempt, EffectKind::CheckRunCreate, seen)?
                }
                (Subject::CheckRun(it), Observation::CheckRun(seen)) => {
                    check_run(tx, &item, it, seen)?
                }
                (Subject::Inbox(inbox), Observation::Inbox) => lifecycle(tx, &item, *inbox)?,
                // A worker that observed another kind of subject: a bug, and nothing is concluded from it.
                _ => return Err(Error::Row("subject_id")),
            };
            // An observation that may show the lag of a fresh token is repeated before anything is concluded from it.
            let is_lag = settled.code == ReconcileCode::ForgeTokenLag;
            let succeeded = !observation.is_unavailable() && !is_lag;
            let worker = task.reason.kind().worker();
            // In the same transaction: a tick of its own would cost one more commit for each observation.
            ticks::note(tx, worker, succeeded, ticks::RECONCILERS_EVERY)?;
            Ok(settled)
        })
    }
}

/// A claimed item that is still ours.
struct Applying<'a> {
    fence: Fence,
    task: &'a ReconcileTask,
    deadline: Timestamp,
    /// What was seen may be the lag of a fresh token: when to look again.
    lag_until: Option<Timestamp>,
    rules: &'a Rules,
}

fn workflow(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    attempt: AttemptId,
    lookup: workflow::Lookup,
) -> Result<TaskOutcome, Error> {
    let standing = attempts::standing_of(tx, attempt)?;
    // Lag matters only while the attempt is current; the item of an old one closes whatever was seen.
    if let (AttemptStanding::Current, Some(at)) = (standing, item.lag_until) {
        return items::recheck_for_lag(tx, item.fence, at);
    }
    match workflow::decide(standing, lookup, item.deadline, tx.now, item.rules) {
        workflow::Outcome::Close(code) => items::complete(tx, item.fence, code),
        workflow::Outcome::Recheck { code, at, ended_well } => {
            if ended_well {
                attempts::reporting(tx, attempt)?;
            }
            items::recheck(tx, item.fence, code, at, item.rules)
        }
        workflow::Outcome::Fail(code) => {
            release_end::end_release(tx, attempt, Ending::Failed(code))?;
            items::complete(tx, item.fence, code)
        }
        workflow::Outcome::TimeOut(code) => {
            release_end::end_release(tx, attempt, Ending::TimedOut(code))?;
            items::complete(tx, item.fence, code)
        }
    }
}

/// A run that is found is observed from now on; one that is not is as good as one that does not end.
fn unknown_run(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    attempt: AttemptId,
    observation: uncertain::Observation,
) -> Result<TaskOutcome, Error> {
    if let uncertain::Observation::WorkflowRun(run) = observation
        && attempts::standing_of(tx, attempt)? == AttemptStanding::Current
        && attempts::identify(tx, attempt, run)?
    {
        return items::complete(tx, item.fence, ReconcileCode::RunIdentified);
    }
    let lookup = match observation {
        uncertain::Observation::Unavailable(why) => workflow::Lookup::Unavailable(why),
        // The rules for a run that goes on apply, so the deadline ends the release.
        _ => workflow::Lookup::Pending,
    };
    workflow(tx, item, attempt, lookup)
}

fn uncertain(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    attempt: AttemptId,
    kind: EffectKind,
    observation: uncertain::Observation,
) -> Result<TaskOutcome, Error> {
    let Some(message) = settlement::find_uncertain(tx, attempt, kind)? else {
        return items::complete(tx, item.fence, ReconcileCode::AlreadyRepaired);
    };
    if let Some(at) = item.lag_until {
        return items::recheck_for_lag(tx, item.fence, at);
    }
    let standing = attempts::standing_of(tx, attempt)?;
    let decide =
        |seen, now| uncertain::decide(kind, standing, seen, item.deadline, now, item.rules);
    let mut outcome = decide(observation, tx.now);
    if let uncertain::Outcome::Proved(proof) = outcome {
        if settlement::confirm_effect(tx, &message, proof)? {
            return items::complete(tx, item.fence, ReconcileCode::EffectProved);
        }
        // What was found belongs to another attempt: it proves nothing about this one.
        outcome = decide(uncertain::Observation::NoProof, tx.now);
    }
    let code = match outcome {
        uncertain::Outcome::Recheck { code, at } => {
            return items::recheck(tx, item.fence, code, at, item.rules);
        }
        uncertain::Outcome::Disproved => {
            settlement::rule_out_effect(tx, &message)?;
            ReconcileCode::EffectDisproved
        }
        uncertain::Outcome::End(code) => {
            release_end::end_release(tx, attempt, Ending::Failed(code))?;
            code
        }
        uncertain::Outcome::Unproved | uncertain::Outcome::Proved(_) => {
            ReconcileCode::EffectUnproved
        }
    };
    items::complete(tx, item.fence, code)
}

fn check_run(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    subject: &task::CheckRun,
    observation: check_run::Observation,
) -> Result<TaskOutcome, Error> {
    let (release_run, attempt) = (subject.release_run, subject.attempt);
    let standing = publication::standing_of(tx, release_run, attempt)?;
    if let (check_run::ReleaseStanding::Unpublished, Some(at)) = (standing, item.lag_until) {
        return items::recheck_for_lag(tx, item.fence, at);
    }
    match check_run::decide(standing, observation, item.deadline, tx.now, item.rules) {
        check_run::Outcome::Close(code) => items::complete(tx, item.fence, code),
        check_run::Outcome::Recheck { code, at } => {
            if let check_run::Observation::Refused(refused) = observation {
                note_refusal(tx, item.fence, refused.state)?;
            }
            items::recheck(tx, item.fence, code, at, item.rules)
        }
        check_run::Outcome::Published => {
            release_end::confirm(tx, attempt)?;
            items::complete(tx, item.fence, ReconcileCode::PublicationReconciled)
        }
        check_run::Outcome::Fail(code) => {
            if code == ReconcileCode::ForgeCheckRunBindingMismatch {
                attempts::check_run_is_not_ours(tx, attempt)?;
            }
            publication::record_failure(tx, item.task.installation, release_run, code)?;
            items::complete(tx, item.fence, code)
        }
    }
}

/// Notes in which state the forge refused to set the check run of an item.
fn note_refusal(tx: &Tx<'_>, fence: Fence, state: Digest) -> Result<(), Error> {
    tx.execute(
        "UPDATE reconciliation_items SET refused_state = :state WHERE id = :id",
        params! { ":id": fence.row, ":state": state },
    )?;
    Ok(())
}

fn lifecycle(tx: &mut Tx<'_>, item: &Applying<'_>, inbox: RowHandle) -> Result<TaskOutcome, Error> {
    let facts = tx.query_one(
        "SELECT i.state, i.received_at, j.status FROM webhook_inbox i \
         LEFT JOIN control_plane_jobs j ON j.inbox_id = i.inbox_id WHERE i.inbox_id = :inbox",
        params! { ":inbox": inbox },
        |row| inbox::facts(row, item.rules),
    )?;
    // A row that was swept needs no repair.
    let outcome = facts
        .map_or(lifecycle::Outcome::Close(ReconcileCode::AlreadyRepaired), |facts| {
            lifecycle::decide(&facts, tx.now)
        });
    let code = match outcome {
        lifecycle::Outcome::Close(code) => code,
        lifecycle::Outcome::Project(state) => {
            inbox::set_state(tx, inbox, state)?;
            ReconcileCode::LifecycleInboxStateDrift
        }
        lifecycle::Outcome::Recreate => {
            inbox::recreate_job(tx, inbox)?;
            inbox::set_state(tx, inbox, InboxState::Accepted)?;
            ReconcileCode::LifecycleJobMissing
        }
    };
    items::complete(tx, item.fence, code)
}
