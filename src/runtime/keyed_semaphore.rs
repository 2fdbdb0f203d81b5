//! A counting semaphore with permits for each of many keys, so that none of them takes everything.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use crate::runtime::mutex::lock;

/// A bounded number of permits for each key. Keys that hold none take no memory.
#[derive(Debug)]
pub struct KeyedSemaphore<K>(Arc<Mutex<HashMap<K, usize>>>);

/// The right of a key to go on; given back when dropped.
#[derive(Debug)]
pub struct KeyedPermit<K: Eq + Hash> {
    taken: Arc<Mutex<HashMap<K, usize>>>,
    key: K,
}

impl<K> Default for KeyedSemaphore<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Clone + Eq + Hash> KeyedSemaphore<K> {
    /// Takes a permit, unless the key has `max` of them. Never waits.
    pub fn take(&self, key: K, max: usize) -> Option<KeyedPermit<K>> {
        let mut all = lock(&self.0);
        let taken = all.get(&key).copied().unwrap_or_default();
        if taken >= max {
            return None;
        }
        all.insert(key.clone(), taken + 1);
        drop(all);
        Some(KeyedPermit { taken: Arc::clone(&self.0), key })
    }

    /// Says whether the key has a permit.
    #[must_use]
    pub fn holds(&self, key: &K) -> bool {
        lock(&self.0).contains_key(key)
    }
}

impl<K: Eq + Hash> Drop for KeyedPermit<K> {
    fn drop(&mut self) {
        let mut all = lock(&self.taken);
        if let Some(taken) = all.get_mut(&self.key) {
            *taken -= 1;
            if *taken == 0 {
                all.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_permits_and_none_is_kept_in_memory_for_nothing() {
        let semaphore = KeyedSemaphore::default();
        let held = [semaphore.take("one", 2).unwrap(), semaphore.take("one", 2).unwrap()];
        assert!(semaphore.take("one", 2).is_none());
        assert!(semaphore.holds(&"one") && !semaphore.holds(&"other"));
        assert!(semaphore.take("other", 0).is_none());
        let other = semaphore.take("other", 1).unwrap();
        drop(held);
        assert!(semaphore.take("one", 1).is_some());
        drop(other);
        assert!(semaphore.0.lock().unwrap().is_empty());
    }
}
