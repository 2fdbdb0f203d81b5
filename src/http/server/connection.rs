//! What a connection over TCP holds until it ends, which for a WebSocket is long after hyper has let go of it.

use std::net::IpAddr;

use tokio::sync::OwnedSemaphorePermit;

use super::peers::Place;
use super::stall::Turns;

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// Where it comes from.
    pub(super) peer: IpAddr,
    /// Whose turn it is.
    pub(super) turns: Turns,
    /// One of its peer's connections, and one of its door's.
    _held: (Place, OwnedSemaphorePermit),
}

impl Connection {
    /// Returns a connection whose peer has the turn.
    pub(super) fn new(peer: IpAddr, place: Place, permit: OwnedSemaphorePermit) -> Self {
        Self { peer, turns: Turns::default(), _held: (place, permit) }
    }
}
