//! Durability: verbs, each exactly one transaction, speaking only the words of `domain`.
//!
//! A verb that returned `Ok` is on disk. A verb that returned `Err` changed nothing, with one
//! exception that is not returned at all: when the disk itself fails, the process ends unanswered,
//! because nothing can be known about what was written.
//!
//! All writes go through one thread that owns the one writing connection. It runs whatever has
//! queued up inside one transaction, one after the other, and answers only after the
//! commit has reached the disk: many verbs share one sync (group commit), and a lone caller waits for
//! nothing. Reads have a small pool of read-only connections. A verb never calls the outside, so no
//! transaction is ever open while the network is waited for; between two verbs a worker holds a
//! [`Claim`](crate::domain::lease::Claim), and the store compares its random id in every later write.
//!
//! Not taken: a trait for storage. There is one backend, and a throwaway file is a better test double
//! than a mock. What keeps a second backend possible is that no signature here mentions `SQLite`, and
//! `tests/it/store_contract.rs`, the exam any backend sits.

mod error;

mod sqlite;

pub use error::{Error, OpenError, Unavailable};
pub use sqlite::migrate::NEWEST_STEP;
pub use sqlite::{
    Attempt, Backlog, Closed, Detected, Health, Installation, JobRun, LeasePolicy, NewRelease,
    Observation, Options, Pending, Polled, ReconciliationItem, ReleaseRun, ReleaseRunDetail, Sli,
    Store, Swept, Ticks,
};
