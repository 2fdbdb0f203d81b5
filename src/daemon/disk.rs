//! The daemon and its disk: what it says about the file system, and how it ends when the disk fails.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sd_notify::NotifyState;
use signal_hook::consts::SIGBUS;
use signal_hook::flag::register_conditional_shutdown;

use super::starting::EXTENSION_US;
use super::{Error, tell_supervisor};
use crate::logging;
use crate::runtime::clock::Clock;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::store::{self, LogRules, Options, Store};

/// Exit status when the disk fails or refuses writes at the start: the supervisor should start us again.
pub(super) const EXIT_DISK_FAILED: u8 = 74;

/// Ends the process with [`EXIT_DISK_FAILED`] from now on when a page of a mapped file cannot be read or written.
///
/// The page is of the `-shm` file, and the thread that needs it cannot go on: `docs/decisions/99-mapped-pages.md`.
pub(super) fn end_on_bus_error() -> io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    register_conditional_shutdown(SIGBUS, EXIT_DISK_FAILED.into(), always).map(drop)
}

/// Opens the database, and warns about a file system that can refuse a change of what is stored already.
pub(super) fn open_store(path: PathBuf, clock: &Arc<dyn Clock>) -> Result<Store, Error> {
    let store = Store::open(Options {
        path,
        clock: Arc::clone(clock),
        ids: Ids::new(Box::new(SystemEntropy::new())),
        on_fatal: Box::new(end_process),
        on_opening: Arc::new(tell_of_opening),
        log: LogRules::default(),
    })
    .map_err(Error::Store)?;
    warn_of_copy_on_write(&store);
    Ok(store)
}

/// Says in the log and to the supervisor what the start does with the database.
fn tell_of_opening(opening: store::Opening) {
    let status = match opening {
        store::Opening::CheckBegan { bytes } => {
            log::info!(event = "store.check_began", bytes; "the last stop was not a clean one; the database is being checked");
            "checking the database after a crash".to_owned()
        }
        store::Opening::Reading { done, bytes } => {
            log::info!(event = "store.check_progress", phase = "reading", done, bytes; "the database is being read before its check");
            let percent = done.saturating_mul(100) / bytes.max(1);
            format!("checking the database after a crash: {percent} % read")
        }
        store::Opening::Checking => {
            log::info!(event = "store.check_progress", phase = "checking"; "the database has been read; its pages are being checked");
            "checking the database after a crash: read, now checking its pages".to_owned()
        }
        store::Opening::CheckEnded { took } => {
            let seconds = took.as_secs_f64();
            log::info!(event = "store.check_ended", seconds; "the database is sound");
            String::new()
        }
        store::Opening::MigrationBegan { from, to } => {
            log::info!(event = "store.migration_began", from, to; "the schema of the database is being migrated");
            format!("migrating the database from schema {from} to {to}")
        }
        store::Opening::MigrationEnded { took } => {
            let seconds = took.as_secs_f64();
            log::info!(event = "store.migration_ended", seconds; "the schema of the database is the newest");
            String::new()
        }
    };
    // Without a status, the supervisor shows the state alone.
    tell_supervisor(&[NotifyState::Status(&status), NotifyState::ExtendTimeoutUsec(EXTENSION_US)]);
}

fn warn_of_copy_on_write(store: &Store) {
    if let Some(name) = store.copy_on_write() {
        log::warn!(event = "store.copy_on_write", file_system = name; "the database is on a copy-on-write file system; when that is full, svcd can end with 74 instead of answering 503, as svcd(8) explains under DISKS");
    }
}

/// Says whether a start failed because the system refuses to write: for lack of space or quota, or a read-only file system.
pub(super) fn refuses(error: &Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    use store::Unavailable::{Full, Quota, ReadOnly};
    let mut cause = error.source();
    while let Some(inner) = cause {
        let refused = if let Some(error) = inner.downcast_ref::<io::Error>() {
            matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
        } else if let Some(error) = inner.downcast_ref::<store::Error>() {
            matches!(error, store::Error::Unavailable(Full | Quota | ReadOnly))
        } else {
            matches!(inner.downcast_ref(), Some(store::OpenError::Refused { .. }))
        };
        if refused {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// The disk failed: what was written is not known, so nothing may be answered any more.
#[expect(
    clippy::exit,
    reason = "going on would tell peers that something is on disk that may not be"
)]
fn end_process(error: &store::Error) {
    log::error!(event = "store.disk_failed", class = error.class(); "{error}; svcd exits without answering the pending requests and must be started again");
    logging::flush();
    std::process::exit(EXIT_DISK_FAILED.into());
}
