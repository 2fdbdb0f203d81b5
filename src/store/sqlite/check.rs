//! The check of a file that was not closed in order: it is read once from its beginning to its end, then every page is
//! checked.
//!
//! Why in two steps, and which part of the check is left out: `docs/decisions/105-start-after-a-crash.md`.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use rustix::fs::{Advice, fadvise};

use crate::runtime::clock::Clock;
use crate::store::error::OpenError;
use crate::store::sqlite::failure;
use crate::store::types::{OnOpening, Opening};

/// Progress is reported no more often.
const REPORT_INTERVAL: Duration = Duration::from_secs(3);
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;
/// Pages, or steps of a statement, between two looks at the clock.
const STEPS: i32 = 1_000;

/// A check that has begun.
#[derive(Clone)]
pub(super) struct Checking {
    clock: Arc<dyn Clock>,
    on_opening: OnOpening,
    began: Duration,
    reported: Duration,
}

impl Checking {
    /// Reads the file in order, so that the check, which reads it in the order of its trees, finds it in the page cache.
    ///
    /// Must be called before this process has the database open: closing a descriptor of the file drops all locks that
    /// the process has on it.
    pub(super) fn begin(path: &Path, clock: Arc<dyn Clock>, on_opening: OnOpening) -> Self {
        let began = clock.monotonic();
        let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
        on_opening(Opening::CheckBegan { bytes });
        let mut checking = Self { clock, on_opening, began, reported: began };
        // No error of the start: SQLite reads the same pages next, and reports what it cannot read.
        drop(checking.read(path, bytes));
        checking
    }

    fn read(&mut self, path: &Path, bytes: u64) -> std::io::Result<()> {
        let mut file = File::open(path)?;
        // The kernel then reads further ahead. It is advice, which not every file system takes.
        let _is_taken = fadvise(&file, 0, None, Advice::Sequential);
        let (mut chunk, mut done) = (vec![0; CHUNK], 0);
        loop {
            let count = file.read(&mut chunk)?;
            if count == 0 {
                return Ok(());
            }
            done += u64::try_from(count).unwrap_or(u64::MAX);
            self.report(Opening::Reading { done, bytes });
        }
    }

    /// Checks every page. Leaves the connection with CHECK constraints ignored.
    pub(super) fn pages(self, connection: &Connection, path: &Path) -> Result<(), OpenError> {
        let mut reports = self.clone();
        let on_steps = move || {
            reports.report(Opening::Checking);
            // The check goes on.
            false
        };
        let found: rusqlite::Result<String> = (|| {
            // Two thirds of the check's time would go into them, and they held when each row was written.
            connection.pragma_update(None, "ignore_check_constraints", true)?;
            connection.progress_handler(STEPS, Some(on_steps))?;
            let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            connection.progress_handler(0, None::<fn() -> bool>)?;
            Ok(found)
        })();
        let found = found.map_err(|error| failure::unreadable(path, error))?;
        if found != "ok" {
            return Err(OpenError::Damaged { path: path.to_owned(), source: None });
        }
        let took = self.clock.monotonic().saturating_sub(self.began);
        (self.on_opening)(Opening::CheckEnded { took });
        Ok(())
    }

    fn report(&mut self, progress: Opening) {
        let now = self.clock.monotonic();
        if now.saturating_sub(self.reported) >= REPORT_INTERVAL {
            self.reported = now;
            (self.on_opening)(progress);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::domain::time::Timestamp;
    use crate::runtime::mutex::lock;
    use crate::runtime::random::{Ids, SystemEntropy};
    use crate::store::sql::params;
    use crate::store::sqlite::place::beside;
    use crate::store::{Error, LogRules, Options, Store};

    /// Each look at it is a report later.
    #[derive(Default)]
    struct Hurrying(Mutex<Duration>);

    impl Clock for Hurrying {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(1_795_251_600_000_000)
        }

        fn monotonic(&self) -> Duration {
            let mut now = lock(&self.0);
            *now += REPORT_INTERVAL;
            *now
        }
    }

    type Seen = Arc<Mutex<Vec<Opening>>>;

    fn open(path: &Path) -> (Result<Store, OpenError>, Seen) {
        let seen = Seen::default();
        let into = Arc::clone(&seen);
        let store = Store::open(Options {
            path: path.to_owned(),
            clock: Arc::new(Hurrying::default()),
            ids: Ids::new(Box::new(SystemEntropy::new())),
            on_fatal: Box::new(|error| panic!("{error}")),
            on_opening: Arc::new(move |opening| lock(&into).push(opening)),
            // The files are copied while it is open.
            log: LogRules { checkpoint_every: None, ..LogRules::default() },
        });
        (store, seen)
    }

    fn add(store: &Store, state: &'static str) -> Result<usize, Error> {
        store.write(move |tx| {
            tx.execute(
                "INSERT INTO installations (installation_id, state, updated_at) \
                 SELECT coalesce(max(installation_id), 0) + 1, :state, 0 FROM installations",
                params! { ":state": state },
            )
        })
    }

    /// Returns a database as a process leaves it that is killed.
    fn left_by_a_crash(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("store.db");
        // The first folds its log into the file: a page that is in the log as well would hide a damaged one.
        assert!(open(&path).0.unwrap().close(Duration::from_secs(60)));
        let (store, seen) = open(&path);
        let store = store.unwrap();
        assert_eq!(*lock(&seen), [], "the stop was a clean one");
        add(&store, "active").unwrap();
        let copy = folder.join("copy.db");
        for suffix in ["", "-wal"] {
            std::fs::copy(beside(&path, suffix), beside(&copy, suffix)).unwrap();
        }
        copy
    }

    #[test]
    fn a_file_that_a_crash_left_is_read_and_then_checked_with_reports() {
        let folder = tempfile::tempdir().unwrap();
        let path = left_by_a_crash(folder.path());
        let bytes = std::fs::metadata(&path).unwrap().len();
        let (store, seen) = open(&path);
        let store = store.unwrap();
        let seen = std::mem::take(&mut *lock(&seen));
        assert_eq!(
            seen[..2],
            [Opening::CheckBegan { bytes }, Opening::Reading { done: bytes, bytes }]
        );
        let [checking @ .., Opening::CheckEnded { took }] = &seen[2..] else { panic!("{seen:?}") };
        assert!(checking.iter().all(|check| *check == Opening::Checking), "{checking:?}");
        assert!(!checking.is_empty() && *took > REPORT_INTERVAL, "{took:?}");
        // What the check leaves out holds for all that is written afterwards.
        assert!(matches!(add(&store, "strange"), Err(Error::Statement(_))));
        add(&store, "active").unwrap();
    }

    #[test]
    fn a_page_that_a_crash_damaged_is_found() {
        use std::os::unix::fs::FileExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = left_by_a_crash(folder.path());
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let last = file.metadata().unwrap().len() - 4_096;
        file.write_all_at(&[0x5A; 4_096], last).unwrap();
        drop(file);
        let (store, seen) = open(&path);
        assert!(matches!(store.err(), Some(OpenError::Damaged { .. })));
        assert!(!lock(&seen).iter().any(|check| matches!(check, Opening::CheckEnded { .. })));
    }
}
