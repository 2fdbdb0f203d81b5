//! What the lists of operators share: rows come newest first, in the order they were added, and a page
//! begins below the row its cursor names.
//!
//! Why there is one order: `docs/decisions/29-list-order.md`.

use crate::api::{ListRequest, ListRow};
use crate::domain::id::InstallationId;
use crate::domain::lease::RowHandle;
use crate::domain::page::Page;
use crate::store::error::Error;
use crate::store::sql::value::Bind;
use crate::store::sql::{Db, params};

/// Above every row: where the first page begins.
const FIRST: RowHandle = RowHandle::new(i64::MAX);

/// Returns the page that `read` reads from below a row; `None` if the cursor names no row of the installation, be
/// it unknown or of another one. `find` is the statement that looks the cursor up.
pub(in crate::store) fn page<R: ListRow<Cursor: Bind>>(
    db: &Db<'_>,
    find: &str,
    installation: InstallationId,
    wanted: &ListRequest<R>,
    read: impl FnOnce(RowHandle) -> Result<Vec<R>, Error>,
) -> Result<Option<Page<R, R::Cursor>>, Error> {
    let bound = match wanted.before {
        None => Some(FIRST),
        // The lookup names the installation, so a foreign cursor is found as little as one that does not exist.
        Some(before) => {
            let params = params! { ":before": before, ":installation": installation };
            db.query_one(find, params, |row| row.get("id"))?
        }
    };
    let Some(bound) = bound else { return Ok(None) };
    Ok(Some(Page::cut(read(bound)?, wanted.limit, R::cursor)))
}
