//! The verbs of the relay. Those that are called for a socket name the epoch in which it was accepted, and change nothing
//! once another socket was accepted. What is to be done after the commit is returned as
//! [`Effects`](crate::store::relay::Effects), and may be lost with the process.

mod allowances;
mod audit;
mod decisions;
mod devices;
mod expiry;
mod invocations;
mod keys;
mod lists;
mod pairings;
mod processes;
mod proposals;
mod sessions;
mod status;
