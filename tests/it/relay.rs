//! The rules of the relay: what holds of any single decision, and of long random walks through all of them.

mod properties;
mod walk;
