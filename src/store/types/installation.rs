//! Installations, as verbs return them.

use crate::domain::event::InstallationState;
use crate::domain::id::InstallationId;

/// One installation, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The forge's number.
    pub id: InstallationId,
    /// Login of its owner; nothing until a webhook named it.
    pub account: Option<String>,
    /// What it is now.
    pub state: InstallationState,
}
