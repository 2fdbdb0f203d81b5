//! How the file is opened: the only place that does.
//!
//! Start-up happens under an exclusive lock file, because two processes that migrate or switch to the
//! write-ahead log at once make each other fail. Every setting is read back; one that did not take is
//! an error. Nothing else in the process may open the database file or its companions: closing any
//! descriptor of it would drop the locks of the whole process.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};

use crate::runtime::clock::Clock;
use crate::runtime::notify::Notify;
use crate::store::error::OpenError;
use crate::store::sqlite::check::Checking;
use crate::store::sqlite::checkpoint::PAGE_BYTES;
use crate::store::sqlite::in_use::InUse;
use crate::store::sqlite::place::{self, beside, open_lock};
use crate::store::sqlite::{failure, migrate};
use crate::store::types::{LogRules, OnOpening};

/// The oldest `SQLite` without the bug that loses commits when a checkpoint races a write.
const LIBRARY_MIN: i32 = 3_051_003;
/// A start waits so long for another start to finish.
const START_LOCK_WAIT: Duration = Duration::from_secs(30);
/// Read-only connections.
const READERS: u32 = 4;
/// A reader is waited for so long.
const READER_WAIT: Duration = Duration::from_secs(1);
/// Statements kept prepared; more than there are.
const STATEMENTS_CACHED: usize = 128;

/// Settings of the writing connection, and what each must answer.
const PRAGMAS: [(&str, &str, &str); 11] = [
    // Milliseconds: in a rolling restart another process has the write lock for the length of a group.
    ("busy_timeout", "5000", "5000"),
    ("journal_mode", "WAL", "wal"),
    // With NORMAL, the log is not synced at each commit: a power cut could undo what was acknowledged.
    ("synchronous", "FULL", "2"),
    ("foreign_keys", "ON", "1"),
    ("ignore_check_constraints", "OFF", "0"),
    // KiB. The inner pages of an index on a random key over three million rows are 2 MiB.
    ("cache_size", "-16384", "-16384"),
    ("temp_store", "MEMORY", "2"),
    ("trusted_schema", "OFF", "0"),
    // A failed read of a mapped page is a SIGBUS; a failed read() is an error that can be sorted.
    ("mmap_size", "0", "0"),
    ("cell_size_check", "ON", "1"),
    // What is cleared is gone from the pages too, not only from the rows.
    ("secure_delete", "ON", "1"),
];

/// Settings of a reading connection, and what each must answer.
const READER_PRAGMAS: [(&str, &str, &str); 6] = [
    ("busy_timeout", "5000", "5000"),
    ("query_only", "ON", "1"),
    ("synchronous", "FULL", "2"),
    ("temp_store", "MEMORY", "2"),
    ("trusted_schema", "OFF", "0"),
    ("mmap_size", "0", "0"),
];

/// Opens the writing connection, creating and migrating the file when needed.
pub(in crate::store) fn open_writer(
    path: &Path,
    clock: &Arc<dyn Clock>,
    on_opening: &OnOpening,
    log: LogRules,
) -> Result<(Connection, InUse), OpenError> {
    if rusqlite::version_number() < LIBRARY_MIN {
        return Err(OpenError::Library(rusqlite::version()));
    }
    place::check(path)?;
    // Held until this function returns. Everything below assumes that no other start is under way.
    let _lock = lock_start(path, clock.as_ref())?;
    let (in_use, alone) = InUse::begin(path, clock.now())?;
    in_use.check_not_gone()?;
    if alone {
        in_use.check_log_is_its_own()?;
        place::remove_probes(path);
    }
    // Asked before the open, which recovers the log and can remove this trace of a crash.
    let left_unfinished =
        alone && std::fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let checking =
        left_unfinished.then(|| Checking::begin(path, Arc::clone(clock), Arc::clone(on_opening)));
    // Before SQLite opens it: SQLite gives the log and the shared memory the mode of the database file.
    create(path)?;
    let mut connection = open(path, log)?;
    if let Some(checking) = checking {
        checking.pages(&connection, path)?;
        configure(&connection, path, log)?;
    }
    let known = in_use.is_marked();
    migrate::migrate(&mut connection, path, known, clock.as_ref(), on_opening)?;
    Ok((connection, in_use.settle()?))
}

/// Opens the pool of readers. The file exists and is migrated.
pub(in crate::store) fn open_readers(
    path: &Path,
) -> Result<r2d2::Pool<SqliteConnectionManager>, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let manager = SqliteConnectionManager::file(path).with_flags(flags).with_init(|connection| {
        connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        match set(connection, &READER_PRAGMAS)? {
            None => Ok(()),
            Some((pragma, found)) => {
                let error = OpenError::Pragma { pragma, found };
                Err(rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
            }
        }
    });
    r2d2::Pool::builder()
        .max_size(READERS)
        .min_idle(Some(1))
        // Closing a reader buys nothing, and opening one prepares every statement again.
        .max_lifetime(None)
        .idle_timeout(None)
        .test_on_check_out(false)
        .connection_timeout(READER_WAIT)
        // It would log what the database says; the caller gets an error when there is no connection.
        .error_handler(Box::new(r2d2::NopErrorHandler))
        .build(manager)
        .map_err(|error| OpenError::Readers(error.into()))
}

/// Opens a connection that writes or checkpoints. The file exists.
#[expect(clippy::disallowed_methods, reason = "this is the module that opens the database")]
pub(in crate::store) fn open(path: &Path, log: LogRules) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| OpenError::Database(error.into()))?;
    // Before the first setting: switching the journal would already change a stranger's file.
    migrate::check_owner(&connection, path)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    configure(&connection, path, log)?;
    Ok(connection)
}

fn configure(connection: &Connection, path: &Path, log: LogRules) -> Result<(), OpenError> {
    let kept = log.bytes_kept().to_string();
    // Checkpoints are made beside the writer: one of its own is the last resort.
    let pages = (log.bytes_max / PAGE_BYTES).to_string();
    let log_pragmas =
        [("journal_size_limit", &*kept, &*kept), ("wal_autocheckpoint", &*pages, &*pages)];
    for pragmas in [&PRAGMAS[..], &log_pragmas] {
        match set(connection, pragmas) {
            Ok(None) => {}
            Ok(Some((pragma, found))) => return Err(OpenError::Pragma { pragma, found }),
            Err(error) => return Err(failure::unreadable(path, error)),
        }
    }
    Ok(())
}

/// Makes settings and reads each back. Returns the first that did not take, and what it is instead.
fn set(
    connection: &Connection,
    pragmas: &[(&'static str, &str, &str)],
) -> rusqlite::Result<Option<(&'static str, String)>> {
    for (pragma, wanted, answer) in pragmas {
        match connection.pragma_update_and_check(None, pragma, wanted, |_| Ok(())) {
            Ok(()) | Err(rusqlite::Error::QueryReturnedNoRows) => {}
            Err(error) => return Err(error),
        }
        let found = connection.pragma_query_value(None, pragma, |row| {
            row.get::<_, rusqlite::types::Value>(0).map(|value| match value {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            })
        })?;
        if found != *answer {
            return Ok(Some((pragma, found)));
        }
    }
    Ok(None)
}

/// Creates the file for us alone, before anything else has it open.
fn create(path: &Path) -> Result<(), OpenError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(OpenError::File { what: "create", path: path.to_owned(), source }),
    }
}

fn lock_start(path: &Path, clock: &dyn Clock) -> Result<File, OpenError> {
    let (lock, lock_path) = open_lock(path, ".lock")?;
    let began = clock.monotonic();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(source)) => {
                return Err(OpenError::File { what: "lock", path: lock_path, source });
            }
            Err(TryLockError::WouldBlock) => {}
        }
        let waited_out = !Notify::new().pause(Duration::from_millis(20));
        if waited_out || clock.monotonic().saturating_sub(began) > START_LOCK_WAIT {
            return Err(OpenError::StartLocked(path.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::runtime::clock::SystemClock;

    fn open_alone(path: &Path) -> Result<(Connection, InUse), OpenError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let on_opening: OnOpening = Arc::new(|_| {});
        open_writer(path, &clock, &on_opening, LogRules::default())
    }

    /// Leaves a database with its log as a process does that is killed: the files as they are, and no process.
    fn kill(path: &Path) {
        let (connection, in_use) = open_alone(path).unwrap();
        let state = "INSERT INTO installations (installation_id, state, updated_at) \
            SELECT coalesce(max(installation_id), 0) + 1, 'active', 0 FROM installations";
        connection.execute(state, []).unwrap();
        let kept = ["", "-wal"].map(|suffix| {
            let (file, copy) = (beside(path, suffix), beside(path, &format!("{suffix}.copy")));
            fs::hard_link(&file, &copy).unwrap();
            let held = fs::read(&file).unwrap();
            (file, copy, held)
        });
        drop(connection);
        drop(in_use);
        for (file, copy, held) in kept {
            drop(fs::remove_file(&file));
            fs::write(&copy, held).unwrap();
            fs::rename(copy, file).unwrap();
        }
    }

    /// Puts a copy of a file in its place.
    fn copy(path: &Path) {
        let copy = beside(path, ".other");
        fs::copy(path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    }

    #[test]
    fn a_log_is_not_used_for_a_file_that_took_the_place_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("svc.db");
        let log = beside(&path, "-wal");
        kill(&path);
        open_alone(&path).unwrap();
        // Both were copied, as to another disk.
        kill(&path);
        copy(&path);
        copy(&log);
        open_alone(&path).unwrap();
        kill(&path);
        copy(&path);
        let before = fs::read(&log).unwrap();
        let refused = open_alone(&path).err();
        assert!(refused.as_ref().is_some_and(OpenError::needs_a_person), "{refused:?}");
        assert!(fs::read(&log).unwrap() == before, "the log was changed");
        // As the restore of a backup is documented.
        fs::remove_file(&log).unwrap();
        open_alone(&path).unwrap();
        // An empty log has nothing to lose.
        copy(&path);
        fs::write(&log, "").unwrap();
        open_alone(&path).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_of_its_probes_is_removed_unless_another_one_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("svc.db");
        let [probe, other] =
            [".probe-0123456789abcdef", ".probe-of-mine"].map(|suffix| beside(&path, suffix));
        fs::write(&other, "").unwrap();
        let first = open_alone(&path).unwrap();
        fs::write(&probe, "").unwrap();
        let second = open_alone(&path).unwrap();
        assert!(probe.exists(), "it may be of the other process");
        drop((first, second));
        open_alone(&path).unwrap();
        assert!(!probe.exists());
        assert!(path.exists() && other.exists(), "nothing else");
    }

    /// Two connections checkpoint, and one of them writes: what the older libraries lose commits by.
    #[test]
    fn the_library_has_no_race_between_a_checkpoint_and_a_log_that_begins_anew() {
        assert!(rusqlite::version_number() >= LIBRARY_MIN, "{}", rusqlite::version());
        // Withdrawn, and without the repair.
        assert_ne!(rusqlite::version_number(), 3_052_000);
    }
}
