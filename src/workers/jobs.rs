//! Runs lifecycle jobs: claims a few, hands them all to the writer at once, so that they share its
//! commits, and gives back those that failed. One that fails never stops the others.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::dead_letter::{DeadLetterReason, ErrorClass};
use crate::domain::job::Job;
use crate::domain::lease::Claim;
use crate::domain::retry::RetryPolicy;
use crate::metrics::Metrics;
use crate::runtime::notify::Notify;
use crate::store::{self, JobRun, LeasePolicy, NewRelease, Store};
use crate::workers::driver::{Next, Worker};

/// Jobs claimed at once.
const CLAIM_MAX: u32 = 64;
/// A job is one short transaction; a holder that has not finished by then has vanished.
const LEASE: Duration = Duration::from_secs(60);

/// The worker.
pub struct Jobs {
    pub store: Store,
    /// Random per process start; names the holder of a lease.
    pub owner: String,
    /// Tries and delays.
    pub retry: RetryPolicy,
    /// How release runs are made.
    pub plan: NewRelease,
    /// Woken when a job left something to send.
    pub outbox: Notify,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Claims that are still to be given back.
    pub unreturned: Unreturned,
}

/// Claims of jobs that could not be applied, and could not be given back either, because the store was
/// unavailable. Without another try each would wait for its lease, long after the store has come back.
#[derive(Debug, Default)]
pub struct Unreturned(Vec<(Claim<Job>, ReturnAs)>);

/// How a job that could not be applied is given back.
#[derive(Clone, Copy, Debug)]
enum ReturnAs {
    /// Uncounted: the store was unavailable.
    Postponed,
    /// Counted as a failure of this class.
    Failed(ErrorClass),
}

impl Worker for Jobs {
    fn name(&self) -> &'static str {
        "jobs"
    }

    fn step(&mut self) -> Next {
        // Before the claim, so that a job that waited through an outage can be among those claimed now.
        self.give_back_unreturned();
        let policy = LeasePolicy { lease: LEASE, retry: self.retry };
        let claims = match self.store.claim_jobs(CLAIM_MAX, &self.owner, policy) {
            Ok(claims) => claims,
            Err(error) => {
                self.metrics.store_failures.count([("class", error.class())]);
                log::warn!(event = "worker.claim_failed", worker = "jobs", class = error.class(); "jobs could not be claimed");
                return Next::Wait;
            }
        };
        if claims.is_empty() {
            return Next::Wait;
        }
        let running: Vec<_> =
            // All are handed over before the first is waited for: they share one commit.
            claims.iter().map(|claim| self.store.run_job(claim, &self.plan)).collect();
        for (claim, pending) in claims.into_iter().zip(running) {
            self.finished(claim, pending.wait());
        }
        // Also if no job left anything to send: a needless look costs one read.
        self.outbox.notify();
        Next::Now
    }
}

impl Jobs {
    fn finished(&mut self, claim: Claim<Job>, ran: Result<JobRun, store::Error>) {
        let id = claim.item.id;
        let outcome = match ran {
            Ok(JobRun::Applied) => {
                log::info!(event = "job.completed", job_id:% = id, attempt = claim.item.attempt; "a job has finished");
                "completed"
            }
            Ok(JobRun::Nothing(why)) => {
                log::info!(event = "job.nothing_to_do", job_id:% = id, why = why.as_str(); "a job had nothing to do");
                "nothing_to_do"
            }
            Ok(JobRun::DeadLettered(reason, class)) => {
                log::warn!(event = "job.dead_letter", job_id:% = id, reason_code = reason.as_str(), error_class = class.as_str(); "a job became a dead letter");
                "dead_letter"
            }
            Err(store::Error::LeaseLost) => {
                log::warn!(event = "job.lease_lost", job_id:% = id, fencing_token = claim.fence.token; "another worker has taken over a job");
                "lease_lost"
            }
            Err(error) => {
                self.failed(claim, &error);
                "failed"
            }
        };
        self.metrics.jobs.count([("outcome", outcome)]);
    }

    /// A store that is unavailable says nothing about the job: it is given back uncounted, at once or
    /// when the store is back, or its lease runs out. Anything else counts against the job.
    fn failed(&mut self, claim: Claim<Job>, error: &store::Error) {
        self.metrics.store_failures.count([("class", error.class())]);
        let return_as = match error {
            store::Error::Unavailable(_) => ReturnAs::Postponed,
            store::Error::Panicked => ReturnAs::Failed(ErrorClass::Crash),
            store::Error::LeaseLost
            | store::Error::Fatal(_)
            | store::Error::Statement(_)
            | store::Error::Row(_) => ReturnAs::Failed(ErrorClass::State),
        };
        let given_back = self.give_back(&claim, return_as);
        let then = given_back.as_ref().map_or_else(store::Error::class, |()| "given_back");
        log::warn!(event = "job.failed", job_id:% = claim.item.id, class = error.class(), attempt = claim.item.attempt, then = then; "a job could not be applied");
        if let Err(store::Error::Unavailable(_)) = given_back {
            self.unreturned.0.push((claim, return_as));
        }
    }

    fn give_back(&self, claim: &Claim<Job>, return_as: ReturnAs) -> Result<(), store::Error> {
        match return_as {
            ReturnAs::Postponed => self.store.postpone_job(claim),
            ReturnAs::Failed(class) => {
                self.store.fail_job(claim, DeadLetterReason::JobFailed, class, self.retry)
            }
        }
    }

    /// Gives back what the store did not take before, as long as it takes anything.
    fn give_back_unreturned(&mut self) {
        while let Some((claim, return_as)) = self.unreturned.0.pop() {
            match self.give_back(&claim, return_as) {
                Err(store::Error::Unavailable(_)) => {
                    // Nothing more is tried: each further one would wait as long for the same store.
                    return self.unreturned.0.push((claim, return_as));
                }
                Ok(()) => {
                    log::info!(event = "job.given_back", job_id:% = claim.item.id, attempt = claim.item.attempt; "a job was returned as soon as the store accepted it");
                }
                // Another worker has taken it over.
                Err(store::Error::LeaseLost) => {}
                Err(error) => {
                    self.metrics.store_failures.count([("class", error.class())]);
                    log::warn!(event = "worker.store_failed", worker = "jobs", verb = "give_back", class = error.class(); "a store operation failed");
                }
            }
        }
    }
}
