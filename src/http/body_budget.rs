//! How many bytes of bodies a listener holds: those that arrive, and those that wait for their peers to
//! take them. There is a bound on all of them, a lower one on large ones, so that small ones always find room,
//! and one on each client's, so that none can take everything. What lasts, events and messages, has a budget of
//! its own.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::runtime::mutex::lock;

/// A body up to this size is small.
pub(super) const SMALL: usize = 64 << 10;
/// One in so many bytes is only for small bodies (docs/decisions/95-idle-connections.md).
const RESERVED_PART: usize = 8;

/// The bounds, and what is held.
#[derive(Debug)]
pub(super) struct BodyBudget {
    max: usize,
    per_client_max: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    of: HashMap<IpAddr, usize>,
}

/// Bytes that are in use; given back when dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: Arc<BodyBudget>,
    /// `None` when the client is a trusted proxy, behind which are many.
    client: Option<IpAddr>,
    /// Most bytes that all may hold after this one has grown.
    max: usize,
    bytes: usize,
}

impl BodyBudget {
    /// Returns a bound of `max` bytes, `per_client_max` of them for each client.
    pub(super) fn new(max: usize, per_client_max: usize) -> Self {
        Self { max, per_client_max, held: Mutex::default() }
    }

    /// Returns the reservation of a client, of no bytes yet.
    pub(super) fn reserve(self: &Arc<Self>, client: Option<IpAddr>) -> Reservation {
        Reservation { budget: Arc::clone(self), client, max: self.max, bytes: 0 }
    }

    /// Returns the reservation of a client for a body of `length` bytes, none of which are reserved yet.
    pub(super) fn reserve_body(
        self: &Arc<Self>,
        client: Option<IpAddr>,
        length: usize,
    ) -> Reservation {
        let reserved = if length <= SMALL { 0 } else { self.max / RESERVED_PART };
        Reservation { budget: Arc::clone(self), client, max: self.max - reserved, bytes: 0 }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }
}

impl Reservation {
    /// Reserves so many bytes more; false, and as many as before, when there is no room for them.
    #[must_use]
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        self.bytes.checked_add(bytes).is_some_and(|bytes| self.resize(bytes))
    }

    /// Reserves so many bytes in all; false, and as many as before, when there is no room for them.
    #[must_use]
    pub(super) fn resize(&mut self, bytes: usize) -> bool {
        let mut held = self.budget.held();
        let all = held.all - self.bytes + bytes;
        let of_client = self.client.map(|it| held.of.get(&it).copied().unwrap_or_default());
        let of_client = of_client.map(|held| held - self.bytes + bytes);
        let fits =
            all <= self.max && of_client.is_none_or(|held| held <= self.budget.per_client_max);
        if bytes > self.bytes && !fits {
            return false;
        }
        held.all = all;
        if let (Some(client), Some(of_client)) = (self.client, of_client) {
            if of_client == 0 {
                // The table would otherwise grow with every address that ever sent a body.
                held.of.remove(&client);
            } else {
                held.of.insert(client, of_client);
            }
        }
        self.bytes = bytes;
        true
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let _fits = self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_part_and_leaves_the_others_theirs() {
        let budget = Arc::new(BodyBudget::new(10, 4));
        let [one, other] = [1, 2].map(|last| Some(IpAddr::from([192, 0, 2, last])));
        let (mut first, mut second) = (budget.reserve(one), budget.reserve(one));
        assert!(first.grow(3) && !second.grow(2) && second.grow(1) && !second.grow(usize::MAX));
        assert!(!second.resize(2) && second.resize(0) && second.resize(1));
        let (mut third, mut proxy) = (budget.reserve(other), budget.reserve(None));
        assert!(third.grow(4) && proxy.grow(2) && !proxy.grow(1), "ten are all");
        drop((second, third));
        assert!(proxy.grow(5) && !first.grow(1));
        drop((first, proxy));
        let held = budget.held();
        assert!(held.all == 0 && held.of.is_empty(), "{held:?}");
    }

    #[test]
    fn a_large_body_leaves_room_for_small_ones() {
        let budget = Arc::new(BodyBudget::new(16 * SMALL, 16 * SMALL));
        let mut large = budget.reserve_body(None, SMALL + 1);
        assert!(large.grow(14 * SMALL) && !large.grow(1));
        let mut small = [0; 2].map(|_| budget.reserve_body(None, SMALL));
        assert!(small.iter_mut().all(|small| small.grow(SMALL)));
        assert!(!budget.reserve(None).grow(1));
    }
}
