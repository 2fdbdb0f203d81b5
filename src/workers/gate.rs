//! The gate in front of every call to the forge: while its installation has to wait, none is made, and none once the
//! worker is to end.
//!
//! Why each exchange asks again: `docs/decisions/10-forge-pause.md`.

use std::cell::Cell;

use crate::domain::dead_letter::FailureCause;
use crate::domain::id::InstallationId;
use crate::domain::outbox::SendResult;
use crate::forge;
use crate::runtime::notify::Notify;
use crate::store::Store;

/// The gate of one session.
pub(super) struct Gate<'a> {
    store: &'a Store,
    installation: InstallationId,
    notify: &'a Notify,
    stopped: Cell<Option<SendResult>>,
    cause: Cell<Option<FailureCause>>,
}

impl<'a> Gate<'a> {
    pub(super) const fn new(
        store: &'a Store,
        installation: InstallationId,
        notify: &'a Notify,
    ) -> Self {
        Self { store, installation, notify, stopped: Cell::new(None), cause: Cell::new(None) }
    }

    /// Returns the result of the call that was stopped; `None` if every call was made.
    pub(super) const fn stopped(&self) -> Option<SendResult> {
        self.stopped.get()
    }
    /// Returns why the last call that failed did.
    pub(super) const fn cause(&self) -> Option<FailureCause> {
        self.cause.get()
    }
}

impl forge::Gate for Gate<'_> {
    fn check(&self) -> Result<(), SendResult> {
        let stopped = match self.store.paused_until(self.installation) {
            Ok(None) if self.notify.is_stopped() => SendResult::Postponed,
            Ok(None) => return Ok(()),
            Ok(Some(until)) => SendResult::Deferred(until),
            // Whether there is a pause is not known.
            Err(_) => SendResult::Postponed,
        };
        // Kept apart from the result: on its way through the client it becomes one of many reasons for no answer.
        self.stopped.set(Some(stopped));
        Err(stopped)
    }

    fn call_failed(&self, cause: FailureCause) {
        self.cause.set(Some(cause));
    }
}
