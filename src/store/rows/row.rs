//! Values that stand in more than one column. A row that does not read is an error, never a guess.

use crate::domain::dead_letter::{ItemId, ItemType};
use crate::domain::repository::RepositoryRef;
use crate::store::error::Error;
use crate::store::sql::Row;

/// Reads `item_type` and `item_id`.
pub(in crate::store) fn item(row: &Row<'_>) -> Result<ItemId, Error> {
    let item_type: ItemType = row.get("item_type")?;
    row.read("item_id", |value| ItemId::parse(item_type, value.text()?))
}

/// Reads `repository_id` and `repository`; returns `None` if either is null.
pub(in crate::store) fn repository(row: &Row<'_>) -> Result<Option<RepositoryRef>, Error> {
    let number: Option<i64> = row.get("repository_id")?;
    let name: Option<String> = row.get("repository")?;
    let (Some(number), Some(name)) = (number, name) else { return Ok(None) };
    match (number.try_into(), name.parse()) {
        (Ok(id), Ok(full_name)) => Ok(Some(RepositoryRef { id, full_name })),
        _ => Err(Error::Row("repository")),
    }
}
