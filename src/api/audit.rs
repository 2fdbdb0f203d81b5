//! Audit events.

use serde::{Deserialize, Serialize};

/// One audit event: metadata only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// UUID.
    pub audit_event_id: String,
    /// What happened: `control_plane.…`.
    pub event: String,
    /// The configured actor, or `svcd`.
    pub actor: String,
    /// The caller's `Idempotency-Key`; null when nobody asked for it.
    pub operation_id: Option<String>,
    /// What kind of item it was done to.
    pub item_type: String,
    /// Which one.
    pub item_id: String,
    /// Why; null when the event says it all.
    pub reason_code: Option<String>,
    /// When.
    pub created_at: String,
}
