//! The one writer: a thread that owns the writing connection and commits in groups.
//!
//! It answers a verb only after the commit. What it does when something fails is the promise of this
//! file: a verb's own error rolls back that verb alone, at the price of running its group again; an error that made the database drop the whole
//! transaction, or a failed commit, makes every verb of the group unavailable; a failing disk ends
//! the process without an answer.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;

use crate::domain::time::Timestamp;
use crate::runtime::clock::Clock;
use crate::runtime::histogram::Histogram;
use crate::runtime::mutex::lock;
use crate::runtime::random::Ids;
use crate::runtime::thread;
use crate::store::error::{Error, Unavailable};
use crate::store::sqlite::checkpoint::Checkpoints;
use crate::store::sqlite::command::{self, ANSWER_WAIT_MAX, Command, Failure, Pending};
use crate::store::sqlite::in_use::InUse;
use crate::store::sqlite::migrate;
use crate::store::sqlite::place;
use crate::store::sqlite::queue::{CommandQueue, Lane, PushError};
use crate::store::sqlite::statement::{Db, Tx};
use crate::store::types::Health;

/// Verbs in one transaction at most.
const GROUP_MAX: usize = 256;
/// A group that has run for so long is committed before the rest goes on.
const GROUP_TIME_MAX: Duration = Duration::from_millis(50);

/// What the writer thread and its callers share.
struct Shared {
    queue: CommandQueue<Box<dyn Command>>,
    /// 0 while writes succeed, else one more than the reason's place in [`Unavailable::ALL`].
    failing: AtomicU8,
    /// Group commits so far.
    commits: AtomicU64,
    /// How long each group took: waiting for the lock, the verbs, the commit.
    took: Histogram,
}

/// Handle to the writer thread.
pub(in crate::store) struct Writer {
    shared: Arc<Shared>,
    /// Disconnects when the thread has ended.
    ended: Mutex<Receiver<Infallible>>,
}

impl Writer {
    pub(in crate::store) fn start(
        connection: Connection,
        in_use: Arc<InUse>,
        clock: Arc<dyn Clock>,
        ids: Ids,
        checkpoints: Arc<Checkpoints>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: CommandQueue::new(),
            failing: AtomicU8::new(0),
            commits: AtomicU64::new(0),
            took: Histogram::default(),
        });
        let body = Loop {
            connection,
            in_use,
            clock,
            ids,
            checkpoints,
            log_bytes: 0,
            shared: Arc::clone(&shared),
        };
        let (ending, ended) = channel();
        thread::spawn("store-writer", move || {
            body.run();
            // Nothing is ever sent: the disconnect is the signal, and a panic that unwinds gives it as well.
            drop(ending);
        })?;
        Ok(Self { shared, ended: Mutex::new(ended) })
    }

    pub(in crate::store) fn submit<T: Send + 'static>(
        &self,
        lane: Lane,
        verb: impl Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Pending<T> {
        let (call, waiting) = command::call(verb);
        Pending(match self.shared.queue.push(lane, call) {
            Ok(()) => Ok(waiting),
            Err(PushError::Full) => Err(Unavailable::Overloaded),
            Err(PushError::Closed) => Err(Unavailable::Closed),
        })
    }

    pub(in crate::store) fn health(&self) -> Health {
        let place = usize::from(self.shared.failing.load(Ordering::Relaxed));
        match place.checked_sub(1).and_then(|place| Unavailable::ALL.get(place)) {
            Some(reason) => Health::Failing(*reason),
            None => Health::Ok,
        }
    }

    pub(in crate::store) fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }

    pub(in crate::store) fn took(&self) -> &Histogram {
        &self.shared.took
    }

    /// Takes nothing more and waits until what has queued up is done. Returns whether that came
    /// within the time; otherwise the thread is left behind, and its answers go on being true.
    pub(in crate::store) fn close(&self, within: Duration) -> bool {
        self.shared.queue.close();
        let ended = lock(&self.ended);
        ended.recv_timeout(within) == Err(RecvTimeoutError::Disconnected)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Who has closed it has waited as long as they wanted.
        if !self.shared.queue.is_closed() {
            self.close(ANSWER_WAIT_MAX);
        }
    }
}

/// How a group runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Savepoints {
    /// As if nothing failed, which saves a copy of every page each verb changes.
    None,
    /// So that a verb can be rolled back alone.
    EachVerb,
}

/// Why a group did not commit.
enum Undone {
    /// One of its verbs failed and cannot be rolled back alone.
    Verb,
    /// The work of all verbs is undone.
    Group(Error),
}

impl<E: Into<Error>> From<E> for Undone {
    fn from(error: E) -> Self {
        Self::Group(error.into())
    }
}

/// A group that is on disk.
#[derive(Default)]
struct Committed {
    /// Why one of its verbs is not, when the store could not do it.
    unable: Option<Unavailable>,
    /// It changed something: a COMMIT without changes writes nothing and succeeds on a full disk too.
    wrote: bool,
}

/// The thread's side.
struct Loop {
    connection: Connection,
    in_use: Arc<InUse>,
    clock: Arc<dyn Clock>,
    ids: Ids,
    checkpoints: Arc<Checkpoints>,
    /// After the last commit.
    log_bytes: u64,
    shared: Arc<Shared>,
}

impl Loop {
    fn run(mut self) {
        let is_sound = self.serve();
        // SQLite lets one connection checkpoint at a time.
        self.checkpoints.close();
        if is_sound {
            // Folding the log is a courtesy to the next start: it is complete and durable as it is.
            drop(self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
        }
    }

    /// Runs verbs until the queue is closed. Returns false when the disk failed before.
    fn serve(&mut self) -> bool {
        while let Some(mut waiting) = self.shared.queue.take(GROUP_MAX) {
            while !waiting.is_empty() {
                let mut group = Vec::with_capacity(waiting.len());
                let began = self.clock.monotonic();
                let outcome = self.commit(&mut waiting, &mut group);
                self.shared.took.observe(self.clock.monotonic().saturating_sub(began));
                self.note_outcome(&outcome);
                if let Err(fatal @ Error::Fatal(_)) = outcome {
                    return self.end(&fatal);
                }
                self.answer(group, outcome);
                // Anything else than a failing disk is met again by the thread that asked for it.
                if let Err(fatal @ Error::Fatal(_)) = self.checkpoints.finish(&self.connection) {
                    return self.end(&fatal);
                }
            }
        }
        true
    }

    /// Returns, as false, only where `on_fatal` does not end the process, as in tests: the group gets no answer.
    fn end(&self, fatal: &Error) -> bool {
        self.checkpoints.fail(fatal);
        self.shared.queue.close();
        false
    }

    /// Keeps how the last write went. A group that changed nothing needed no disk, so its success
    /// says nothing about one that failed.
    fn note_outcome(&self, outcome: &Result<Committed, Error>) {
        let reason = match outcome {
            Ok(Committed { unable: None, wrote: false }) => return,
            Ok(Committed { unable, .. }) => *unable,
            Err(error) => Some(reason(error)),
        };
        let place = Unavailable::ALL.iter().position(|other| Some(*other) == reason);
        let failing = place.map_or(0, |place| u8::try_from(place + 1).unwrap_or(u8::MAX));
        self.shared.failing.store(failing, Ordering::Relaxed);
    }

    fn answer(&self, group: Vec<Box<dyn Command>>, outcome: Result<Committed, Error>) {
        let outcome = outcome.map(|_| ()).map_err(|error| reason(&error));
        if outcome.is_ok() {
            self.shared.commits.fetch_add(1, Ordering::Relaxed);
        }
        for command in group {
            command.answer(outcome);
        }
    }

    /// Runs verbs from `waiting` in one transaction, moving each that ran, or would have, to `group`.
    fn commit(
        &mut self,
        waiting: &mut VecDeque<Box<dyn Command>>,
        group: &mut Vec<Box<dyn Command>>,
    ) -> Result<Committed, Error> {
        // A savepoint copies every page it changes, and hardly any verb fails: `docs/decisions/01-one-writer.md`.
        let mut result = self.transact(Savepoints::None, waiting, group);
        if matches!(result, Err(Undone::Verb)) {
            self.roll_back();
            // Back in their order: the second run must do what the first would have done.
            group.drain(..).rev().for_each(|command| waiting.push_front(command));
            result = self.transact(Savepoints::EachVerb, waiting, group);
        }
        result.map_err(|undone| {
            // Verbs that never ran are answered too: trying each on a disk that just failed would only take longer.
            group.extend(waiting.drain(..));
            self.roll_back();
            match undone {
                Undone::Verb => Error::Unavailable(Unavailable::Resources),
                Undone::Group(error) => place::sort(error, self.in_use.path()),
            }
        })
    }

    fn transact(
        &mut self,
        savepoints: Savepoints,
        waiting: &mut VecDeque<Box<dyn Command>>,
        group: &mut Vec<Box<dyn Command>>,
    ) -> Result<Committed, Undone> {
        let now = self.begin()?;
        let committed = self.run_group(now, savepoints, waiting, group)?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        // What was written must be where the next start looks: `docs/decisions/04-swapped-database-file.md`.
        self.log_bytes = self.in_use.check()?;
        Ok(committed)
    }

    /// Ends a transaction that is still open. A rollback that fails too leaves it so; the next BEGIN says
    /// that.
    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            drop(self.connection.execute_batch("ROLLBACK"));
        }
    }

    fn begin(&self) -> Result<Timestamp, Error> {
        if self.checkpoints.is_log_full(&self.connection, self.log_bytes)? {
            return Err(Error::Unavailable(Unavailable::Busy));
        }
        // IMMEDIATE takes the write lock now; a deferred one could fail halfway, with a snapshot that is out of date.
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let oldest: i64 = self
            .connection
            .prepare_cached("SELECT oldest_writer_step FROM schema_compatibility")?
            .query_row([], |row| row.get(0))?;
        // In each transaction, because a newer process may have migrated the file since the last one.
        if oldest > migrate::NEWEST_STEP {
            return Err(Error::Unavailable(Unavailable::Outdated));
        }
        // Under the write lock: a time read before the wait for it could be older than what was committed meanwhile.
        Ok(self.clock.now())
    }

    fn run_group(
        &mut self,
        now: Timestamp,
        savepoints: Savepoints,
        waiting: &mut VecDeque<Box<dyn Command>>,
        group: &mut Vec<Box<dyn Command>>,
    ) -> Result<Committed, Undone> {
        let began = self.clock.monotonic();
        let mut committed = Committed::default();
        while let Some(mut command) = waiting.pop_front() {
            if savepoints == Savepoints::EachVerb {
                self.connection.prepare_cached("SAVEPOINT verb")?.execute([])?;
            }
            // Changes that are rolled back are counted as well.
            let changes = self.connection.total_changes();
            let mut tx = Tx::new(Db::new(&self.connection), now, &mut self.ids);
            let ran = command.run(&mut tx);
            group.push(command);
            match ran {
                Ok(()) => committed.wrote |= self.connection.total_changes() > changes,
                Err(Failure::Fatal(fatal)) => return Err(Undone::Group(fatal)),
                // The database dropped the whole transaction, and with it the work of all verbs.
                Err(Failure::Verb(why)) if self.connection.is_autocommit() => {
                    let why = why.unwrap_or(Unavailable::Full);
                    return Err(Undone::Group(Error::Unavailable(why)));
                }
                Err(Failure::Verb(_)) if savepoints == Savepoints::None => {
                    return Err(Undone::Verb);
                }
                Err(Failure::Verb(why)) => {
                    self.connection.prepare_cached("ROLLBACK TO verb")?.execute([])?;
                    committed.unable = committed.unable.or(why);
                }
            }
            // ROLLBACK TO keeps the savepoint open, so it is released on both paths.
            if savepoints == Savepoints::EachVerb {
                self.connection.prepare_cached("RELEASE verb")?.execute([])?;
            }
            // The rest stays in `waiting`: the first callers get their answers, and another process gets the lock.
            if self.clock.monotonic().saturating_sub(began) > GROUP_TIME_MAX {
                break;
            }
        }
        Ok(committed)
    }
}

/// Returns why a group did not commit, as its callers hear it.
const fn reason(error: &Error) -> Unavailable {
    match error {
        Error::Unavailable(reason) => *reason,
        Error::LeaseLost
        | Error::Panicked
        | Error::Fatal(_)
        | Error::Statement(_)
        | Error::Row(_) => Unavailable::Resources,
    }
}

#[cfg(test)]
mod tests;
