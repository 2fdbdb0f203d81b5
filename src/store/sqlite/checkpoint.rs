//! Checkpoints: what the write-ahead log holds is copied into the database file, beside the writer.
//!
//! A thread with a connection of its own does it, without a lock that the writer needs. While commits go on, the log never
//! becomes empty in that way; so the writer copies the last pages itself, between two groups, when it is asked to.
//! Rhythm, bound and reasons: `docs/decisions/103-checkpoints.md`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;

use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;
use crate::runtime::thread;
use crate::store::error::Error;
use crate::store::sqlite::place;
use crate::store::types::LogRules;

/// Fewer pages are not worth two syncs.
const PAGES_MIN: u64 = 64;
/// From so many pages on the writer is asked to begin the log anew.
const RESTART_AT: u64 = 8_192;
/// Checkpoints in a row. The first copies the most. `SQLite` syncs the file only when no commit came meanwhile, which the
/// short ones after it bring about; so little is left for the writer to copy and to sync.
const PASSES: usize = 6;
/// After a failure: the disk may be full for a while.
const FAILURE_WAIT: Duration = Duration::from_secs(1);
/// Of the database, and so of the log.
pub(super) const PAGE_BYTES: u64 = 4_096;

/// How much the log holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Log {
    pages: u64,
    /// Of these, in the database file as well.
    copied: u64,
}

impl Log {
    const fn left(self) -> u64 {
        self.pages.saturating_sub(self.copied)
    }

    /// Says whether nothing more may be added: so much is left to copy, or the log became twice as long because readers
    /// that take turns keep it from beginning anew.
    const fn is_full(self, bytes_max: u64) -> bool {
        let pages_max = bytes_max / PAGE_BYTES;
        self.left() >= pages_max || self.left() > 0 && self.pages / 2 >= pages_max
    }
}

/// The checkpoints of a store: shared by the thread that makes them and the writer.
pub(in crate::store) struct Checkpoints {
    rules: LogRules,
    path: PathBuf,
    on_fatal: Box<dyn Fn(&Error) + Send + Sync>,
    thread: Mutex<Side>,
    ended: Notify,
    finish_wanted: AtomicBool,
}

/// What one thread at a time uses.
struct Side {
    /// `None` once the store is closed.
    connection: Option<Connection>,
    /// What keeps the log from being copied, once it was reported.
    reported: Option<&'static str>,
}

impl Checkpoints {
    /// Takes a connection, and starts the thread if there is to be one.
    pub(in crate::store) fn start(
        connection: Connection,
        rules: LogRules,
        path: PathBuf,
        on_fatal: Box<dyn Fn(&Error) + Send + Sync>,
    ) -> std::io::Result<Arc<Self>> {
        let checkpoints = Arc::new(Self {
            rules,
            path,
            on_fatal,
            thread: Mutex::new(Side { connection: Some(connection), reported: None }),
            ended: Notify::new(),
            finish_wanted: AtomicBool::new(false),
        });
        if let Some(every) = rules.checkpoint_every {
            let own = Arc::clone(&checkpoints);
            thread::spawn("checkpoint", move || {
                let mut wait = every;
                while own.ended.pause(wait) {
                    wait = if own.step().is_ok() { every } else { FAILURE_WAIT.max(every) };
                }
            })?;
        }
        Ok(checkpoints)
    }

    /// Copies what the log holds, if that is worth it.
    ///
    /// # Errors
    /// When it could not be copied. Nothing is lost: the log keeps it.
    pub(in crate::store) fn step(&self) -> Result<(), Error> {
        let mut side = lock(&self.thread);
        let Some(connection) = &side.connection else { return Ok(()) };
        let result = self.copy(connection).map_err(|error| place::sort(error, &self.path));
        if let Err(fatal @ Error::Fatal(_)) = &result {
            self.fail(fatal);
        }
        self.report(&mut side, result.as_ref());
        result.map(drop)
    }

    /// Says whether the log, whose file has so many bytes, may not become longer. The file alone does not tell: it stays
    /// as long as it was after all of it was copied.
    pub(super) fn is_log_full(&self, writer: &Connection, bytes: u64) -> Result<bool, Error> {
        // A look takes time, and each group would wait for it.
        if bytes < self.rules.bytes_max {
            return Ok(false);
        }
        Ok(checkpoint(writer, "NOOP")?.is_some_and(|log| log.is_full(self.rules.bytes_max)))
    }

    /// Copies the last pages for the thread, if it asked for that. Called by the writer between two groups, so that its next
    /// one begins the log anew.
    pub(super) fn finish(&self, writer: &Connection) -> Result<(), Error> {
        if self.finish_wanted.swap(false, Ordering::Relaxed) {
            checkpoint(writer, "PASSIVE").map_err(|error| place::sort(error, &self.path))?;
        }
        Ok(())
    }

    /// The disk failed, here or in the writer.
    pub(super) fn fail(&self, fatal: &Error) {
        (self.on_fatal)(fatal);
    }

    /// Ends the thread's part, and waits for a checkpoint that is under way.
    pub(super) fn close(&self) {
        self.ended.stop();
        lock(&self.thread).connection = None;
    }

    /// Copies the log, if that is worth it. Returns how many pages it could not copy because a reader still needs them there;
    /// `None` when another process makes checkpoints.
    fn copy(&self, connection: &Connection) -> Result<Option<u64>, Error> {
        let Some(mut log) = checkpoint(connection, "NOOP")? else { return Ok(None) };
        if log.left() >= PAGES_MIN || log.is_full(self.rules.bytes_max) {
            for _ in 0..PASSES {
                let Some(copied) = checkpoint(connection, "PASSIVE")? else { return Ok(None) };
                let Some(now) = checkpoint(connection, "NOOP")? else { return Ok(None) };
                if copied.left() > 0 || now.left() == 0 {
                    return Ok(Some(copied.left()));
                }
                log = now;
            }
        }
        if log.pages >= RESTART_AT && log.left() > 0 {
            self.finish_wanted.store(true, Ordering::Relaxed);
        }
        Ok(Some(0))
    }

    /// Reports once that a log grows and cannot be copied, and once that it can be again.
    fn report(&self, side: &mut Side, result: Result<&Option<u64>, &Error>) {
        let cause = match result {
            Err(Error::Fatal(_)) | Ok(None) => return,
            Err(error) => Some(error.class()),
            // Most readers end at once.
            Ok(Some(held)) => (*held > self.rules.bytes_kept() / PAGE_BYTES).then_some("reader"),
        };
        match (side.reported, cause) {
            (None, Some(cause)) => {
                log::warn!(event = "store.log_grows", cause = cause; "the write-ahead log cannot be copied into the database, and grows; if the cause is a reader, end the program that holds a read transaction open");
            }
            (Some(cause), None) => {
                log::info!(event = "store.log_copied", cause = cause; "the write-ahead log is copied into the database again");
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
        side.reported = cause;
    }
}

/// Makes a checkpoint, or with `NOOP` looks only, and returns how much the log holds then. `None` when another connection
/// makes one.
fn checkpoint(connection: &Connection, mode: &str) -> Result<Option<Log>, Error> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    // -1 when another connection makes one.
    let pages = |row: &rusqlite::Row<'_>, place| -> rusqlite::Result<Option<u64>> {
        Ok(u64::try_from(row.get::<_, i64>(place)?).ok())
    };
    let log = connection.prepare_cached(&sql)?.query_row([], |row| {
        Ok(pages(row, 1)?.zip(pages(row, 2)?).map(|(pages, copied)| Log { pages, copied }))
    });
    log.map_err(Error::from)
}

#[cfg(test)]
mod tests;
