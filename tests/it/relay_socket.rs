//! The relay of the real `svcd` over real sockets: plugins that are honest and plugins that are not, agents, and what
//! each of them is told.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper of a test fails like the test it helps"
)]

mod operator;
mod world;

mod away;
mod calls;
mod codes;
mod decisions;
mod demo;
mod files;
mod frames;
mod handshake;
mod kill;
mod processes;
mod proofs;
mod results;
mod slow;
mod steps;
mod withdrawals;
