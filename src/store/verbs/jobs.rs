//! Lifecycle jobs: claim, run, fail. Running is one transaction: facts are read, the decision is made,
//! and everything it asks for is written, or nothing.

use std::time::Duration;

use crate::domain::dead_letter::{DeadLetterReason, ErrorClass, ItemId};
use crate::domain::delivery::InboxState;
use crate::domain::event::Action;
use crate::domain::id::InstallationId;
use crate::domain::job::{self, Job, JobOutcome, JobStatus};
use crate::domain::lease::{Claim, Fence, RowHandle, Vanished, after_vanished};
use crate::domain::retry::RetryPolicy;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::lease::LeaseQueue;
use crate::store::rows::{action, changes, dead_letters, inbox, lease, row, turns};
use crate::store::sql::{Tx, params};
use crate::store::types::{JobRun, LeasePolicy, NewRelease};
use crate::store::{Lane, Pending, Store};

/// Jobs that one transaction gives back, at most; a worker claims no more at once.
const GIVEN_BACK_MAX: u32 = 64;

impl Store {
    /// Claims up to `limit` due jobs. Jobs whose lease ran out are due again, or given up when their
    /// tries are used up.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was claimed.
    pub fn claim_jobs(
        &self,
        limit: u32,
        owner: &str,
        policy: LeasePolicy,
    ) -> Result<Vec<Claim<Job>>, Error> {
        let owner = owner.to_owned();
        let (claimed, expired) = self.write(move |tx| {
            let expired = take_back_expired(tx, limit, &policy.retry)?;
            Ok((claim(tx, limit, &owner, policy.lease)?, expired))
        })?;
        // After the commit: a verb can run twice, and each run would count.
        self.count_lease_expiries(expired);
        let observed = claimed.into_iter().map(|(claim, waited)| {
            self.job_waits.observe(waited);
            claim
        });
        Ok(observed.collect())
    }

    /// Runs a claimed job and completes it, or gives it up, in one transaction. It is handed to the writer
    /// without waiting, so that many share one commit; the answer is [`Error::LeaseLost`] when the claim is
    /// no longer ours, and after any other error the job is still claimed and wants [`Store::fail_job`].
    pub fn run_job(&self, claim: &Claim<Job>, plan: &NewRelease) -> Pending<JobRun> {
        let (fence, job, plan) = (claim.fence, claim.item.clone(), plan.clone());
        self.submit(Lane::Urgent, move |tx| run(tx, fence, &job, &plan))
    }

    /// Gives a claimed job back as if it had not been claimed: nothing was learned about it.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours.
    pub fn postpone_job(&self, claim: &Claim<Job>) -> Result<(), Error> {
        let fence = claim.fence;
        // Its try is taken back: a stop of the daemon must not bring a job closer to being given up.
        self.write(move |tx| give_back(tx, fence, tx.now, 1))
    }

    /// Gives back the jobs that an owner has claimed and not run, as if they had not been claimed: its process ends.
    /// Returns how many these were.
    ///
    /// Handed over and not waited for, because a stop has one wait for all of its writes.
    pub fn give_back_jobs(&self, owner: &str) -> Pending<usize> {
        let owner = owner.to_owned();
        self.submit(Lane::Urgent, move |tx| {
            let claimed = tx.query(
                "SELECT id, claim_id, fencing_token FROM control_plane_jobs \
                 WHERE status = 'leased' AND lease_owner = :owner \
                 ORDER BY lease_expires_at, id LIMIT +:limit",
                params! { ":owner": owner, ":limit": GIVEN_BACK_MAX },
                lease::fence,
            )?;
            claimed.iter().try_for_each(|fence| give_back(tx, *fence, tx.now, 1))?;
            Ok(claimed.len())
        })
    }

    /// Gives a claimed job back after its run failed: to be tried again, or to be given up.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours.
    pub fn fail_job(
        &self,
        claim: &Claim<Job>,
        reason: DeadLetterReason,
        class: ErrorClass,
        policy: RetryPolicy,
    ) -> Result<(), Error> {
        let (fence, attempt) = (claim.fence, claim.item.attempt);
        self.write(move |tx| match policy.delay_after(attempt, tx.ids.fraction()) {
            // The try was counted by the claim, so nothing is added here.
            Some(delay) => give_back(tx, fence, tx.now.plus(delay), 0),
            None => dead_letter(tx, fence, reason, class),
        })
    }
}

/// Makes jobs whose lease ran out available again; gives up those whose tries are used up. Returns how
/// many leases that were.
fn take_back_expired(tx: &Tx<'_>, limit: u32, policy: &RetryPolicy) -> Result<usize, Error> {
    let expired: Vec<(Fence, u32)> = tx.query(
        "SELECT id, claim_id, fencing_token, attempt_count FROM control_plane_jobs \
         WHERE status = 'leased' AND lease_expires_at <= :now \
         ORDER BY lease_expires_at, id LIMIT +:limit",
        params! { ":now": tx.now, ":limit": limit },
        |row| Ok((lease::fence(row)?, row.get("attempt_count")?)),
    )?;
    for (fence, tries) in &expired {
        match after_vanished(*tries, policy.attempts_max) {
            Vanished::GiveUp => {
                dead_letter(tx, *fence, DeadLetterReason::CrashLoop, ErrorClass::Crash)?;
            }
            Vanished::GiveBack => give_back(tx, *fence, tx.now, 0)?,
        }
    }
    Ok(expired.len())
}

/// A job that is due, and the delivery that asked for it.
struct Due {
    job: Job,
    waiting: lease::Waiting,
    inbox: RowHandle,
    due_at: Timestamp,
}

/// Claims jobs that are due; returns with each how long it has been due.
fn claim(
    tx: &mut Tx<'_>,
    limit: u32,
    owner: &str,
    lease: Duration,
) -> Result<Vec<(Claim<Job>, Duration)>, Error> {
    due(tx, limit)?
        .into_iter()
        .map(|Due { mut job, waiting, inbox, due_at }| {
            let fence = lease::take(tx, LeaseQueue::Jobs, waiting, owner, lease)?;
            inbox::set_state(tx, inbox, InboxState::of_job(JobStatus::Leased))?;
            job.attempt = job.attempt.saturating_add(1);
            Ok((Claim { item: job, fence }, tx.now.since(due_at)))
        })
        .collect()
}

/// Finds up to `limit` jobs that are due: as many of each installation that has some, in turn.
fn due(tx: &Tx<'_>, limit: u32) -> Result<Vec<Due>, Error> {
    let max = usize::try_from(limit).unwrap_or(usize::MAX);
    let behind = |after| waiting_behind(tx, after);
    let installations = turns::next(tx, "jobs", max, behind, |_| Ok(true))?;
    let count = u32::try_from(installations.len()).unwrap_or(u32::MAX);
    let share = limit.checked_div(count).unwrap_or(0);
    let mut due = Vec::new();
    for installation in installations {
        due.extend(due_of(tx, installation, share)?);
    }
    Ok(due)
}

fn waiting_behind(tx: &Tx<'_>, after: i64) -> Result<Option<turns::Waiting>, Error> {
    tx.query_one(
        "SELECT installation_id, available_at FROM control_plane_jobs \
         WHERE status = 'available' AND installation_id > :after \
         ORDER BY installation_id, available_at LIMIT 1",
        params! { ":after": after },
        |row| turns::waiting(row, "available_at"),
    )
}

fn due_of(tx: &Tx<'_>, installation: InstallationId, share: u32) -> Result<Vec<Due>, Error> {
    tx.query(
        "SELECT j.id, j.fencing_token, j.inbox_id, j.job_id, j.attempt_count, j.installation_id, \
            j.available_at, \
            i.repository_id, i.repository, i.normalized_actions \
         FROM control_plane_jobs j JOIN webhook_inbox i USING (inbox_id) \
         WHERE j.status = 'available' AND j.installation_id = :installation \
            AND j.available_at <= :now \
         ORDER BY j.available_at, j.id LIMIT +:limit",
        params! { ":installation": installation, ":now": tx.now, ":limit": share },
        |row| {
            let actions: Option<String> = row.get("normalized_actions")?;
            let job = Job {
                id: row.get("job_id")?,
                installation: row.get("installation_id")?,
                // One that does not read is as good as none: this job ends, the others go on.
                repository: row::repository(row).unwrap_or_default(),
                action: actions.as_deref().and_then(action::decode),
                attempt: row.get("attempt_count")?,
            };
            Ok(Due {
                job,
                waiting: lease::waiting(row)?,
                inbox: row.get("inbox_id")?,
                due_at: row.get("available_at")?,
            })
        },
    )
}

fn run(tx: &mut Tx<'_>, fence: Fence, job: &Job, plan: &NewRelease) -> Result<JobRun, Error> {
    let Held { inbox, received_at } = held(tx, fence)?;
    // Read in this transaction, not at the claim: another job may have started the same release since.
    let facts = changes::facts(tx, job, plan.own_app)?;
    let outcome = match job::decide(job, &facts) {
        JobOutcome::DeadLetter(reason, class) => {
            dead_letter(tx, fence, reason, class)?;
            return Ok(JobRun::DeadLettered(reason, class));
        }
        JobOutcome::Nothing(why) => JobRun::Nothing(why),
        JobOutcome::Apply(change) => {
            changes::apply_job(tx, job, &change, plan, received_at)?;
            JobRun::Applied
        }
    };
    finish(tx, fence, inbox, JobStatus::Completed)?;
    Ok(outcome)
}

/// The delivery that asked for a job: its row and when it was received.
struct Held {
    inbox: RowHandle,
    received_at: Timestamp,
}

/// Checks that the claim is still ours.
fn held(tx: &Tx<'_>, fence: Fence) -> Result<Held, Error> {
    let held = tx.query_one(
        "SELECT j.inbox_id, i.received_at \
         FROM control_plane_jobs j JOIN webhook_inbox i USING (inbox_id) \
         WHERE j.id = :id AND j.claim_id = :claim AND j.status = 'leased'",
        params! { ":id": fence.row, ":claim": fence.claim_id },
        |row| Ok(Held { inbox: row.get("inbox_id")?, received_at: row.get("received_at")? }),
    )?;
    held.ok_or(Error::LeaseLost)
}

fn give_back(
    tx: &Tx<'_>,
    fence: Fence,
    available_at: Timestamp,
    uncounted: u32,
) -> Result<(), Error> {
    let Held { inbox, .. } = held(tx, fence)?;
    let changed = tx.execute(
        "UPDATE control_plane_jobs SET status = 'available', available_at = :available, \
            attempt_count = attempt_count - :uncounted, \
            lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
         WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":available": available_at,
            ":uncounted": uncounted,
            ":now": tx.now,
        },
    )?;
    if changed == 0 {
        return Err(Error::LeaseLost);
    }
    inbox::set_state(tx, inbox, InboxState::of_job(JobStatus::Available))
}

fn finish(tx: &Tx<'_>, fence: Fence, inbox: RowHandle, status: JobStatus) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE control_plane_jobs SET status = :status, lease_owner = NULL, claim_id = NULL, \
            lease_expires_at = NULL, updated_at = :now, finished_at = :now \
         WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":status": status,
            ":now": tx.now,
        },
    )?;
    if changed == 0 {
        return Err(Error::LeaseLost);
    }
    inbox::set_state(tx, inbox, InboxState::of_job(status))
}

fn dead_letter(
    tx: &Tx<'_>,
    fence: Fence,
    reason: DeadLetterReason,
    class: ErrorClass,
) -> Result<(), Error> {
    let Held { inbox, .. } = held(tx, fence)?;
    finish(tx, fence, inbox, JobStatus::DeadLetter)?;
    let found = tx.query_one(
        "SELECT j.job_id, j.installation_id, j.repository, j.attempt_count, i.normalized_actions \
         FROM control_plane_jobs j JOIN webhook_inbox i USING (inbox_id) WHERE j.id = :id",
        params! { ":id": fence.row },
        |row| {
            let actions: Option<String> = row.get("normalized_actions")?;
            let action = actions.as_deref().and_then(action::decode);
            let dead_letter = dead_letters::NewDeadLetter {
                item: ItemId::Job(row.get("job_id")?),
                repository: row.get("repository")?,
                reason,
                error_class: class,
                // No job calls the forge.
                cause: None,
                attempt_count: row.get("attempt_count")?,
                replay_class: job::replay_class(reason),
                work: dead_letters::Work::Job(action.as_ref().map(Action::word)),
            };
            Ok((row.get("installation_id")?, dead_letter))
        },
    )?;
    let (installation, dead_letter) = found.ok_or(Error::Row("job_id"))?;
    dead_letters::add(tx, installation, &dead_letter)
}
