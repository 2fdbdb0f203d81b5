//! What is known of the service at one moment. Ages are of that moment, counts go on from snapshot to
//! snapshot, levels go up and down. No value belongs to one tenant.

use crate::domain::slo::Signal;

/// One value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It could not be had: neither good nor bad.
    Missing,
    /// It is this.
    Exact(u64),
    /// Counting stopped there: it is this or more.
    AtLeast(u64),
}

impl From<Option<u64>> for Reading {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Missing, Self::Exact)
    }
}

/// The values of one moment. Nothing means that a part could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Age of the oldest due job, in seconds; 0 when none is due.
    pub oldest_job_seconds: Option<u64>,
    /// Age of the oldest webhook that is not processed, in seconds; 0 when there is none.
    pub oldest_inbox_seconds: Option<u64>,
    /// Dead letters ever added.
    pub dead_letters: Option<u64>,
    /// Leases that ever ran out in this process.
    pub lease_expiries: Option<u64>,
    /// Time since the earliest deadline of an unfinished reconciliation, in seconds; 0 before it.
    pub reconciliation_overdue_seconds: Option<u64>,
    /// Check runs this process ever gave up publishing.
    pub publication_failures: Option<u64>,
    /// Lookups at the forge that ever failed in this process.
    pub lookup_failures: Option<u64>,
    /// Webhooks this process ever refused.
    pub webhook_rejections: Option<u64>,
    /// Time the writer of this process ever spent on transactions, in seconds.
    pub database_busy_seconds: Option<u64>,
    /// Bytes left for the database, by its file system and by the limit on the size of files.
    pub disk_free_bytes: Option<u64>,
    /// Age of the oldest open dead letter, in seconds; 0 when there is none.
    pub oldest_dead_letter_seconds: Option<u64>,
    /// Reconciliations that were given up and not closed, counted up to 10,000.
    pub given_up: Option<u64>,
    /// Jobs and side effects that wait.
    pub backlog: Reading,
}

impl Snapshot {
    /// A snapshot of which nothing could be read.
    pub const MISSING: Self = Self {
        oldest_job_seconds: None,
        oldest_inbox_seconds: None,
        dead_letters: None,
        lease_expiries: None,
        reconciliation_overdue_seconds: None,
        publication_failures: None,
        lookup_failures: None,
        webhook_rejections: None,
        database_busy_seconds: None,
        disk_free_bytes: None,
        oldest_dead_letter_seconds: None,
        given_up: None,
        backlog: Reading::Missing,
    };

    /// Returns what a signal is evaluated from.
    #[must_use]
    pub fn reading(&self, signal: Signal) -> Reading {
        match signal {
            Signal::OldestJob => self.oldest_job_seconds.into(),
            Signal::OldestInbox => self.oldest_inbox_seconds.into(),
            Signal::DeadLetters => self.dead_letters.into(),
            Signal::LeaseExpiries => self.lease_expiries.into(),
            Signal::ReconciliationOverdue => self.reconciliation_overdue_seconds.into(),
            Signal::PublicationFailures => self.publication_failures.into(),
            Signal::LookupFailures => self.lookup_failures.into(),
            Signal::WebhookRejections => self.webhook_rejections.into(),
            Signal::DatabaseBusy => self.database_busy_seconds.into(),
            Signal::DiskFree => self.disk_free_bytes.into(),
            Signal::OpenDeadLetters => self.oldest_dead_letter_seconds.into(),
            Signal::GivenUp => self.given_up.into(),
            Signal::BacklogGrowth => self.backlog,
        }
    }
}
