//! Audit events: their names, and what operators see of one.

use crate::domain::id::AuditEventId;
use crate::domain::time::Timestamp;

/// A replay changed state. Binds installation, actor, operation, item type and item.
pub const DEAD_LETTER_REPLAYED: &str = "control_plane.dead_letter_replayed";
/// A check run could not be brought to the end of its release. Binds installation, release run, reason.
pub const FORGE_CHECK_RUN_RECONCILIATION_FAILED: &str =
    "control_plane.forge_check_run_reconciliation_failed";
/// A result whose credential held was refused; the first of its attempt. Binds installation, attempt,
/// reason.
pub const RELEASE_RESULT_REFUSED: &str = "control_plane.release_result_refused";

/// Actor of what no person asked for.
pub const ACTOR_SELF: &str = "svcd";

/// One audit event: metadata only. Words are as they were stored, a newer version's too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// Its id.
    pub id: AuditEventId,
    /// What happened.
    pub event: String,
    /// Who did it: the configured actor, or `svcd`.
    pub actor: String,
    /// The caller's key; nothing when nobody asked for it.
    pub operation: Option<String>,
    /// What kind of item it was done to.
    pub item_type: String,
    /// Which one.
    pub item: String,
    /// Stable code: why; nothing when the event says it all.
    pub reason: Option<String>,
    /// When.
    pub created_at: Timestamp,
}
