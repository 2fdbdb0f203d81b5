//! Applying what a look told: in one transaction that checks the claim, reads where the subject stands
//! now, decides, and writes.

use rusqlite::named_params;

use super::{Held, complete, detect, held, recheck, recheck_for_lag, subject};
use crate::domain::dead_letter::ErrorClass;
use crate::domain::delivery::InboxState;
use crate::domain::digest::Digest;
use crate::domain::id::{AttemptId, InstallationId, ReleaseRunId};
use crate::domain::lease::{Claim, Fence};
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::look::{Look, Settled, Subject};
use crate::domain::reconcile::{
    Code, Rules, Standing, check_run, doubt, lag_until, lifecycle, workflow,
};
use crate::domain::release::Ending;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{
    Store, audit, deliveries, endings, forge_limits, jobs, releases, retention, settlement,
};

/// What a look told, by what was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// About a workflow run.
    Workflow(workflow::Lookup),
    /// About an effect in doubt.
    Doubt(doubt::Observation),
    /// About a check run.
    CheckRun(check_run::Observation),
    /// Nothing was asked: the answer is in the store.
    Inbox,
}

impl Observation {
    /// Returns the class of failure of the lookup; `None` if it was answered.
    #[must_use]
    pub const fn failed(self) -> Option<ErrorClass> {
        match self {
            Self::Workflow(workflow::Lookup::NotFound)
            | Self::CheckRun(check_run::Observation::NotFound) => Some(ErrorClass::NotFound),
            Self::Workflow(workflow::Lookup::Unavailable(why))
            | Self::Doubt(doubt::Observation::Unavailable(why))
            | Self::CheckRun(
                check_run::Observation::Unavailable(why) | check_run::Observation::NotUpdated(why),
            ) => Some(why.class),
            Self::CheckRun(check_run::Observation::Refused(refused)) => Some(refused.class),
            Self::Workflow(_) | Self::Doubt(_) | Self::CheckRun(_) | Self::Inbox => None,
        }
    }

    /// Returns the instant the forge asked the whole installation to wait for.
    const fn wait_until(self) -> Option<Timestamp> {
        match self {
            Self::Workflow(workflow::Lookup::Unavailable(why))
            | Self::Doubt(doubt::Observation::Unavailable(why))
            | Self::CheckRun(
                check_run::Observation::Unavailable(why) | check_run::Observation::NotUpdated(why),
            ) => why.wait_until,
            Self::Workflow(_) | Self::Doubt(_) | Self::CheckRun(_) | Self::Inbox => None,
        }
    }

    /// Says whether it settles something at that instant, and is not just followed by another look.
    fn decides(self, deadline: Timestamp, now: Timestamp) -> bool {
        now >= deadline || matches!(self, Self::CheckRun(check_run::Observation::Refused(_)))
    }

    /// Says whether the forge was asked at all.
    #[must_use]
    pub fn was_asked(self) -> bool {
        self != Self::Inbox && self.failed().is_none_or(|class| class != ErrorClass::State)
    }

    /// Says whether the forge did not tell, or did not confirm what it was asked to do.
    #[must_use]
    pub const fn is_unavailable(self) -> bool {
        matches!(
            self,
            Self::Workflow(workflow::Lookup::Unavailable(_))
                | Self::Doubt(doubt::Observation::Unavailable(_))
                | Self::CheckRun(
                    check_run::Observation::Unavailable(_)
                        | check_run::Observation::NotUpdated(_)
                        | check_run::Observation::Refused(_)
                )
        )
    }

    /// Says whether the forge does not know what it was asked about.
    #[must_use]
    pub const fn is_not_found(self) -> bool {
        matches!(
            self,
            Self::Workflow(workflow::Lookup::NotFound)
                | Self::Doubt(doubt::Observation::NoCheckRun | doubt::Observation::NoProof)
                | Self::CheckRun(check_run::Observation::NotFound)
        )
    }
}

impl Store {
    /// Applies what a look told to its subject, and finishes the item or puts it off.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours: what was seen is discarded.
    pub fn apply_look(
        &self,
        claim: &Claim<Look>,
        observation: Observation,
        rules: Rules,
    ) -> Result<Settled, Error> {
        let (fence, look) = (claim.fence, claim.item.clone());
        self.write(move |tx| {
            let Held { deadline, lag_count } = held(tx, fence)?;
            if let Some(until) = observation.wait_until() {
                forge_limits::pause(tx, look.installation, until)?;
            }
            let decides = observation.decides(deadline, tx.now);
            let lag_until = lag_until(observation.failed(), decides, tx.now, lag_count);
            let item = Applying { fence, look: &look, deadline, lag_until, rules: &rules };
            let settled = match (&look.subject, observation) {
                (Subject::WorkflowRun(run), Observation::Workflow(lookup)) => {
                    workflow(tx, &item, run.attempt, lookup)?
                }
                (Subject::UnknownRun(it), Observation::Doubt(seen)) => {
                    unknown_run(tx, &item, it.attempt, seen)?
                }
                (Subject::Dispatch(it), Observation::Doubt(seen)) => {
                    doubt(tx, &item, (it.attempt, EffectKind::WorkflowDispatch), seen)?
                }
                (Subject::Creation(it), Observation::Doubt(seen)) => {
                    doubt(tx, &item, (it.attempt, EffectKind::CheckRunCreate), seen)?
                }
                (Subject::CheckRun(it), Observation::CheckRun(seen)) => {
                    check_run(tx, &item, (it.release_run, it.attempt), seen)?
                }
                (Subject::Inbox(inbox), Observation::Inbox) => lifecycle(tx, &item, *inbox)?,
                _ => return Err(Error::Row("subject_id")),
            };
            let succeeded = !observation.is_unavailable();
            retention::tick(tx, look.reason.kind().worker(), succeeded, super::TICK_EVERY)?;
            Ok(settled)
        })
    }
}

/// A claimed item that is still ours.
struct Applying<'a> {
    fence: Fence,
    look: &'a Look,
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
) -> Result<Settled, Error> {
    let standing = subject::standing_of(tx, attempt)?;
    if let (Standing::Current, Some(at)) = (standing, item.lag_until) {
        return recheck_for_lag(tx, item.fence, at);
    }
    match workflow::decide(standing, lookup, item.deadline, tx.now, item.rules) {
        workflow::Outcome::Close(code) => complete(tx, item.fence, code),
        workflow::Outcome::Recheck { code, at, ended_well } => {
            if ended_well {
                releases::reporting(tx, attempt)?;
            }
            recheck(tx, item.fence, (code, at), item.rules)
        }
        workflow::Outcome::Fail(code) => {
            endings::end(tx, attempt, Ending::Failed(code))?;
            complete(tx, item.fence, code)
        }
        workflow::Outcome::TimeOut(code) => {
            endings::end(tx, attempt, Ending::TimedOut(code))?;
            complete(tx, item.fence, code)
        }
    }
}

/// A run that is found is observed from now on; one that is not is as good as one that does not end.
fn unknown_run(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    attempt: AttemptId,
    observation: doubt::Observation,
) -> Result<Settled, Error> {
    if let doubt::Observation::WorkflowRun(run) = observation
        && subject::standing_of(tx, attempt)? == Standing::Current
        && releases::identify(tx, attempt, run)?
    {
        return complete(tx, item.fence, Code::RunIdentified);
    }
    let lookup = match observation {
        doubt::Observation::Unavailable(why) => workflow::Lookup::Unavailable(why),
        _ => workflow::Lookup::Pending,
    };
    workflow(tx, item, attempt, lookup)
}

fn doubt(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    (attempt, kind): (AttemptId, EffectKind),
    observation: doubt::Observation,
) -> Result<Settled, Error> {
    let Some(message) = settlement::in_doubt(tx, attempt, kind)? else {
        return complete(tx, item.fence, Code::AlreadyRepaired);
    };
    if let Some(at) = item.lag_until {
        return recheck_for_lag(tx, item.fence, at);
    }
    let of = (kind, subject::standing_of(tx, attempt)?);
    let decide = |seen, now| doubt::decide(of, seen, item.deadline, now, item.rules);
    let mut outcome = decide(observation, tx.now);
    if let doubt::Outcome::Proved(proof) = outcome {
        if settlement::prove(tx, &message, proof)? {
            return complete(tx, item.fence, Code::EffectProved);
        }
        // What was found belongs to another attempt: it proves nothing about this one.
        outcome = decide(doubt::Observation::NoProof, tx.now);
    }
    let code = match outcome {
        doubt::Outcome::Recheck { code, at } => {
            return recheck(tx, item.fence, (code, at), item.rules);
        }
        doubt::Outcome::Disproved => {
            settlement::disprove(tx, &message)?;
            Code::EffectDisproved
        }
        doubt::Outcome::End(code) => {
            endings::end(tx, attempt, Ending::Failed(code))?;
            code
        }
        doubt::Outcome::Unproved | doubt::Outcome::Proved(_) => Code::EffectUnproved,
    };
    complete(tx, item.fence, code)
}

fn check_run(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    (release_run, attempt): (ReleaseRunId, AttemptId),
    observation: check_run::Observation,
) -> Result<Settled, Error> {
    let standing = subject::publication_of(tx, release_run, attempt)?;
    if let (check_run::Standing::Unpublished, Some(at)) = (standing, item.lag_until) {
        return recheck_for_lag(tx, item.fence, at);
    }
    match check_run::decide(standing, observation, item.deadline, tx.now, item.rules) {
        check_run::Outcome::Close(code) => complete(tx, item.fence, code),
        check_run::Outcome::Recheck { code, at } => {
            if let check_run::Observation::Refused(refused) = observation {
                note_refusal(tx, item.fence, refused.state)?;
            }
            recheck(tx, item.fence, (code, at), item.rules)
        }
        check_run::Outcome::Published => {
            endings::confirm(tx, attempt)?;
            complete(tx, item.fence, Code::PublicationReconciled)
        }
        check_run::Outcome::Fail(code) => {
            if code == Code::ForgeCheckRunBindingMismatch {
                releases::check_run_is_not_ours(tx, attempt)?;
            }
            record_failure(tx, item.look.installation, release_run, code)?;
            complete(tx, item.fence, code)
        }
    }
}

/// Notes in which state the forge refused to set the check run of an item.
fn note_refusal(tx: &Tx<'_>, fence: Fence, state: Digest) -> Result<(), Error> {
    tx.connection
        .prepare_cached("UPDATE reconciliation_items SET refused_state = :state WHERE id = :id")?
        .execute(named_params! { ":id": fence.row, ":state": state.as_bytes() })?;
    Ok(())
}

/// Records a stable failure of a publication: in the audit log, and beside the result of the current
/// attempt, when it has one.
pub(super) fn record_failure(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    release_run: ReleaseRunId,
    code: Code,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE release_run_results SET last_publication_error = :code, updated_at = :now \
             WHERE release_run_id = :release AND attempt_id = \
                (SELECT current_attempt_id FROM release_runs WHERE release_run_id = :release)",
        )?
        .execute(named_params! {
            ":release": release_run.to_string(),
            ":code": code.as_str(),
            ":now": tx.now.micros(),
        })?;
    audit::check_run_reconciliation_failed(tx, installation, release_run, code)
}

fn lifecycle(tx: &mut Tx<'_>, item: &Applying<'_>, inbox: i64) -> Result<Settled, Error> {
    let facts = {
        let mut statement = tx.connection.prepare_cached(
            "SELECT i.state, i.received_at, j.status FROM webhook_inbox i \
             LEFT JOIN control_plane_jobs j ON j.inbox_id = i.inbox_id WHERE i.inbox_id = :inbox",
        )?;
        let mut rows = statement.query(named_params! { ":inbox": inbox })?;
        rows.next()?.map(|row| detect::inbox_facts(row, item.rules)).transpose()?
    };
    // A row that was swept needs no repair.
    let outcome = facts.map_or(lifecycle::Outcome::Close(Code::AlreadyRepaired), |facts| {
        lifecycle::decide(&facts, tx.now)
    });
    let code = match outcome {
        lifecycle::Outcome::Close(code) => code,
        lifecycle::Outcome::Project(state) => {
            jobs::set_inbox_state(tx, inbox, state)?;
            Code::LifecycleInboxStateDrift
        }
        lifecycle::Outcome::Recreate => {
            deliveries::recreate_job(tx, inbox)?;
            jobs::set_inbox_state(tx, inbox, InboxState::Accepted)?;
            Code::LifecycleJobMissing
        }
    };
    complete(tx, item.fence, code)
}
