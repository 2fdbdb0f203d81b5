//! Reconciliation items.

use serde::{Deserialize, Serialize};

/// One reconciliation item: metadata only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReconciliationItem {
    /// UUID.
    pub reconciliation_id: String,
    /// What kind of thing is repaired.
    pub kind: String,
    /// Why.
    pub reason: String,
    /// Which one: an attempt, a release run, or a delivery by its number in the inbox.
    pub subject_id: String,
    /// `open`, `leased`, `completed` or `dead_letter`.
    pub status: String,
    /// What the last or final observation came to.
    pub outcome_code: Option<String>,
    /// How often somebody looked.
    pub attempt_count: u32,
    /// When somebody looks next.
    pub next_check_at: String,
    /// Until when it may stay ambiguous.
    pub deadline_at: String,
    /// When the lease of whoever looks ends; null while nobody does.
    pub lease_expires_at: Option<String>,
    /// When it was detected.
    pub created_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
}
