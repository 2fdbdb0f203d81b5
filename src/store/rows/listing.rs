//! What the lists of operators share: rows come newest first, in the order they were added, and a page
//! begins below the row its cursor names.

use crate::domain::id::InstallationId;
use crate::domain::lease::RowHandle;
use crate::store::error::Error;
use crate::store::sql::value::Bind;
use crate::store::sql::{Db, params};

/// Above every row: where the first page begins.
const FIRST: RowHandle = RowHandle::new(i64::MAX);

/// Returns below which row the page of a cursor begins; `None` if it names no row of the installation,
/// whether it is another's or nobody's. `find` is the statement that looks it up.
pub(in crate::store) fn bound(
    db: &Db<'_>,
    find: &str,
    installation: InstallationId,
    before: Option<impl Bind>,
) -> Result<Option<RowHandle>, Error> {
    let Some(before) = before else { return Ok(Some(FIRST)) };
    let params = params! { ":before": before, ":installation": installation };
    db.query_one(find, params, |row| row.get("id"))
}
