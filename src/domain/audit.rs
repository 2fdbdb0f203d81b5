//! Names of audit events.

/// A replay changed state. Binds installation, actor, operation, item type and item.
pub const DEAD_LETTER_REPLAYED: &str = "control_plane.dead_letter_replayed";
