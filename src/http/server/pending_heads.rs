//! Connections whose next head is due: new ones, and those between two requests. When a listener is full, the one
//! that has been waiting for the longest time is evicted, so that connections without a request cannot keep out one
//! that sends a request.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::runtime::mutex::lock;

/// The pending connections of one listener.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingHeads(Arc<Mutex<Pending>>);

/// By number, in the order in which their heads became due.
#[derive(Debug, Default)]
struct Pending {
    last: u64,
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// Whether the head of one connection is due. Dropping it removes the connection.
#[derive(Debug)]
pub(super) struct PendingHead {
    pending_heads: PendingHeads,
    /// Zero while no head is due. All of a connection runs on the runtime's one thread, so no ordering is needed.
    number: AtomicU64,
    /// Whether some of the head that is due has come.
    has_begun: AtomicBool,
    eviction: Arc<Notify>,
}

impl PendingHeads {
    /// Adds a connection, whose first head is due.
    pub(super) fn register(&self) -> PendingHead {
        let pending_heads = self.clone();
        let pending_head = PendingHead {
            pending_heads,
            number: 0.into(),
            has_begun: false.into(),
            eviction: Arc::default(),
        };
        pending_head.due();
        pending_head
    }

    /// Evicts the connection that has been pending for the longest time; returns whether there was one.
    pub(super) fn evict_oldest(&self) -> bool {
        // The oldest may have just ended by itself: its permit is free as well.
        self.lock().waiting.pop_first().map(|(_, eviction)| eviction.notify_one()).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        lock(&self.0)
    }
}

impl PendingHead {
    /// Notes that the next head is due, because the answer to the last request has been written.
    pub(super) fn due(&self) {
        if self.is_due() {
            return;
        }
        let mut pending = self.pending_heads.lock();
        pending.last += 1;
        let number = pending.last;
        pending.waiting.insert(number, Arc::clone(&self.eviction));
        drop(pending);
        self.has_begun.store(false, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
    }

    /// Notes that some of the head that is due has come.
    pub(super) fn begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Says whether a head is due of which nothing has come.
    pub(super) fn is_silent(&self) -> bool {
        self.is_due() && !self.has_begun.load(Ordering::Relaxed)
    }

    /// Notes that no head is due: the connection is not evicted.
    pub(super) fn not_due(&self) {
        let number = self.number.swap(0, Ordering::Relaxed);
        if number != 0 {
            self.pending_heads.lock().waiting.remove(&number);
        }
    }

    /// Says whether a head is due.
    fn is_due(&self) -> bool {
        self.number() != 0
    }

    /// Returns the number of the head that is due, which no other head has; zero when none is.
    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// Waits for the eviction.
    pub(super) async fn evicted(&self) {
        loop {
            self.eviction.notified().await;
            if self.is_due() {
                return;
            }
            // Its head came first, so another one makes room.
            let _any = self.pending_heads.evict_oldest();
        }
    }
}

impl Drop for PendingHead {
    fn drop(&mut self) {
        self.not_due();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_evicted(pending_head: &PendingHead) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(pending_head.evicted()).poll(&mut context).is_ready()
    }

    #[test]
    fn the_connection_that_has_been_pending_longest_is_evicted() {
        let pending_heads = PendingHeads::default();
        assert!(!pending_heads.evict_oldest());
        let [a, b, c] = [0; 3].map(|_| pending_heads.register());
        a.not_due();
        assert!(pending_heads.evict_oldest());
        assert!(!is_evicted(&a) && is_evicted(&b) && !is_evicted(&c));
        a.due();
        drop(b);
        assert!(pending_heads.evict_oldest());
        assert!(!is_evicted(&a) && is_evicted(&c), "its head has been due for a shorter time");
        drop((a, c));
        assert!(!pending_heads.evict_oldest());
    }

    #[test]
    fn a_head_that_comes_before_the_eviction_leaves_it_to_another_connection() {
        let pending_heads = PendingHeads::default();
        let [a, b] = [0; 2].map(|_| pending_heads.register());
        assert!(pending_heads.evict_oldest());
        a.not_due();
        assert!(!is_evicted(&a) && is_evicted(&b));
    }
}
