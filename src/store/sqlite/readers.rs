//! The small pool of read-only connections.

use std::path::Path;

use r2d2_sqlite::SqliteConnectionManager;

use crate::store::error::{Error, OpenError, Unavailable};
use crate::store::sqlite::connection;
use crate::store::sqlite::statement::Db;

/// The readers. Clones share them.
#[derive(Clone)]
pub(in crate::store) struct Readers(r2d2::Pool<SqliteConnectionManager>);

impl Readers {
    /// Opens the pool. The file exists and is migrated.
    pub(in crate::store) fn open(path: &Path) -> Result<Self, OpenError> {
        connection::open_readers(path).map(Self)
    }

    /// Runs a query on a reader that is free.
    pub(in crate::store) fn read<T>(
        &self,
        query: impl FnOnce(&Db<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // The pool's error repeats text of the database, which may not be shown.
        let connection = self.0.get().map_err(|_| Error::Unavailable(Unavailable::Busy))?;
        match query(&Db::new(&connection)) {
            // A failed read loses nothing: the caller tries again, the writer decides about the disk.
            Err(Error::Fatal(_)) => Err(Error::Unavailable(Unavailable::Resources)),
            other => other,
        }
    }
}
