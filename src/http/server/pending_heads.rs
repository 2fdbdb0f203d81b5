//! Connections that have not yet sent their first head. When a listener is full, the oldest of them is evicted, so
//! that connections which stay silent cannot keep out one that sends a request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::runtime::mutex::lock;

/// The pending connections of one listener.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingHeads(Arc<Mutex<Pending>>);

/// By number, in the order in which they were accepted.
#[derive(Debug, Default)]
struct Pending {
    last: u64,
    waiting: BTreeMap<u64, Sender<()>>,
}

/// A pending connection. Dropping it removes it.
#[derive(Debug)]
pub(super) struct PendingHead {
    pending_heads: PendingHeads,
    number: u64,
}

/// Signals the eviction of a pending connection.
#[derive(Debug)]
pub(super) struct Eviction(Receiver<()>);

impl PendingHeads {
    /// Adds a connection.
    pub(super) fn register(&self) -> (PendingHead, Eviction) {
        let (sender, receiver) = channel();
        let mut pending = self.lock();
        pending.last += 1;
        let number = pending.last;
        pending.waiting.insert(number, sender);
        drop(pending);
        (PendingHead { pending_heads: self.clone(), number }, Eviction(receiver))
    }

    /// Evicts the oldest pending connection; returns whether there was one.
    pub(super) fn evict_oldest(&self) -> bool {
        // The oldest may have just ended by itself: its permit is free as well.
        self.lock().waiting.pop_first().map(|(_, sender)| sender.send(())).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        lock(&self.0)
    }
}

impl PendingHead {
    /// Notes that the first head has been received: the connection is no longer evicted.
    pub(super) fn head_received(&self) {
        self.pending_heads.lock().waiting.remove(&self.number);
    }
}

impl Drop for PendingHead {
    fn drop(&mut self) {
        self.head_received();
    }
}

impl Eviction {
    /// Waits for the eviction; forever once the first head has been received.
    pub(super) async fn evicted(self) {
        // The sender is dropped, and sends nothing, when the head was received: that is no eviction.
        if self.0.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_pending_connection_is_evicted() {
        let pending_heads = PendingHeads::default();
        assert!(!pending_heads.evict_oldest());
        let [mut a, mut b, mut c] = [0; 3].map(|_| pending_heads.register());
        a.0.head_received();
        assert!(pending_heads.evict_oldest());
        assert!(a.1.0.try_recv().is_err());
        assert_eq!(b.1.0.try_recv(), Ok(()));
        drop(c.0);
        assert!(c.1.0.try_recv().is_err());
        assert!(!pending_heads.evict_oldest());
    }
}
