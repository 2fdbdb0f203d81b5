//! Reconciliation: what detection and a poll return.

use crate::domain::id::ReconciliationId;
use crate::domain::lease::Claim;
use crate::domain::reconcile::task::ReconcileTask;
use crate::domain::reconcile::{ReconcileCode, ReconcileReason};

/// What a poll brought.
#[derive(Debug)]
pub struct Polled {
    /// Items that were finished without an observation: there was nothing left to repair, or each holder crashed.
    pub closed: Vec<Closed>,
    /// An item to look at.
    pub claim: Option<Box<Claim<ReconcileTask>>>,
    /// Others may be due.
    pub more: bool,
}

/// An item that was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    pub id: ReconciliationId,
    /// Why it was opened.
    pub reason: ReconcileReason,
    /// What it came to.
    pub code: ReconcileCode,
}

/// What a detection opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    pub items: Vec<(ReconciliationId, ReconcileReason)>,
    /// Look again at once: a bound was reached, and something new was opened.
    pub more: bool,
}
