//! What the lists of operators share: rows come newest first, by the number the store gave them when
//! they were added, and a page begins below the row its cursor names.

use rusqlite::{Connection, OptionalExtension as _, Rows, named_params};

use crate::domain::id::InstallationId;
use crate::domain::page::Page;
use crate::store::error::Error;

/// Says below which number the page of a cursor begins; nothing when it names no row of the
/// installation, whether it is another's or nobody's. `find` is the statement that looks it up.
pub(super) fn bound(
    connection: &Connection,
    find: &str,
    installation: InstallationId,
    before: Option<String>,
) -> Result<Option<i64>, Error> {
    let Some(before) = before else { return Ok(Some(i64::MAX)) };
    let params = named_params! { ":before": before, ":installation": installation.get() };
    Ok(connection.prepare_cached(find)?.query_row(params, |row| row.get(0)).optional()?)
}

/// Reads a page of rows; one more than `limit` was asked for.
pub(super) fn page<T, C>(
    mut rows: Rows<'_>,
    limit: u32,
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, Error>,
    name: impl FnOnce(&T) -> C,
) -> Result<Page<T, C>, Error> {
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        items.push(read(row)?);
    }
    Ok(Page::cut(items, limit, name))
}
