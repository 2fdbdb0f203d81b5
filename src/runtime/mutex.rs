//! Locking a mutex whatever happened to an earlier holder.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also one that a panicking thread left poisoned.
///
/// For values that are whole after every statement, so that a panic in between leaves nothing half-done;
/// refusing to go on would turn one lost request into a daemon that no longer answers.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
