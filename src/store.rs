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
//! The store is in layers, and `tests/it/tidy.rs` holds their order. `verbs` are what callers see; `rows` is
//! what they share; both run their statements through `sql`, a narrow interface of ours; `sqlite` is the
//! engine behind it, and alone names the engine's crates. `types` are what verbs take and return.
//!
//! Not taken: a trait for storage. There is one engine, and a throwaway file is a better test double
//! than a mock. A second one is a neighbour of `sqlite`, and has to pass `tests/it/store_contract.rs`.
//!
//! See `docs/decisions/02-store-layers.md`.

mod error;
mod list;

mod rows;
mod sql;
mod sqlite;
mod types;
mod verbs;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::runtime::clock::Clock;
use crate::runtime::histogram::Histogram;
use crate::runtime::random::Ids;
use crate::store::sql::{Db, Tx};
use crate::store::sqlite::checkpoint::Checkpoints;
use crate::store::sqlite::in_use::InUse;
use crate::store::sqlite::queue::Lane;
use crate::store::sqlite::readers::Readers;
use crate::store::sqlite::writer::Writer;

pub use error::{Error, Fatal, OpenError, Unavailable};
pub use list::List;
pub use sqlite::command::Pending;
pub use sqlite::migrate::NEWEST_STEP;
pub use types::relay;
pub use types::{
    Backlog, Closed, Detected, Health, JobRun, LeasePolicy, LogRules, NewRelease, Observation,
    OnOpening, Opening, Polled, ReleaseRunDetail, ReleasesSwept, Sli, StoreSize, Swept, Ticks,
};

/// How a store is opened.
pub struct Options {
    /// The database file; its folder must exist.
    pub path: PathBuf,
    /// Read inside every write transaction.
    pub clock: Arc<dyn Clock>,
    /// Identifiers, claim ids and jitter.
    pub ids: Ids,
    /// Called when the disk fails; must end the process, or a test notes it.
    pub on_fatal: Box<dyn Fn(&Error) + Send + Sync>,
    /// Called while the file is checked after a crash, and when its schema is migrated.
    pub on_opening: OnOpening,
    /// How the write-ahead log is kept short.
    pub log: LogRules,
}

/// The store. Clones share it; the last one closes it.
#[derive(Clone)]
pub struct Store {
    clock: Arc<dyn Clock>,
    writer: Arc<Writer>,
    readers: Readers,
    path: Arc<PathBuf>,
    /// Leases that were taken back.
    lease_expiries: Arc<AtomicU64>,
    /// How long claimed jobs had been due.
    job_waits: Arc<Histogram>,
    relay_claims: rows::relay::claims::Claims,
    in_use: Arc<InUse>,
    checkpoints: Arc<Checkpoints>,
}

impl Store {
    /// Opens the store, creating and migrating the file when needed.
    ///
    /// # Errors
    /// When the file cannot be used as it must be; nothing is repaired silently.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let path = options.path.clone();
        Self::open_file(options).map_err(|error| sqlite::place::sort_open(error, &path))
    }

    fn open_file(options: Options) -> Result<Self, OpenError> {
        let path = Arc::new(options.path);
        let (log, clock) = (options.log, Arc::clone(&options.clock));
        let (connection, in_use) =
            sqlite::connection::open_writer(&path, &clock, &options.on_opening, log)?;
        let readers = Readers::open(&path)?;
        let checkpointer = sqlite::connection::open(&path, log)?;
        let checkpoints =
            Checkpoints::start(checkpointer, log, PathBuf::clone(&path), options.on_fatal)
                .map_err(OpenError::Thread)?;
        let in_use = Arc::new(in_use);
        let (held, shared) = (Arc::clone(&in_use), Arc::clone(&checkpoints));
        let writer = Writer::start(connection, held, options.clock, options.ids, shared)
            .map_err(OpenError::Thread)?;
        Ok(Self {
            clock,
            writer: Arc::new(writer),
            readers,
            path,
            lease_expiries: Arc::default(),
            job_waits: Arc::default(),
            relay_claims: rows::relay::claims::Claims::default(),
            in_use,
            checkpoints,
        })
    }

    /// Closes the store: what has queued up is finished, then the log is folded into the file. Returns
    /// whether that came within the time.
    pub fn close(&self, within: Duration) -> bool {
        self.writer.close(within)
    }

    /// Checkpoints now, as the store's own thread does again and again.
    ///
    /// # Errors
    /// When the log could not be copied into the file. Nothing is lost.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.checkpoints.step()
    }

    /// Says how the last write went.
    #[must_use]
    pub fn health(&self) -> Health {
        self.writer.health()
    }

    /// Returns the size of the write-ahead log in bytes, by its name alone.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.in_use.log_bytes()
    }

    /// Returns the name of the file system of the database, if it is a copy-on-write one.
    #[must_use]
    pub fn copy_on_write(&self) -> Option<&'static str> {
        sqlite::place::copy_on_write(&self.path)
    }

    /// Returns the bytes that are left for us where the file is; `None` if the system does not say.
    fn disk_free_bytes(&self) -> Option<u64> {
        sqlite::place::disk_free_bytes(&self.path)
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
    fn read<T>(&self, query: impl FnOnce(&Db<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.readers.read(query)
    }
}
