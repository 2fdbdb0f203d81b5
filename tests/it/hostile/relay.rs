//! Peers of the relay that mean harm, and moments that do: two processes, a store that fails, a stop.

mod cards;
mod frames;
mod hub;
mod limits;
mod peer;
mod sessions;
mod sockets;
