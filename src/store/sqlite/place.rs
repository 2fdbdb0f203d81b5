//! Where the database is: on which file system, how much room is left there, and why a write was refused.
//!
//! `SQLite` reports a used-up quota and a read-only file system as an I/O error. It keeps the system's error number, but
//! returns it only through a function that needs `unsafe` code. So a write that failed is tried again, into a file of
//! its own beside the database: `docs/decisions/98-refused-writes.md`.

use std::error::Error as _;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use rustix::process::{Resource, getrlimit};

use crate::runtime::lock_file;
use crate::runtime::mutex::lock;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::store::error::{Error, Fatal, OpenError, Unavailable};
use crate::store::sqlite::failure;

/// File systems whose locks cannot be trusted: NFS, SMB, CIFS, SMB2.
const NETWORK_FILE_SYSTEMS: [i64; 4] = [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42];

/// File systems that write each changed page to a new place, so that a full one refuses a page that is mapped already.
const COPY_ON_WRITE: [(i64, &str); 3] =
    [(0x9123_683E, "btrfs"), (0x2FC1_2FC1, "ZFS"), (0xCA45_1A4E, "bcachefs")];

/// What the names of all probes have behind that of the database, before the digits of their process.
const PROBE_SUFFIX: &str = ".probe-";
const PROBE_DIGITS: usize = 16;

/// More than `SQLite` writes at once. Where this fits, the write that failed would have fitted.
static PROBE: [u8; 65_536] = [0; 65_536];

/// Refuses a link, a folder, and a network file system.
pub(super) fn check(path: &Path) -> Result<(), OpenError> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(OpenError::NotAFile(path.to_owned())),
        Ok(_) | Err(_) => {}
    }
    let found = rustix::fs::statfs(folder(path)).map_err(|errno| OpenError::File {
        what: "use the folder of",
        path: path.to_owned(),
        source: errno.into(),
    })?;
    if NETWORK_FILE_SYSTEMS.contains(&found.f_type) {
        return Err(OpenError::NetworkFileSystem(path.to_owned()));
    }
    Ok(())
}

/// Returns the bytes that are left for us: on the file system of the database, by its folder's name,
/// and for the file itself, where the process may not write files of any size.
pub(in crate::store) fn disk_free_bytes(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder(path)).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let Some(limit) = getrlimit(Resource::Fsize).current else { return Some(free) };
    let size = std::fs::metadata(path).ok()?.len();
    Some(free.min(limit.saturating_sub(size)))
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the name of a companion of the database file.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Opens a lock file beside the database.
pub(super) fn open_lock(path: &Path, suffix: &str) -> Result<(File, PathBuf), OpenError> {
    let path = beside(path, suffix);
    match lock_file::open(&path) {
        Ok(file) => Ok((file, path)),
        Err(source) => Err(OpenError::File { what: "open", path, source }),
    }
}

/// Returns the name of the file system of the database, if it is a copy-on-write one.
pub(in crate::store) fn copy_on_write(path: &Path) -> Option<&'static str> {
    let found = rustix::fs::statfs(folder(path)).ok()?;
    COPY_ON_WRITE.iter().find(|(kind, _)| *kind == found.f_type).map(|(_, name)| *name)
}

/// Sorts a failed write once more: an I/O error is a refusal if the system refuses other writes there as well.
pub(super) fn sort(error: Error, path: &Path) -> Error {
    match error {
        Error::Fatal(Fatal::Disk(source)) if failure::is_write(source.as_ref()) => {
            refusal(path).map_or(Error::Fatal(Fatal::Disk(source)), Error::Unavailable)
        }
        // SQLite also calls it full when the file of the log's index cannot grow, whatever the reason.
        Error::Unavailable(Unavailable::Full) => {
            Error::Unavailable(refusal(path).unwrap_or(Unavailable::Full))
        }
        other => other,
    }
}

/// Says so when an open failed because the system refuses to write there.
pub(in crate::store) fn sort_open(error: OpenError, path: &Path) -> OpenError {
    if error.needs_a_person() {
        return error;
    }
    match refusal(path).or_else(|| refusal_in(&error)) {
        Some(why) => OpenError::Refused { why, path: path.to_owned(), source: Box::new(error) },
        None => error,
    }
}

/// Tries a write beside the database, and returns why the system refuses it.
fn refusal(path: &Path) -> Option<Unavailable> {
    // The writer and the thread that checkpoints may both ask, and would take each other's file for one that is left over.
    static PROBING: Mutex<()> = Mutex::new(());
    let _probing = lock(&PROBING);
    let probe = beside(path, probe_suffix());
    let removed = std::fs::remove_file(&probe);
    // Where nothing can be written, one that is still there is reported as that when it is made again.
    if let Some(why) = removed.err().as_ref().and_then(reason) {
        return Some(why);
    }
    // Only a file that is new is written to: never a link or a device.
    let tried = File::create_new(&probe).and_then(|mut file| {
        // Without a name, nothing is left of it when the process is killed.
        std::fs::remove_file(&probe)?;
        file.write_all(&PROBE)
    });
    tried.err().as_ref().and_then(reason)
}

/// Returns what the name of this process's probe ends with: not its process id, because two containers may share a folder.
fn probe_suffix() -> &'static str {
    static SUFFIX: OnceLock<String> = OnceLock::new();
    SUFFIX.get_or_init(|| {
        let bytes = Ids::new(Box::new(SystemEntropy::new())).bytes();
        format!("{PROBE_SUFFIX}{:0PROBE_DIGITS$x}", u64::from_be_bytes(bytes))
    })
}

/// Removes the probes of processes that were killed. Only for a process that uses the file alone.
pub(super) fn remove_probes(path: &Path) {
    let prefix = beside(path, PROBE_SUFFIX);
    let Some(prefix) = prefix.file_name().map(OsStr::as_bytes) else { return };
    let is_probe = |name: &OsStr| {
        let digits = name.as_bytes().strip_prefix(prefix);
        digits.is_some_and(|digits| {
            digits.len() == PROBE_DIGITS && digits.iter().all(u8::is_ascii_hexdigit)
        })
    };
    // No error of the start: they do no harm.
    for entry in std::fs::read_dir(folder(path)).into_iter().flatten().flatten() {
        if is_probe(&entry.file_name()) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

fn reason(error: &io::Error) -> Option<Unavailable> {
    match error.kind() {
        io::ErrorKind::StorageFull => Some(Unavailable::Full),
        io::ErrorKind::QuotaExceeded => Some(Unavailable::Quota),
        io::ErrorKind::ReadOnlyFilesystem => Some(Unavailable::ReadOnly),
        _ => None,
    }
}

/// Returns the refusal among the causes of an error: there may be room again by now.
fn refusal_in(error: &OpenError) -> Option<Unavailable> {
    let mut cause = error.source();
    while let Some(inner) = cause {
        let found = match inner.downcast_ref::<io::Error>() {
            Some(error) => reason(error),
            None => failure::is_full(inner).then_some(Unavailable::Full),
        };
        if found.is_some() {
            return found;
        }
        cause = inner.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_no_refusal_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("svc.db");
        let failed = |code| {
            let said = rusqlite::ffi::Error::new(code);
            sort(rusqlite::Error::SqliteFailure(said, None).into(), &path).class()
        };
        assert_eq!(failed(rusqlite::ffi::SQLITE_IOERR_WRITE), "disk_failed");
        assert_eq!(failed(rusqlite::ffi::SQLITE_FULL), "disk_full");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_probe_leaves_that_of_another_process_alone_and_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("svc.db");
        for name in ["svc.db.probe", "svc.db.probe-1"] {
            std::fs::write(folder.path().join(name), "of another process").unwrap();
        }
        assert_eq!(refusal(&path), None);
        let mut left: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["svc.db.probe", "svc.db.probe-1"]);
    }

    #[test]
    fn a_probe_follows_no_link_and_waits_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("svc.db"), folder.path().join("elsewhere"));
        std::fs::write(&elsewhere, "kept").unwrap();
        std::os::unix::fs::symlink(&elsewhere, beside(&path, probe_suffix())).unwrap();
        assert_eq!(refusal(&path), None);
        assert_eq!(std::fs::read(&elsewhere).unwrap(), b"kept");
    }
}
