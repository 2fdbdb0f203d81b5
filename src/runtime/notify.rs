//! Waiting: for news, for a time, or for the end.
//!
//! A [`Notify`] counts notifications. Who waits notes the count *before* looking for work and waits
//! only while it has not moved; so news that arrives between the check and the wait is never lost.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::runtime::mutex::lock;

#[derive(Debug, Default)]
struct State {
    count: u64,
    stopped: bool,
}

/// A counter of notifications one can wait on. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Notify(Arc<(Mutex<State>, Condvar)>);

impl Notify {
    /// Returns a counter at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells everybody who waits that there may be news.
    pub fn notify(&self) {
        self.change(|state| state.count += 1);
    }

    /// Tells everybody to stop; every later wait returns at once.
    pub fn stop(&self) {
        self.change(|state| state.stopped = true);
    }

    /// Returns the count to wait from. Take it before looking for work.
    #[must_use]
    pub fn count(&self) -> u64 {
        lock(&self.0.0).count
    }

    /// Says whether the end was asked for.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        lock(&self.0.0).stopped
    }

    /// Waits until the count differs from `seen`, the end is asked for, or `timeout` is over.
    pub fn wait(&self, seen: u64, timeout: Duration) {
        let state = lock(&self.0.0);
        // Poisoning and a timeout are the same to the caller: it looks for work in either case.
        drop(
            self.0
                .1
                .wait_timeout_while(state, timeout, |state| state.count == seen && !state.stopped),
        );
    }

    /// Waits for `timeout`, or less when the end is asked for. Returns whether the time is over.
    #[must_use]
    pub fn pause(&self, timeout: Duration) -> bool {
        let state = lock(&self.0.0);
        let waited = self.0.1.wait_timeout_while(state, timeout, |state| !state.stopped);
        !waited.unwrap_or_else(PoisonError::into_inner).0.stopped
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        // The guard is dropped at the end of this statement, so that woken threads need not wait for it.
        change(&mut lock(&self.0.0));
        // All of them: `wait` and `pause` wait for different conditions, and a single wake-up could go to the wrong
        // one.
        self.0.1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_between_look_and_wait_is_not_lost() {
        let notify = Notify::new();
        let seen = notify.count();
        notify.notify();
        notify.wait(seen, Duration::from_secs(3_600));
    }

    #[test]
    fn the_end_stops_every_wait() {
        let notify = Notify::new();
        assert!(notify.pause(Duration::ZERO));
        notify.stop();
        notify.wait(notify.count(), Duration::from_secs(3_600));
        assert!(!notify.pause(Duration::from_secs(3_600)));
    }
}
