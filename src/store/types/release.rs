//! Release runs, as operators see them.

use crate::api;
use crate::domain::release::next_step;

/// One release run with everything an operator may know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseRunDetail {
    /// What the list shows.
    pub release: api::ReleaseRun,
    /// Its attempts, newest first; at most the newest hundred.
    pub attempts: Vec<api::Attempt>,
    /// What happened to it, oldest first.
    pub steps: Vec<api::ReleaseStep>,
    /// What decides about what happens next.
    pub facts: next_step::Facts,
    /// Stable code: why the message that holds up the others died.
    pub dead_letter_reason: Option<String>,
    /// How many tries of that message have failed, while it is not a dead letter.
    pub failed_tries: u32,
}
