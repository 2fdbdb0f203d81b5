//! What a connection over TCP holds until it ends, which for a WebSocket is long after hyper has let go of it.

use std::net::IpAddr;

use tokio::sync::OwnedSemaphorePermit;

use super::client_limits::ClientSlot;
use super::timeout_stream::Phase;

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// Where it comes from.
    pub(super) peer: IpAddr,
    /// Whether a head is due.
    pub(super) phase: Phase,
    /// One of its client's slots, and one of its listener's permits.
    _held: (ClientSlot, OwnedSemaphorePermit),
}

impl Connection {
    /// Returns a connection whose first head is due.
    pub(super) fn new(peer: IpAddr, slot: ClientSlot, permit: OwnedSemaphorePermit) -> Self {
        Self { peer, phase: Phase::default(), _held: (slot, permit) }
    }
}
