//! What `SQLite` says, sorted by what the caller should do about it.

use std::path::Path;

use crate::store::error::{Error, Fatal, OpenError, Unavailable};

/// Sorts what the database says. The line that matters is between "it did not happen" and "it is not
/// known what happened".
/// Why the second ends the process: `docs/decisions/03-disk-errors.md`.
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let Some(sqlite) = error.sqlite_error() else {
            return Self::Statement(error.into());
        };
        // Growing the shared memory of the log on a full disk is reported as an I/O error, before
        // anything was written.
        if sqlite.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE {
            return Self::Unavailable(Unavailable::Full);
        }
        if sqlite.extended_code == rusqlite::ffi::SQLITE_IOERR_NOMEM {
            return Self::Unavailable(Unavailable::Resources);
        }
        match sqlite.code {
            Code::DiskFull => Self::Unavailable(Unavailable::Full),
            Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed => {
                Self::Unavailable(Unavailable::Busy)
            }
            Code::ReadOnly | Code::PermissionDenied => Self::Unavailable(Unavailable::ReadOnly),
            Code::OutOfMemory | Code::CannotOpen => Self::Unavailable(Unavailable::Resources),
            Code::SystemIoFailure | Code::DatabaseCorrupt | Code::NotADatabase => {
                Self::Fatal(Fatal::Disk(error.into()))
            }
            _ => Self::Statement(error.into()),
        }
    }
}

/// Says whether a write failed before anything was committed. A failed sync is not among them: what it left is not known.
pub(super) fn is_write(error: &(dyn std::error::Error + 'static)) -> bool {
    use rusqlite::ffi;
    let said = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error);
    said.is_some_and(|said| {
        [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMOPEN].contains(&said.extended_code)
    })
}

/// Says whether this is the database's report of a full disk.
pub(super) fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let said = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    said == Some(rusqlite::ErrorCode::DiskFull)
}

/// Turns "this is no database" into words an operator can act on.
pub(in crate::store) fn unreadable(path: &Path, error: rusqlite::Error) -> OpenError {
    use rusqlite::ErrorCode as Code;
    match error.sqlite_error_code() {
        Some(Code::NotADatabase | Code::DatabaseCorrupt) => {
            OpenError::Damaged { path: path.to_owned(), source: Some(error.into()) }
        }
        _ => OpenError::Database(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn said(extended: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(extended), None)
    }

    #[test]
    fn what_did_not_happen_is_told_from_what_is_not_known() {
        use rusqlite::ffi;
        for (extended, class) in [
            (ffi::SQLITE_FULL, "disk_full"),
            (ffi::SQLITE_IOERR_SHMSIZE, "disk_full"),
            (ffi::SQLITE_BUSY_SNAPSHOT, "busy"),
            (ffi::SQLITE_READONLY, "read_only"),
            (ffi::SQLITE_IOERR_NOMEM, "no_resources"),
            (ffi::SQLITE_CANTOPEN, "no_resources"),
            (ffi::SQLITE_IOERR_FSYNC, "disk_failed"),
            (ffi::SQLITE_CORRUPT, "disk_failed"),
            (ffi::SQLITE_CONSTRAINT_CHECK, "statement_failed"),
        ] {
            assert_eq!(Error::from(said(extended)).class(), class, "{extended}");
        }
    }

    #[test]
    fn the_cause_is_what_the_database_said() {
        let text = said(rusqlite::ffi::SQLITE_CORRUPT).to_string();
        let fatal = Error::from(said(rusqlite::ffi::SQLITE_CORRUPT));
        assert_eq!(fatal.source().map(ToString::to_string), Some(text.clone()));
        let damaged = unreadable(Path::new("svc.db"), said(rusqlite::ffi::SQLITE_CORRUPT));
        assert!(matches!(damaged, OpenError::Damaged { .. }), "{damaged}");
        assert_eq!(damaged.source().map(ToString::to_string), Some(text));
    }
}
