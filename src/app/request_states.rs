//! The key that seals the state of multi-round requests, and the record of states that were used.

use crate::app::{App, Error};
use crate::domain::time::Timestamp;

impl App {
    /// Returns the key that seals states, a secret; the same for every process at this database.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub fn request_state_key(&self) -> Result<[u8; 32], Error> {
        Ok(self.store.request_state_key()?)
    }

    /// Marks a state as used; returns whether it was not before.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; then it was not marked.
    pub fn use_request_state(&self, nonce: [u8; 12], expires_at: Timestamp) -> Result<bool, Error> {
        Ok(self.store.use_request_state(nonce, expires_at)?)
    }
}
