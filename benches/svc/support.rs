//! A folder on the real disk, callers that work at once, and tables.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::random::{Ids, SystemEntropy};
use svc::store::{LogRules, Options, Store};

/// A folder below `target/`, gone when dropped: a folder for temporary files may be in memory.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        Self(tempfile::Builder::new().prefix("bench-").tempdir_in(place).unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Opens a store as the daemon does.
pub(crate) fn open_store(path: &Path) -> Store {
    Store::open(Options {
        path: path.to_owned(),
        clock: Arc::new(SystemClock::new()),
        ids: Ids::new(Box::new(SystemEntropy::new())),
        on_fatal: Box::new(|error| panic!("the disk failed: {error:?}")),
        on_opening: Arc::new(|_| {}),
        log: LogRules::default(),
    })
    .unwrap()
}

/// Opens the file behind the store's back, as the raw limit and the bulk seeding do.
#[expect(clippy::disallowed_methods, reason = "the raw limit is a connection of its own")]
pub(crate) fn open_raw(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.set_prepared_statement_cache_capacity(128);
    connection
        .execute_batch(
            "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
        )
        .unwrap();
    connection
}

/// What callers came to.
pub(crate) struct Run {
    operations: usize,
    took: Duration,
    /// Sorted.
    waits: Vec<Duration>,
}

impl Run {
    pub(crate) fn per_second(&self) -> f64 {
        self.operations as f64 / self.took.as_secs_f64()
    }

    pub(crate) const fn took(&self) -> Duration {
        self.took
    }

    /// The wait that so many of a hundred stay below, in milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        self.per_mille(percent * 10)
    }

    /// The same of a thousand.
    pub(crate) fn per_mille(&self, part: usize) -> f64 {
        let place = (self.waits.len() * part / 1_000).min(self.waits.len() - 1);
        self.waits.get(place).unwrap().as_secs_f64() * 1e3
    }
}

/// Lets `callers` threads do `operations` numbered pieces of work, each the next as soon as it is done
/// with one. Each caller has a state of its own.
pub(crate) fn drive<S>(
    callers: usize,
    operations: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) + Sync,
) -> Run {
    let (next, waits) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(operations)));
    let clock = SystemClock::new();
    let start = std::sync::Barrier::new(callers + 1);
    let began = std::thread::scope(|scope| {
        for _ in 0..callers {
            scope.spawn(|| {
                let (mut state, mut own) = (state(), Vec::new());
                start.wait();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= operations {
                        break;
                    }
                    let began = clock.monotonic();
                    work(&mut state, number);
                    own.push(clock.monotonic() - began);
                }
                waits.lock().unwrap().extend(own);
            });
        }
        let began = clock.monotonic();
        start.wait();
        began
    });
    let took = clock.monotonic() - began;
    let mut waits = waits.into_inner().unwrap();
    waits.sort();
    Run { operations, took, waits }
}

/// Like [`drive`], for callers without a state.
pub(crate) fn callers(count: usize, operations: usize, work: impl Fn(usize) + Sync) -> Run {
    drive(count, operations, || (), |(), number| work(number))
}

/// The value in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    *values.get(values.len() / 2).unwrap()
}

/// The median of what pairs that ran one after the other are to each other.
pub(crate) fn ratio(ours: &[f64], limits: &[f64]) -> f64 {
    median(ours.iter().zip(limits).map(|(own, limit)| own / limit).collect())
}

/// Prints the title and the columns of a table.
pub(crate) fn heading(title: &str, columns: [&str; 4]) {
    println!("\n{title}");
    line("", columns);
}

/// Prints one line of a table.
pub(crate) fn line(name: &str, cells: [impl Display; 4]) {
    let [value, limit, ratio, aim] = cells;
    println!("  {name:<44} {value:>14} {limit:>14} {ratio:>8}  {aim}");
}
