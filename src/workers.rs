//! Loops on named threads.
//!
//! A worker is a step: it looks, does a bounded amount, and says whether there is more. It takes no
//! input: whether it was woken, or looks by itself, is the same to it, so a lost wake-up costs time and
//! nothing else.

pub mod driver;

mod gate;

pub mod jobs;

pub mod outbox;

pub mod reconcile;

pub mod redelivery;

pub mod shares;

pub mod slo;

pub mod sweep;
