//! Reconciliation: what detection, a poll and the list of items return.

use crate::domain::id::ReconciliationId;
use crate::domain::lease::Claim;
use crate::domain::reconcile::look::Look;
use crate::domain::reconcile::{Code, Reason};
use crate::domain::time::Timestamp;

/// What a poll brought.
#[derive(Debug)]
pub struct Polled {
    /// Items that were finished without a look: there was nothing left to repair, or nobody survives it.
    pub closed: Vec<Closed>,
    /// An item to look at.
    pub claim: Option<Box<Claim<Look>>>,
    /// Others may be due.
    pub more: bool,
}

/// An item that was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Its id.
    pub id: ReconciliationId,
    /// Why it was opened.
    pub reason: Reason,
    /// What it came to.
    pub code: Code,
}

/// What a detection opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The items.
    pub items: Vec<(ReconciliationId, Reason)>,
    /// Look again at once: a bound was reached, and something new was opened.
    pub more: bool,
}

/// One reconciliation item: metadata only. Words are as they were stored, a newer version's too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReconciliationItem {
    /// Its id.
    pub id: ReconciliationId,
    /// What kind of thing is repaired.
    pub kind: String,
    /// Stable code: why.
    pub reason: String,
    /// Which one.
    pub subject: String,
    /// Its status.
    pub status: String,
    /// Stable code of the last or final observation.
    pub outcome: Option<String>,
    /// How often it was claimed.
    pub attempt_count: u32,
    /// When it is looked at next.
    pub next_check_at: Timestamp,
    /// Until when it may stay ambiguous.
    pub deadline_at: Timestamp,
    /// When the lease of whoever looks ends.
    pub lease_expires_at: Option<Timestamp>,
    /// When it was detected.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}
