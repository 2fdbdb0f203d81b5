//! Applying what a look told: in one transaction that checks the claim, reads where the subject stands
//! now, decides, and writes.

use rusqlite::named_params;

use super::{complete, detect, held, recheck, subject};
use crate::domain::delivery::InboxState;
use crate::domain::id::{AttemptId, ReleaseRunId};
use crate::domain::lease::{Claim, Fence};
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::look::{Look, Settled, Subject};
use crate::domain::reconcile::{
    Code, Rules, Standing, Unavailable, check_run, doubt, lifecycle, workflow,
};
use crate::domain::release::Ending;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{
    Store, audit, deliveries, endings, jobs, releases, retention, settlement,
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
    /// Says whether the forge did not tell, or did not confirm what it was asked to do.
    #[must_use]
    pub const fn is_unavailable(self) -> bool {
        matches!(
            self,
            Self::Workflow(workflow::Lookup::Unavailable(_))
                | Self::Doubt(doubt::Observation::Unavailable(_))
                | Self::CheckRun(
                    check_run::Observation::Unavailable(_) | check_run::Observation::NotUpdated(_)
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
            let item = Applying { fence, look: &look, rules: &rules };
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

struct Applying<'a> {
    fence: Fence,
    look: &'a Look,
    rules: &'a Rules,
}

impl Applying<'_> {
    /// A forge that asked to wait is not asked about anything of this installation until then.
    fn pause(&self, tx: &Tx<'_>, why: Unavailable) -> Result<(), Error> {
        match why.wait_until {
            Some(until) => settlement::pause(tx, self.look.installation, until),
            None => Ok(()),
        }
    }
}

fn workflow(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    attempt: AttemptId,
    lookup: workflow::Lookup,
) -> Result<Settled, Error> {
    let deadline = held(tx, item.fence)?;
    if let workflow::Lookup::Unavailable(why) = lookup {
        item.pause(tx, why)?;
    }
    let standing = subject::standing_of(tx, attempt)?;
    match workflow::decide(standing, lookup, deadline, tx.now, item.rules) {
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
    held(tx, item.fence)?;
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
    let deadline = held(tx, item.fence)?;
    if let doubt::Observation::Unavailable(why) = observation {
        item.pause(tx, why)?;
    }
    let Some(message) = settlement::in_doubt(tx, attempt, kind)? else {
        return complete(tx, item.fence, Code::AlreadyRepaired);
    };
    let code = match doubt::decide(observation, deadline, tx.now, item.rules) {
        doubt::Outcome::Recheck { code, at } => {
            return recheck(tx, item.fence, (code, at), item.rules);
        }
        doubt::Outcome::Proved(proof) if settlement::prove(tx, &message, proof)? => {
            Code::EffectProved
        }
        // What was found belongs to another attempt: it proves nothing about this one.
        doubt::Outcome::Proved(_) | doubt::Outcome::Unproved => Code::EffectUnproved,
        doubt::Outcome::Disproved => {
            settlement::disprove(tx, &message)?;
            Code::EffectDisproved
        }
    };
    complete(tx, item.fence, code)
}

fn check_run(
    tx: &mut Tx<'_>,
    item: &Applying<'_>,
    (release_run, attempt): (ReleaseRunId, AttemptId),
    observation: check_run::Observation,
) -> Result<Settled, Error> {
    let deadline = held(tx, item.fence)?;
    if let check_run::Observation::Unavailable(why) | check_run::Observation::NotUpdated(why) =
        observation
    {
        item.pause(tx, why)?;
    }
    let standing = subject::publication_of(tx, release_run, attempt)?;
    match check_run::decide(standing, observation, deadline, tx.now, item.rules) {
        check_run::Outcome::Close(code) => complete(tx, item.fence, code),
        check_run::Outcome::Recheck { code, at } => recheck(tx, item.fence, (code, at), item.rules),
        check_run::Outcome::Published => {
            endings::confirm(tx, attempt)?;
            complete(tx, item.fence, Code::PublicationReconciled)
        }
        check_run::Outcome::Fail(code) => {
            note_publication_error(tx, (release_run, attempt), code)?;
            audit::check_run_reconciliation_failed(tx, item.look.installation, release_run, code)?;
            complete(tx, item.fence, code)
        }
    }
}

/// Notes the failure beside the result of the attempt, when it has one.
fn note_publication_error(
    tx: &Tx<'_>,
    (release_run, attempt): (ReleaseRunId, AttemptId),
    code: Code,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE release_run_results SET last_publication_error = :code, updated_at = :now \
             WHERE release_run_id = :release AND attempt_id = :attempt",
        )?
        .execute(named_params! {
            ":release": release_run.to_string(),
            ":attempt": attempt.to_string(),
            ":code": code.as_str(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

fn lifecycle(tx: &mut Tx<'_>, item: &Applying<'_>, inbox: i64) -> Result<Settled, Error> {
    held(tx, item.fence)?;
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
