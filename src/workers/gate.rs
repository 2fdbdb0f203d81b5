//! The gate in front of every call to the forge: while its installation has to wait, none is made.
//!
//! Why each exchange asks again: `docs/decisions/10-forge-pause.md`.

use std::cell::Cell;

use crate::domain::id::InstallationId;
use crate::domain::outbox::SendResult;
use crate::store::Store;

/// The gate of one session.
pub(super) struct Gate<'a> {
    store: &'a Store,
    installation: InstallationId,
    stopped: Cell<Option<SendResult>>,
}

impl<'a> Gate<'a> {
    pub(super) const fn new(store: &'a Store, installation: InstallationId) -> Self {
        Self { store, installation, stopped: Cell::new(None) }
    }

    /// Returns `Ok` if a call may be made now, otherwise the result it has instead.
    pub(super) fn check(&self) -> Result<(), SendResult> {
        let stopped = match self.store.paused_until(self.installation) {
            Ok(None) => return Ok(()),
            Ok(Some(until)) => SendResult::Deferred(until),
            // Whether there is a pause is not known.
            Err(_) => SendResult::Postponed,
        };
        // Kept apart from the result: on its way through the client it becomes one of many reasons for no answer.
        self.stopped.set(Some(stopped));
        Err(stopped)
    }

    /// Returns the result of the call that was stopped; `None` if every call was made.
    pub(super) const fn stopped(&self) -> Option<SendResult> {
        self.stopped.get()
    }
}
