//! How many cards are checked at once. Checking needs no token, so it must not take the threads that
//! webhooks and operators need.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Requests whose cards are checked at once.
const CHECKS_MAX: usize = 2;
/// How long one more waits for its turn, holding its thread.
const WAIT: Duration = Duration::from_millis(100);

/// Turns to take.
#[derive(Debug, Default)]
pub struct Checks {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A turn; over when dropped.
pub(super) struct Turn<'a>(&'a Checks);

impl Checks {
    /// Takes a turn; nothing when none is to be had soon.
    pub(super) fn take(&self) -> Option<Turn<'_>> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_timeout_while(taken, WAIT, |taken| *taken >= CHECKS_MAX);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *taken >= CHECKS_MAX {
            return None;
        }
        *taken += 1;
        drop(taken);
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_turns_than_there_are() {
        let checks = Checks::default();
        let turns: Vec<_> = (0..CHECKS_MAX).map(|_| checks.take().unwrap()).collect();
        assert!(checks.take().is_none());
        drop(turns);
        assert!(checks.take().is_some());
    }
}
