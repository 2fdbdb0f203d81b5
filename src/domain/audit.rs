//! Audit events: their names, and the actor of what no person asked for.

/// A replay changed state. Binds installation, actor, operation, item type and item.
pub const DEAD_LETTER_REPLAYED: &str = "control_plane.dead_letter_replayed";
/// A dead letter was closed without a replay. Binds what a replay binds, and the operator's reason.
pub const DEAD_LETTER_CLOSED: &str = "control_plane.dead_letter_closed";
/// A reconciliation that was given up was acknowledged. Binds what a replay binds, and the operator's reason.
pub const RECONCILIATION_CLOSED: &str = "control_plane.reconciliation_closed";
/// A check run could not be brought to the end of its release. Binds installation, release run, reason.
pub const FORGE_CHECK_RUN_RECONCILIATION_FAILED: &str =
    "control_plane.forge_check_run_reconciliation_failed";
/// A result whose credential held was refused; the first of its attempt. Binds installation, attempt,
/// reason.
pub const RELEASE_RESULT_REFUSED: &str = "control_plane.release_result_refused";

/// Item type of a reconciliation, beside those of dead letters.
pub const RECONCILIATION_ITEM: &str = "reconciliation_item";

/// Actor of what no person asked for.
pub const ACTOR_SELF: &str = "svcd";
