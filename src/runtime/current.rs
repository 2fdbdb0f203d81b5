//! A value that is replaced while others use it.

use std::sync::{Arc, Mutex};

use crate::runtime::mutex::lock;

/// A place for one value. One who has taken it keeps that one, whatever is put there later.
#[derive(Debug)]
pub struct Current<T>(Mutex<Arc<T>>);

impl<T> Current<T> {
    /// Returns a place with a value.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(Mutex::new(Arc::new(value)))
    }

    /// Returns the value.
    #[must_use]
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&lock(&self.0))
    }

    /// Puts a value in the place of the one before.
    pub fn set(&self, value: T) {
        *lock(&self.0) = Arc::new(value);
    }
}
