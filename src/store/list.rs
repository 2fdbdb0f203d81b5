//! Lists of an installation: one verb for all of them.

use crate::api::{ListRequest, ListRow};
use crate::domain::id::InstallationId;
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;

/// A list that the store has. Implemented beside the SQL of each.
pub trait List: ListRow {
    /// Reads a page, newest row first; `None` if the cursor names no row of the installation, be it
    /// unknown or of another one. A release that has not changed since `stuck_before` is stuck.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    fn page(
        store: &Store,
        installation: InstallationId,
        wanted: &ListRequest<Self>,
        stuck_before: Timestamp,
    ) -> Result<Option<Page<Self, Self::Cursor>>, Error>;
}

impl Store {
    /// Reads a page of a list of an installation, as [`List::page`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn list<R: List>(
        &self,
        installation: InstallationId,
        wanted: &ListRequest<R>,
        stuck_before: Timestamp,
    ) -> Result<Option<Page<R, R::Cursor>>, Error> {
        R::page(self, installation, wanted, stuck_before)
    }
}
