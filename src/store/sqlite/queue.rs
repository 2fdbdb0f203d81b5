//! The bounded queue in front of the writer: two lanes, so that bulk work never delays what a peer
//! waits for.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::runtime::mutex::lock;

/// Which line a verb stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Lane {
    /// A caller waits: intake, claims, operators.
    Urgent,
    /// No caller waits: retention.
    Bulk,
}

/// Verbs that may wait in the urgent lane.
const URGENT_MAX: usize = 4_096;
/// Verbs that may wait in the bulk lane.
const BULK_MAX: usize = 16;

struct Lanes<T> {
    urgent: VecDeque<T>,
    bulk: VecDeque<T>,
    closed: bool,
}

/// A bounded queue of two lanes.
pub(in crate::store) struct CommandQueue<T> {
    lanes: Mutex<Lanes<T>>,
    filled: Condvar,
}

/// Why an item was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum PushError {
    /// The lane is full.
    Full,
    /// The queue is closed.
    Closed,
}

impl<T> CommandQueue<T> {
    pub(in crate::store) const fn new() -> Self {
        let lanes = Lanes { urgent: VecDeque::new(), bulk: VecDeque::new(), closed: false };
        Self { lanes: Mutex::new(lanes), filled: Condvar::new() }
    }

    /// Adds an item, or refuses at once.
    pub(in crate::store) fn push(&self, lane: Lane, item: T) -> Result<(), PushError> {
        {
            let mut lanes = lock(&self.lanes);
            if lanes.closed {
                return Err(PushError::Closed);
            }
            let (line, max) = match lane {
                Lane::Urgent => (&mut lanes.urgent, URGENT_MAX),
                Lane::Bulk => (&mut lanes.bulk, BULK_MAX),
            };
            // Refused instead of blocking: a thread that serves requests must not wait behind a slow disk.
            if line.len() >= max {
                return Err(PushError::Full);
            }
            line.push_back(item);
        }
        // After the lock is released, so that the writer does not wake only to wait for it.
        self.filled.notify_one();
        Ok(())
    }

    /// Says whether it takes nothing more.
    pub(in crate::store) fn is_closed(&self) -> bool {
        lock(&self.lanes).closed
    }

    /// Waits for items and takes up to `max` urgent ones and then one of the bulk lane; `None` when
    /// the queue is closed and empty.
    pub(in crate::store) fn take(&self, max: usize) -> Option<VecDeque<T>> {
        let lanes = lock(&self.lanes);
        let waited = self.filled.wait_while(lanes, |lanes| {
            lanes.urgent.is_empty() && lanes.bulk.is_empty() && !lanes.closed
        });
        let mut lanes = waited.unwrap_or_else(PoisonError::into_inner);
        let count = lanes.urgent.len().min(max);
        let mut batch: VecDeque<T> = lanes.urgent.drain(..count).collect();
        // One for each group, so that bulk work goes on under load and still adds at most one verb to a group.
        batch.extend(lanes.bulk.pop_front());
        drop(lanes);
        (!batch.is_empty()).then_some(batch)
    }

    /// Refuses whatever comes from now on; what waits can still be taken.
    pub(in crate::store) fn close(&self) {
        lock(&self.lanes).closed = true;
        self.filled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgent_goes_first_and_bulk_is_not_starved() {
        let queue = CommandQueue::new();
        for n in 0..3 {
            assert_eq!(queue.push(Lane::Bulk, 100 + n), Ok(()));
            assert_eq!(queue.push(Lane::Urgent, n), Ok(()));
        }
        assert_eq!(queue.take(2), Some(VecDeque::from([0, 1, 100])));
        assert_eq!(queue.take(2), Some(VecDeque::from([2, 101])));
        assert_eq!(queue.take(2), Some(VecDeque::from([102])));
    }

    #[test]
    fn a_full_lane_and_a_closed_queue_refuse_at_once() {
        let queue = CommandQueue::new();
        for n in 0..BULK_MAX {
            assert_eq!(queue.push(Lane::Bulk, n), Ok(()));
        }
        assert_eq!(queue.push(Lane::Bulk, 0), Err(PushError::Full));
        queue.close();
        assert_eq!(queue.push(Lane::Urgent, 0), Err(PushError::Closed));
        assert!(queue.take(1).is_some(), "what waits can still be taken");
    }
}
