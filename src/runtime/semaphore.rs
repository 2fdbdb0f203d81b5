//! A counting semaphore: a permit lets its holder go on, and a stop waits until all are back.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::runtime::mutex::lock;

/// A bounded number of permits. Clones share them.
#[derive(Clone, Debug)]
pub struct Semaphore {
    max: usize,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    taken: Mutex<usize>,
    returned: Condvar,
}

/// The right to go on; given back when dropped.
#[derive(Debug)]
pub struct Permit(Arc<Shared>);

impl Semaphore {
    /// Returns a semaphore of `max` permits.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { max, shared: Arc::default() }
    }

    /// Takes a permit, waiting at most `wait` for one.
    pub fn take(&self, wait: Duration) -> Option<Permit> {
        let mut taken = self.shared.wait_while(wait, |taken| *taken >= self.max);
        // A timeout and a returned permit can coincide; the guard is still held, so this decides.
        if *taken >= self.max {
            return None;
        }
        *taken += 1;
        drop(taken);
        Some(Permit(Arc::clone(&self.shared)))
    }

    /// Waits at most `wait` until no permit is taken. Returns whether none is.
    pub fn wait_free(&self, wait: Duration) -> bool {
        *self.shared.wait_while(wait, |taken| *taken > 0) == 0
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *lock(&self.0.taken) -= 1;
        // All of them: `take` and `wait_free` wait for different conditions.
        self.0.returned.notify_all();
    }
}

impl Shared {
    fn wait_while(
        &self,
        wait: Duration,
        busy: impl Fn(&mut usize) -> bool,
    ) -> MutexGuard<'_, usize> {
        let waited = self.returned.wait_timeout_while(lock(&self.taken), wait, busy);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_permits_than_there_are() {
        let semaphore = Semaphore::new(1);
        let permit = semaphore.take(Duration::ZERO).unwrap();
        assert!(semaphore.take(Duration::ZERO).is_none());
        assert!(!semaphore.wait_free(Duration::ZERO));
        drop(permit);
        assert!(semaphore.wait_free(Duration::ZERO));
        assert!(semaphore.take(Duration::ZERO).is_some());
    }
}
