//! Logs that are copied beside the writer, and logs that a reader keeps from that.

use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::thread::scope;

use super::*;
use crate::domain::id::InstallationId;
use crate::runtime::clock::SystemClock;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::store::error::Unavailable;
use crate::store::sql::params;
use crate::store::types::Health;
use crate::store::{Options, Store};

/// Bytes of a row: 25 pages.
const ROW: usize = 100_000;

/// Opens a store whose log is copied by hand.
fn open_store(path: &Path, bytes_max: u64) -> Store {
    Store::open(Options {
        path: path.to_owned(),
        clock: Arc::new(SystemClock::new()),
        ids: Ids::new(Box::new(SystemEntropy::new())),
        on_fatal: Box::new(|error| panic!("{error}")),
        on_opening: Arc::new(|_| {}),
        log: LogRules { checkpoint_every: None, bytes_max },
    })
    .unwrap()
}

/// Opens the file as another program does, with the log in it.
#[expect(clippy::disallowed_methods, reason = "another program opens the database, too")]
fn open_raw(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    connection
}

fn write(store: &Store, number: usize) -> Result<(), Error> {
    store.write(move |tx| {
        tx.execute(
            "INSERT INTO installations (installation_id, account, state, updated_at) \
             VALUES (:id, :account, 'active', 0)",
            params! {
                ":id": InstallationId::try_from(i64::try_from(number).unwrap() + 1).unwrap(),
                ":account": "a".repeat(ROW),
            },
        )?;
        Ok(())
    })
}

fn rows(raw: &Connection) -> usize {
    let count = "SELECT count(*) FROM installations WHERE installation_id > 0";
    let rows: i64 = raw.query_row(count, [], |row| row.get(0)).unwrap();
    usize::try_from(rows).unwrap()
}

fn look(raw: &Connection) -> Log {
    // Nothing, while another process writes the head of the log.
    checkpoint(raw, "NOOP").unwrap().unwrap_or_default()
}

fn reported(store: &Store) -> Option<&'static str> {
    lock(&store.checkpoints.thread).reported
}

#[test]
fn the_log_is_copied_and_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let store = open_store(&path, 1 << 30);
    let raw = open_raw(&path);
    for number in 0..20 {
        write(&store, number).unwrap();
    }
    assert!(look(&raw).left() > PAGES_MIN, "nothing is copied before it is asked for");
    store.checkpoint().unwrap();
    let log = look(&raw);
    assert_eq!(log.left(), 0, "{log:?}");
    write(&store, 20).unwrap();
    assert!(look(&raw).pages < PAGES_MIN, "the next write begins the log anew: {:?}", look(&raw));
    assert_eq!(rows(&raw), 21);
    // What is left is not worth it.
    store.checkpoint().unwrap();
    assert_eq!(look(&raw).copied, 0);
}

/// While commits go on, a checkpoint beside the writer does not find the end of the log.
#[test]
fn the_writer_copies_the_rest_when_it_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let store = open_store(&path, 1 << 30);
    let raw = open_raw(&path);
    for number in 0..20 {
        write(&store, number).unwrap();
    }
    store.checkpoints.finish_wanted.store(true, Ordering::Relaxed);
    // It is done after this one's answer, and before the next begins.
    write(&store, 20).unwrap();
    write(&store, 21).unwrap();
    assert!(look(&raw).pages < PAGES_MIN, "{:?}", look(&raw));
    assert_eq!(rows(&raw), 22);
}

#[test]
fn the_log_of_a_reader_that_stays_grows_to_its_bound_and_shrinks_afterwards() {
    const BYTES_MAX: u64 = 4 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let store = open_store(&path, BYTES_MAX);
    write(&store, 0).unwrap();
    store.checkpoint().unwrap();
    let reader = reader(&path);
    let number = fill(&store, 1);
    assert_eq!(store.health(), Health::Failing(Unavailable::Busy));
    assert_eq!(reported(&store), Some("reader"));
    assert!(store.log_bytes() >= BYTES_MAX, "it is used");
    assert!(store.log_bytes() < BYTES_MAX + 2 * u64::try_from(ROW).unwrap(), "and held");
    assert_eq!(rows(&reader), 1, "the reader has its snapshot");

    reader.execute_batch("COMMIT").unwrap();
    store.checkpoint().unwrap();
    assert_eq!(reported(&store), None);
    write(&store, number).unwrap();
    assert_eq!(store.health(), Health::Ok);
    assert!(store.log_bytes() <= BYTES_MAX / 16, "{} bytes", store.log_bytes());
    assert_eq!(rows(&reader), number + 1, "nothing acknowledged is lost");
}

/// Writes and checkpoints in turns until the log is full. Returns how many were written, `first` included.
fn fill(store: &Store, first: usize) -> usize {
    let refused = (first..first + 200).find_map(|number| {
        let written = write(store, number);
        store.checkpoint().unwrap();
        written.err().map(|error| (number, error.class()))
    });
    let (number, class) = refused.expect("the log has a bound");
    assert_eq!(class, Unavailable::Busy.as_str());
    number
}

/// Opens a read transaction at what is committed now.
fn reader(path: &Path) -> Connection {
    let reader = open_raw(path);
    reader.execute_batch("BEGIN").unwrap();
    rows(&reader);
    reader
}

#[test]
fn a_log_that_another_process_copied_is_not_full() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let store = open_store(&path, 4 << 20);
    write(&store, 0).unwrap();
    let held = reader(&path);
    let number = fill(&store, 1);
    held.execute_batch("COMMIT").unwrap();
    // Our own checkpoints do not come to know it, as while each of them fails.
    assert_eq!(checkpoint(&open_raw(&path), "PASSIVE").unwrap().map(Log::left), Some(0));
    write(&store, number).unwrap();
    assert_eq!(store.health(), Health::Ok);
}

#[test]
fn a_long_log_is_full_only_while_much_of_it_is_left_to_copy() {
    const BYTES_MAX: u64 = 4 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let store = open_store(&path, BYTES_MAX);
    write(&store, 0).unwrap();
    store.checkpoint().unwrap();
    let first = reader(&path);
    let number = fill(&store, 1);
    // The second reader keeps the log from beginning anew, but lets all of it so far be copied.
    let second = reader(&path);
    first.execute_batch("COMMIT").unwrap();
    store.checkpoint().unwrap();
    assert_eq!(reported(&store), None);
    for number in number..number + 2 {
        write(&store, number).unwrap();
        store.checkpoint().unwrap();
    }
    assert!(store.log_bytes() > BYTES_MAX, "the log has not begun anew");
    assert_eq!(reported(&store), None, "nearly nothing is left to copy");
    // Readers that take turns without a gap do not make it grow for ever.
    let number = fill(&store, number + 2);
    let third = reader(&path);
    second.execute_batch("COMMIT").unwrap();
    store.checkpoint().unwrap();
    let number = fill(&store, number);
    assert!(store.log_bytes() < 2 * BYTES_MAX + 4 * u64::try_from(ROW).unwrap());
    third.execute_batch("COMMIT").unwrap();
    store.checkpoint().unwrap();
    write(&store, number).unwrap();
    assert!(store.log_bytes() <= BYTES_MAX / 16, "{} bytes", store.log_bytes());
}

#[test]
fn two_stores_on_one_file_checkpoint_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let stores = [open_store(&path, 1 << 30), open_store(&path, 1 << 30)];
    let raw = open_raw(&path);
    let ended = AtomicUsize::new(0);
    let copied = scope(|scope| {
        for (place, store) in stores.iter().enumerate() {
            let ended = &ended;
            scope.spawn(move || {
                (0..150).for_each(|number| write(store, place * 150 + number).unwrap());
                ended.fetch_add(1, Ordering::Relaxed);
            });
            scope.spawn(move || {
                while ended.load(Ordering::Relaxed) < 2 {
                    store.checkpoint().unwrap();
                }
            });
        }
        let mut copied = 0;
        while ended.load(Ordering::Relaxed) < 2 {
            copied = copied.max(look(&raw).copied);
        }
        copied
    });
    assert!(copied > 0, "none of it was copied meanwhile");
    assert_eq!(rows(&raw), 300);
    let found: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(found, "ok");
}
