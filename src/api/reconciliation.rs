//! Reconciliation items.

use serde::{Deserialize, Serialize};

use super::list::{ListRow, ReconciliationFilter};
use crate::domain::id::ReconciliationId;
use crate::domain::time::Timestamp;

/// One reconciliation item: metadata only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReconciliationItem {
    /// UUID.
    pub reconciliation_id: ReconciliationId,
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
    /// How often it was looked at.
    pub attempt_count: u32,
    /// When it is looked at next.
    pub next_check_at: Timestamp,
    /// Until when it may stay ambiguous.
    pub deadline_at: Timestamp,
    /// When the lease of the observing worker ends; null while no worker holds one.
    pub lease_expires_at: Option<Timestamp>,
    /// When it was detected.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When an operator closed it after it had been given up; null until then.
    #[serde(default)]
    pub closed_at: Option<Timestamp>,
}

impl ListRow for ReconciliationItem {
    const LIST: &'static str = "reconciliation-items";
    type Filter = ReconciliationFilter;
    type Cursor = ReconciliationId;
    const CURSOR: &'static str = "the id of an item in this list, such as nextBefore";

    fn read_cursor(text: &str) -> Option<ReconciliationId> {
        text.parse().ok()
    }

    fn cursor(&self) -> ReconciliationId {
        self.reconciliation_id
    }
}
