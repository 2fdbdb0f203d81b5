//! How often the forge is looked at for one installation: what one may use up, and the pause the forge
//! asked for.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, named_params};

use crate::domain::id::InstallationId;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;

/// What a budget is for.
const WINDOW: Duration = Duration::from_secs(60);
/// Looks of one installation within it.
const LOOKS_MAX: u32 = 60;

/// Takes one look from the installation's budget; or returns when it may be looked at again, because it
/// is paused or has used its budget up.
pub(super) fn exhausted_until(
    tx: &Tx<'_>,
    installation: InstallationId,
) -> Result<Option<Timestamp>, Error> {
    if let Some(until) = paused_until(tx, installation)? {
        return Ok(Some(until));
    }
    // A window that ends later than one that begins now was begun by a clock that was ahead.
    let (ends_at, count): (i64, u32) = tx
        .connection
        .prepare_cached(
            "INSERT INTO reconciliation_budgets (installation_id, window_ends_at, look_count) \
             VALUES (:id, :ends, 1) ON CONFLICT (installation_id) DO UPDATE SET \
                look_count = iif(window_ends_at > :now AND window_ends_at <= :ends, look_count + 1, 1), \
                window_ends_at = iif(window_ends_at > :now AND window_ends_at <= :ends, \
                    window_ends_at, :ends) \
             RETURNING window_ends_at, look_count",
        )?
        .query_row(
            named_params! {
                ":id": installation.get(),
                ":now": tx.now.micros(),
                ":ends": tx.now.plus(WINDOW).micros(),
            },
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
    Ok((count > LOOKS_MAX).then(|| Timestamp::from_micros(ends_at)))
}

fn paused_until(tx: &Tx<'_>, installation: InstallationId) -> Result<Option<Timestamp>, Error> {
    let until: Option<i64> = tx
        .connection
        .prepare_cached(
            "SELECT paused_until FROM installation_pauses \
             WHERE installation_id = :id AND paused_until > :now",
        )?
        .query_row(named_params! { ":id": installation.get(), ":now": tx.now.micros() }, |row| {
            row.get(0)
        })
        .optional()?;
    Ok(until.map(Timestamp::from_micros))
}
