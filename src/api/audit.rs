//! Audit events.

use serde::{Deserialize, Serialize};

use super::list::{AuditFilter, ListRow};
use crate::domain::id::AuditEventId;
use crate::domain::time::Timestamp;

/// One audit event: metadata only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// UUID.
    pub audit_event_id: AuditEventId,
    /// What happened: `control_plane.…`.
    pub event: String,
    /// The configured actor, or `svcd`.
    pub actor: String,
    /// The caller's `Idempotency-Key`; null when no caller asked for it.
    pub operation_id: Option<String>,
    /// What kind of item it was done to.
    pub item_type: String,
    /// Which one.
    pub item_id: String,
    /// Why; null when the event says it all.
    pub reason_code: Option<String>,
    /// Why, in the operator's own words; null where none are asked for.
    #[serde(default)]
    pub reason: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

impl ListRow for AuditEvent {
    const LIST: &'static str = "audit-events";
    type Filter = AuditFilter;
    type Cursor = AuditEventId;
    const CURSOR: &'static str = "the id of an item in this list, such as nextBefore";

    fn read_cursor(text: &str) -> Option<AuditEventId> {
        text.parse().ok()
    }

    fn cursor(&self) -> AuditEventId {
        self.audit_event_id
    }
}
