//! A bounded number of seats: who holds one may go on, and the end waits until all are free.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Seats to take. Clones share them.
#[derive(Clone, Debug)]
pub struct Seats {
    max: usize,
    room: Arc<Room>,
}

#[derive(Debug, Default)]
struct Room {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// One taken seat; free again when dropped.
#[derive(Debug)]
pub struct Seat(Arc<Room>);

impl Seats {
    /// Returns `max` free seats.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { max, room: Arc::default() }
    }

    /// Takes a seat, waiting at most `wait` for one.
    pub fn take(&self, wait: Duration) -> Option<Seat> {
        let mut taken = self.room.wait_while(wait, |taken| *taken >= self.max);
        if *taken >= self.max {
            return None;
        }
        *taken += 1;
        drop(taken);
        Some(Seat(Arc::clone(&self.room)))
    }

    /// Waits until all seats are free, or `wait` is over. Returns whether they are.
    pub fn wait_free(&self, wait: Duration) -> bool {
        *self.room.wait_while(wait, |taken| *taken > 0) == 0
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.freed.notify_all();
    }
}

impl Room {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(
        &self,
        wait: Duration,
        busy: impl Fn(&mut usize) -> bool,
    ) -> MutexGuard<'_, usize> {
        let waited = self.freed.wait_timeout_while(self.lock(), wait, busy);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_seats_than_there_are() {
        let seats = Seats::new(1);
        let seat = seats.take(Duration::ZERO).unwrap();
        assert!(seats.take(Duration::ZERO).is_none());
        assert!(!seats.wait_free(Duration::ZERO));
        drop(seat);
        assert!(seats.wait_free(Duration::ZERO));
        assert!(seats.take(Duration::ZERO).is_some());
    }
}
