//! Tokens that were verified, by their digests. Pure: the time is an argument.
//!
//! They are kept in two generations. When the younger one is full, or as old as its entries may get, it becomes
//! the elder one, and the elder one is dropped with all it holds. So nothing is ever searched for entries that
//! are over, and memory is bounded.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::REMEMBERED;
use crate::auth::access_token;
use crate::crypto::jose::key_set::KeySet;
use crate::domain::digest::Digest;

/// Most tokens of one generation.
const GENERATION_MAX: usize = 5_000;

/// The tokens.
#[derive(Default)]
pub(super) struct Cache {
    younger: HashMap<Digest, Entry>,
    elder: HashMap<Digest, Entry>,
    /// When the younger generation began.
    began_at: Duration,
}

/// A token that was verified.
pub(super) struct Entry {
    pub(super) caller: Arc<access_token::Caller>,
    pub(super) key_id: String,
    /// Among which its key was.
    pub(super) keys: Arc<KeySet>,
    /// When it is forgotten.
    pub(super) until: Duration,
}

impl Cache {
    /// Returns a token that is not over yet.
    pub(super) fn get(&self, token: &Digest, now: Duration) -> Option<&Entry> {
        let entry = self.younger.get(token).or_else(|| self.elder.get(token));
        entry.filter(|entry| now < entry.until)
    }

    /// Remembers a token.
    pub(super) fn insert(&mut self, token: Digest, entry: Entry, now: Duration) {
        let is_old = now.saturating_sub(self.began_at) >= REMEMBERED;
        if is_old || self.younger.len() >= GENERATION_MAX {
            self.elder = std::mem::take(&mut self.younger);
            self.began_at = now;
        }
        self.younger.insert(token, entry);
    }
}

impl Entry {
    /// Says whether its key is still one of the issuer's.
    pub(super) fn holds_with(&self, current: &Arc<KeySet>) -> bool {
        let id = self.key_id.as_str();
        // The usual case: the keys were not fetched again.
        Arc::ptr_eq(&self.keys, current)
            // An issuer may give the id to another key, so the keys themselves are compared.
            || current.get(id).is_some_and(|key| self.keys.get(id) == Some(key))
    }
}
