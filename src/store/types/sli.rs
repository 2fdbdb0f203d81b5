//! What the store knows of the service as a whole.

use std::time::Duration;

use crate::domain::time::Timestamp;
use crate::store::types::upkeep::Backlog;

/// The store's part of a snapshot. Nothing of it belongs to one tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sli {
    /// What waits.
    pub backlog: Backlog,
    /// When the oldest webhook came that is not processed.
    pub oldest_unprocessed_at: Option<Timestamp>,
    /// The earliest deadline of a reconciliation that is not finished.
    pub first_deadline_at: Option<Timestamp>,
    /// When the oldest open dead letter died.
    pub oldest_dead_letter_at: Option<Timestamp>,
    /// Reconciliations that were given up and not closed; counted up to 10,000.
    pub given_up: u64,
    /// Dead letters ever added to this file.
    pub dead_letters: u64,
    /// Leases that ran out and were taken back by this process.
    pub lease_expiries: u64,
    /// Time the writer of this process spent on transactions.
    pub busy: Duration,
    /// Bytes left for us where the database is; `None` when the system does not say.
    pub disk_free_bytes: Option<u64>,
}
