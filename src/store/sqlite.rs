//! The store on `SQLite`. One type; its verbs stand in one file per noun, the SQL beside its bindings.
//!
//! A limit is bound as `LIMIT +:limit`: `SQLite` looks into a bare parameter there while it plans, and
//! then prepares the statement anew each time it is bound.

pub(super) mod migrate;

mod action;
mod agent_cards;
mod audit;
mod audit_list;
mod changes;
mod command;
mod connection;
mod dead_letters;
mod deliveries;
mod effect;
mod endings;
mod forge_limits;
mod installations;
mod jobs;
mod lease;
mod listing;
mod outbox;
mod progress;
mod queue;
mod reconciliation;
mod reconciliation_list;
mod redeliveries;
mod release_list;
mod releases;
mod results;
mod retention;
mod row;
mod settlement;
mod sli;
mod turns;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use r2d2_sqlite::SqliteConnectionManager;

use crate::domain::retry::RetryPolicy;
use crate::runtime::clock::Clock;
use crate::runtime::random::Ids;
use crate::store::error::{Error, OpenError, Unavailable};
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::connection::InUse;
use crate::store::sqlite::queue::Lane;
use crate::store::sqlite::writer::Writer;

pub use command::Pending;
pub use installations::Installation;
pub use jobs::{JobRun, NewRelease};
pub use reconciliation::{Closed, Detected, Observation, Polled};
pub use reconciliation_list::ReconciliationItem;
pub use release_list::{Attempt, ReleaseRun, ReleaseRunDetail};
pub use retention::{Backlog, Swept, Ticks};
pub use sli::Sli;
pub use writer::Health;

/// How a store is opened.
pub struct Options {
    /// The database file; its folder must exist.
    pub path: PathBuf,
    /// Read inside every write transaction.
    pub clock: Arc<dyn Clock>,
    /// Identifiers, claim ids and jitter.
    pub ids: Ids,
    /// Called once when the disk fails; must end the process, or a test notes it.
    pub on_fatal: Box<dyn Fn(&Error) + Send>,
}

/// How long a claim holds, and how often it may be tried.
#[derive(Clone, Copy, Debug)]
pub struct LeasePolicy {
    /// From the claim to its end.
    pub lease: Duration,
    /// Tries and delays.
    pub retry: RetryPolicy,
}

/// The store. Clones share it; the last one closes it.
#[derive(Clone)]
pub struct Store {
    clock: Arc<dyn Clock>,
    writer: Arc<Writer>,
    readers: r2d2::Pool<SqliteConnectionManager>,
    path: Arc<PathBuf>,
    /// Leases that were taken back.
    lease_expiries: Arc<AtomicU64>,
    _in_use: Arc<InUse>,
}

impl Store {
    /// Opens the store, creating and migrating the file when needed.
    ///
    /// # Errors
    /// When the file cannot be used as it must be; nothing is repaired silently.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let path = Arc::new(options.path);
        let (connection, in_use) = connection::open_writer(&path, options.clock.as_ref())?;
        let readers = connection::open_readers(&path)?;
        let (in_use, on_fatal) = (Arc::new(in_use), options.on_fatal);
        let clock = Arc::clone(&options.clock);
        let held = Arc::clone(&in_use);
        let writer = Writer::start(connection, held, options.clock, options.ids, on_fatal)
            .map_err(OpenError::Thread)?;
        Ok(Self {
            clock,
            writer: Arc::new(writer),
            readers,
            path,
            lease_expiries: Arc::default(),
            _in_use: in_use,
        })
    }

    /// Closes the store: what has queued up is finished, then the log is folded into the file. Returns
    /// whether that came within the time.
    pub fn close(&self, within: Duration) -> bool {
        self.writer.close(within)
    }

    /// Says how the last write went.
    #[must_use]
    pub fn health(&self) -> Health {
        self.writer.health()
    }

    /// Returns the size of the write-ahead log in bytes, by its name alone.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        let mut name = self.path.as_os_str().to_owned();
        name.push("-wal");
        std::fs::metadata(name).map_or(0, |metadata| metadata.len())
    }

    /// Hands the writer a verb that others wait for, and waits for its commit.
    fn write<T: Send + 'static>(
        &self,
        verb: impl Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.submit(Lane::Urgent, verb).wait()
    }

    /// Hands the writer a verb without waiting for it.
    fn submit<T: Send + 'static>(
        &self,
        lane: Lane,
        verb: impl Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Pending<T> {
        self.writer.submit(lane, verb)
    }

    /// Runs a query on a read-only connection.
    fn read<T>(
        &self,
        query: impl FnOnce(&rusqlite::Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let connection = self.readers.get().map_err(|_| Error::Unavailable(Unavailable::Busy))?;
        match query(&connection) {
            // A failed read loses nothing: the caller tries again, the writer decides about the disk.
            Err(Error::Fatal(_)) => Err(Error::Unavailable(Unavailable::Resources)),
            other => other,
        }
    }
}
