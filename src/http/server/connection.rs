//! What a connection over TCP holds until it ends, which for a WebSocket is long after hyper has let go of it.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use super::client_limits::ClientSlot;
use super::targets::Targets;
use super::timeout_stream::Phase;
use crate::runtime::keyed_semaphore::KeyedPermit;

#[derive(Debug)]
pub(super) struct Connection {
    /// Where it comes from.
    pub(super) peer: IpAddr,
    /// Whether a head is due.
    pub(super) phase: Phase,
    /// What was read of its requests.
    pub(super) targets: Arc<Targets>,
    /// One of its client's slots, one of its peer's places, and one of its listener's permits.
    _held: (ClientSlot, KeyedPermit<IpAddr>, OwnedSemaphorePermit),
}

impl Connection {
    /// Returns a connection whose first head is due.
    pub(super) fn new(
        peer: IpAddr,
        slot: ClientSlot,
        place: KeyedPermit<IpAddr>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        let (phase, targets) = (Phase::default(), Arc::new(Targets::new()));
        Self { peer, phase, targets, _held: (slot, place, permit) }
    }
}
