//! The rules, and nothing else.
//!
//! Everything here is a value or a plain function from facts to an outcome. There is no store, no
//! clock, no network, no log and no randomness in this module: time and chance come in as arguments,
//! and what should happen goes out as data. That is why each rule can list all of its cases in a
//! file a person reads (`tests/data/outcomes`).
//!
//! A delivery becomes actions, actions become a job, a job becomes changes, changes bring outbox
//! messages, and what cannot be done becomes a dead letter. What was lost on the way is found and
//! repaired by the reconcilers. The relay, a person's open design file and what agents do in it, has
//! rules of its own. What is measured of all of it together comes last. The modules stand in that order.

pub mod time;

pub mod digest;
pub mod id;
pub mod repository;

pub mod delivery;

pub mod event;

pub mod lease;

pub mod page;

pub mod retry;

pub mod pace;

pub mod release;

pub mod job;

pub mod outbox;

pub mod operation;

pub mod dead_letter;

pub mod agent_card;
pub mod audit;

pub mod reconcile;

pub mod redelivery;

pub mod result;

pub mod relay;

pub mod slo;
