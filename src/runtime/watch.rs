//! The latest of something that one thread makes and others look at.

use std::sync::{Arc, Mutex};

use crate::runtime::mutex::lock;

/// A place for one value. Clones share it.
#[derive(Debug)]
pub struct Watch<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Watch<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Watch<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone> Watch<T> {
    /// Puts a value in the place of the one before.
    pub fn set(&self, value: T) {
        *lock(&self.0) = Some(value);
    }

    /// Returns the value; nothing until there is one.
    #[must_use]
    pub fn get(&self) -> Option<T> {
        lock(&self.0).clone()
    }
}
