//! Lifecycle jobs: claim, run, fail. Running is one transaction: facts are read, the decision is made,
//! and everything it asks for is written, or nothing.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, named_params};

use crate::domain::dead_letter::{ErrorClass, ItemId, Reason};
use crate::domain::delivery::InboxState;
use crate::domain::id::{AppId, InstallationId};
use crate::domain::job::{self, Job, JobOutcome, JobStatus, NothingToDo};
use crate::domain::lease::{Claim, Fence};
use crate::domain::retry::RetryPolicy;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::queue::Lane;
use crate::store::sqlite::{
    LeasePolicy, Pending, Store, action, changes, dead_letters, lease, row, turns,
};

/// How new release runs are made.
#[derive(Clone, Debug)]
pub struct NewRelease {
    /// The app we are at the forge.
    pub own_app: AppId,
    /// File name of the workflow to dispatch.
    pub workflow: String,
    /// Name of the check run.
    pub check_run_name: String,
}

/// What running a job came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobRun {
    /// Completed with a change.
    Applied,
    /// Completed without one.
    Nothing(NothingToDo),
    /// Given up.
    Buried(Reason, ErrorClass),
}

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
        let (claims, expired) = self.write(move |tx| {
            let expired = take_back_expired(tx, limit, &policy.retry)?;
            Ok((claim(tx, limit, &owner, policy.lease)?, expired))
        })?;
        self.count_lease_expiries(expired);
        Ok(claims)
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
        self.write(move |tx| give_back(tx, fence, tx.now, 1))
    }

    /// Gives a claimed job back after its run failed: to be tried again, or to be given up.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours.
    pub fn fail_job(
        &self,
        claim: &Claim<Job>,
        reason: Reason,
        class: ErrorClass,
        policy: RetryPolicy,
    ) -> Result<(), Error> {
        let (fence, attempt) = (claim.fence, claim.item.attempt);
        self.write(move |tx| match policy.delay_after(attempt, tx.ids.fraction()) {
            Some(delay) => give_back(tx, fence, tx.now.plus(delay), 0),
            None => bury(tx, fence, reason, class),
        })
    }
}

/// Makes jobs whose lease ran out available again; gives up those whose tries are used up. Returns how
/// many leases that were.
fn take_back_expired(tx: &Tx<'_>, limit: u32, policy: &RetryPolicy) -> Result<usize, Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT id, claim_id, fencing_token, attempt_count FROM control_plane_jobs \
         WHERE status = 'leased' AND lease_expires_at <= :now \
         ORDER BY lease_expires_at, id LIMIT +:limit",
    )?;
    let mut rows = statement.query(named_params! { ":now": tx.now.micros(), ":limit": limit })?;
    let mut expired = Vec::new();
    while let Some(row) = rows.next()? {
        expired.push((lease::fence(row)?, row.get::<_, u32>("attempt_count")?));
    }
    let count = expired.len();
    for (fence, attempts) in expired {
        if attempts >= policy.attempts_max {
            bury(tx, fence, Reason::CrashLoop, ErrorClass::Crash)?;
        } else {
            give_back(tx, fence, tx.now, 0)?;
        }
    }
    Ok(count)
}

/// A job that is due, and its row, fencing token and inbox row.
struct Due {
    job: Job,
    row: i64,
    token: i64,
    inbox: i64,
}

fn claim(
    tx: &mut Tx<'_>,
    limit: u32,
    owner: &str,
    lease: Duration,
) -> Result<Vec<Claim<Job>>, Error> {
    due(tx, limit)?
        .into_iter()
        .map(|Due { mut job, row, token, inbox }| {
            let table = ("control_plane_jobs", "available");
            let fence = lease::take(tx, table, (row, token), owner, lease)?;
            set_inbox_state(tx, inbox, InboxState::of_job(JobStatus::Leased))?;
            job.attempt = job.attempt.saturating_add(1);
            Ok(Claim { item: job, fence })
        })
        .collect()
}

/// Finds up to `limit` jobs that are due: as many of each installation that has some, in turn.
fn due(tx: &Tx<'_>, limit: u32) -> Result<Vec<Due>, Error> {
    let max = usize::try_from(limit).unwrap_or(usize::MAX);
    let behind = |after| waiting_behind(tx, after);
    let installations = turns::next(tx, ("jobs", max), behind, |_| Ok(true))?;
    let count = u32::try_from(installations.len()).unwrap_or(u32::MAX);
    let share = limit.checked_div(count).unwrap_or(0);
    let mut due = Vec::new();
    for installation in installations {
        due_of(tx, installation, share, &mut due)?;
    }
    Ok(due)
}

fn waiting_behind(tx: &Tx<'_>, after: i64) -> Result<Option<turns::Waiting>, Error> {
    Ok(tx
        .connection
        .prepare_cached(
            "SELECT installation_id, available_at FROM control_plane_jobs \
             WHERE status = 'available' AND installation_id > :after \
             ORDER BY installation_id, available_at LIMIT 1",
        )?
        .query_row(named_params! { ":after": after }, turns::waiting)
        .optional()?)
}

fn due_of(
    tx: &Tx<'_>,
    installation: InstallationId,
    share: u32,
    due: &mut Vec<Due>,
) -> Result<(), Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT j.id, j.fencing_token, j.inbox_id, j.job_id, j.attempt_count, j.installation_id, \
            i.repository_id, i.repository, i.normalized_actions \
         FROM control_plane_jobs j JOIN webhook_inbox i USING (inbox_id) \
         WHERE j.status = 'available' AND j.installation_id = :installation \
            AND j.available_at <= :now \
         ORDER BY j.available_at, j.id LIMIT +:limit",
    )?;
    let mut rows = statement.query(named_params! {
        ":installation": installation.get(),
        ":now": tx.now.micros(),
        ":limit": share,
    })?;
    while let Some(row) = rows.next()? {
        let actions: Option<String> = row.get("normalized_actions")?;
        let job = Job {
            id: row::id(row, "job_id")?,
            installation: row::number(row, "installation_id")?,
            // One that does not read is as good as none: this job ends, the others go on.
            repository: row::repository(row).unwrap_or_default(),
            action: actions.as_deref().and_then(action::decode),
            attempt: row.get("attempt_count")?,
        };
        let (row, token, inbox) = (row.get("id")?, row.get("fencing_token")?, row.get("inbox_id")?);
        due.push(Due { job, row, token, inbox });
    }
    Ok(())
}

fn run(tx: &mut Tx<'_>, fence: Fence, job: &Job, plan: &NewRelease) -> Result<JobRun, Error> {
    let Held { inbox, received_at } = held(tx, fence)?;
    let facts = changes::facts(tx, job, plan.own_app)?;
    let outcome = match job::decide(job, &facts) {
        JobOutcome::Bury(reason, class) => {
            bury(tx, fence, reason, class)?;
            return Ok(JobRun::Buried(reason, class));
        }
        JobOutcome::Nothing(why) => JobRun::Nothing(why),
        JobOutcome::Apply(change) => {
            changes::apply(tx, job, &change, plan, received_at)?;
            JobRun::Applied
        }
    };
    finish(tx, fence, inbox, JobStatus::Completed)?;
    Ok(outcome)
}

/// The delivery that asked for a job: its row and when it was received.
struct Held {
    inbox: i64,
    received_at: Timestamp,
}

/// Checks that the claim is still ours.
fn held(tx: &Tx<'_>, fence: Fence) -> Result<Held, Error> {
    tx.connection
        .prepare_cached(
            "SELECT j.inbox_id, i.received_at FROM control_plane_jobs j JOIN webhook_inbox i USING (inbox_id) \
             WHERE j.id = :id AND j.claim_id = :claim AND j.status = 'leased'",
        )?
        .query_row(named_params! { ":id": fence.row, ":claim": fence.claim_id }, |row| {
            Ok(Held { inbox: row.get(0)?, received_at: Timestamp::from_micros(row.get(1)?) })
        })
        .optional()?
        .ok_or(Error::LeaseLost)
}

fn give_back(
    tx: &Tx<'_>,
    fence: Fence,
    available_at: Timestamp,
    uncounted: u32,
) -> Result<(), Error> {
    let Held { inbox, .. } = held(tx, fence)?;
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE control_plane_jobs SET status = 'available', available_at = :available, \
                attempt_count = attempt_count - :uncounted, \
                lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
             WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":available": available_at.micros(),
            ":uncounted": uncounted,
            ":now": tx.now.micros(),
        })?;
    if changed == 0 {
        return Err(Error::LeaseLost);
    }
    set_inbox_state(tx, inbox, InboxState::of_job(JobStatus::Available))
}

fn finish(tx: &Tx<'_>, fence: Fence, inbox: i64, status: JobStatus) -> Result<(), Error> {
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE control_plane_jobs SET status = :status, lease_owner = NULL, claim_id = NULL, \
                lease_expires_at = NULL, updated_at = :now, finished_at = :now \
             WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":status": status.as_str(),
            ":now": tx.now.micros(),
        })?;
    if changed == 0 {
        return Err(Error::LeaseLost);
    }
    set_inbox_state(tx, inbox, InboxState::of_job(status))
}

fn bury(tx: &Tx<'_>, fence: Fence, reason: Reason, class: ErrorClass) -> Result<(), Error> {
    let Held { inbox, .. } = held(tx, fence)?;
    finish(tx, fence, inbox, JobStatus::DeadLetter)?;
    let mut statement = tx.connection.prepare_cached(
        "SELECT job_id, installation_id, repository, attempt_count FROM control_plane_jobs \
         WHERE id = :id",
    )?;
    let mut rows = statement.query(named_params! { ":id": fence.row })?;
    let row = rows.next()?.ok_or(Error::Row("job_id"))?;
    dead_letters::add(
        tx,
        row::number(row, "installation_id")?,
        &dead_letters::Burial {
            item: ItemId::Job(row::id(row, "job_id")?),
            repository: row.get("repository")?,
            reason,
            error_class: class,
            attempt_count: row.get("attempt_count")?,
            replay_class: job::replay_class(reason),
        },
    )
}

/// Moves an inbox row to the state that follows from its job. What the delivery asked for is forgotten
/// once it is done.
pub(super) fn set_inbox_state(tx: &Tx<'_>, inbox: i64, state: InboxState) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE webhook_inbox SET state = :state, updated_at = :now, \
                normalized_actions = iif(:state = 'processed', NULL, normalized_actions) \
             WHERE inbox_id = :id",
        )?
        .execute(named_params! {
            ":id": inbox,
            ":state": state.as_str(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}
