//! Columns to values: every conversion from a stored word or number stands here once. A row that does
//! not read is an error, never a guess.

use rusqlite::Row;

use crate::domain::dead_letter::{ItemId, ItemType};
use crate::domain::outbox::EffectKind;
use crate::domain::release::ReleaseStatus;
use crate::domain::repository::RepositoryRef;
use crate::domain::time::Timestamp;
use crate::store::error::Error;

/// Reads a column and turns it into a value, or says which one could not be read.
pub(super) fn read<V, T>(
    row: &Row<'_>,
    column: &'static str,
    convert: impl FnOnce(V) -> Option<T>,
) -> Result<T, Error>
where
    V: rusqlite::types::FromSql,
{
    convert(row.get(column)?).ok_or(Error::Row(column))
}

pub(super) fn id<T: std::str::FromStr>(row: &Row<'_>, column: &'static str) -> Result<T, Error> {
    read(row, column, |text: String| text.parse().ok())
}

pub(super) fn number<T: TryFrom<i64>>(row: &Row<'_>, column: &'static str) -> Result<T, Error> {
    read(row, column, |number: i64| T::try_from(number).ok())
}

pub(super) fn number_or_null<T: TryFrom<i64>>(
    row: &Row<'_>,
    column: &'static str,
) -> Result<Option<T>, Error> {
    read(row, column, |number: Option<i64>| match number {
        None => Some(None),
        Some(number) => T::try_from(number).ok().map(Some),
    })
}

pub(super) fn instant(row: &Row<'_>, column: &'static str) -> Result<Timestamp, Error> {
    read(row, column, |micros: i64| Some(Timestamp::from_micros(micros)))
}

pub(super) fn instant_or_null(
    row: &Row<'_>,
    column: &'static str,
) -> Result<Option<Timestamp>, Error> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_micros))
}

pub(super) fn item(row: &Row<'_>) -> Result<ItemId, Error> {
    let item_type = read(row, "item_type", |word: String| ItemType::from_word(&word))?;
    read(row, "item_id", |text: String| ItemId::parse(item_type, &text))
}

pub(super) fn effect_kind(row: &Row<'_>) -> Result<EffectKind, Error> {
    read(row, "kind", |word: String| EffectKind::from_word(&word))
}

pub(super) fn release_status(row: &Row<'_>) -> Result<ReleaseStatus, Error> {
    read(row, "status", |word: String| ReleaseStatus::from_word(&word))
}

/// Reads `repository_id` and `repository`; nothing when either is null.
pub(super) fn repository(row: &Row<'_>) -> Result<Option<RepositoryRef>, Error> {
    let number: Option<i64> = row.get("repository_id")?;
    let name: Option<String> = row.get("repository")?;
    let (Some(number), Some(name)) = (number, name) else { return Ok(None) };
    match (number.try_into(), name.parse()) {
        (Ok(id), Ok(full_name)) => Ok(Some(RepositoryRef { id, full_name })),
        _ => Err(Error::Row("repository")),
    }
}
