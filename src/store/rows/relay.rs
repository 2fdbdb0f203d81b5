//! What the verbs of the relay share. Each state machine of `domain::relay` is carried out here: load the rows, decide,
//! write the new state only if the old one is still stored, and the audit event with it.
//!
//! See `docs/decisions/70-relay-store.md`.

pub(in crate::store) mod audit;
pub(in crate::store) mod claims;
pub(in crate::store) mod devices;
pub(in crate::store) mod grants;
pub(in crate::store) mod invocations;
pub(in crate::store) mod pairings;
pub(in crate::store) mod processes;
pub(in crate::store) mod proposals;
pub(in crate::store) mod session_events;
pub(in crate::store) mod sessions;
pub(in crate::store) mod steps;
