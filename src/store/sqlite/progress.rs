//! Who has a verb: its caller may give it up until the writer takes it, and never after.

use std::sync::atomic::{AtomicU8, Ordering};

/// How far a verb has come, as its caller and the writer agree on it.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU8);

impl Progress {
    const WAITING: u8 = 0;
    const TAKEN: u8 = 1;
    const GIVEN_UP: u8 = 2;

    /// The writer takes the verb, or has taken it; false when the caller has given it up.
    pub(super) fn take(&self) -> bool {
        // Taken already when a failed group runs again; the caller can no longer give it up then.
        self.leave_waiting_for(Self::TAKEN) || self.0.load(Ordering::Acquire) == Self::TAKEN
    }

    /// The caller gives the verb up; false when the writer has taken it.
    pub(super) fn give_up(&self) -> bool {
        self.leave_waiting_for(Self::GIVEN_UP)
    }

    fn leave_waiting_for(&self, next: u8) -> bool {
        let order = Ordering::AcqRel;
        self.0.compare_exchange(Self::WAITING, next, order, Ordering::Acquire).is_ok()
    }
}
