//! Whose turn it is: the claims of a queue go round the installations that have something due, so that
//! the backlog of one is no wait for another.

use rusqlite::{OptionalExtension as _, Row, named_params};

use crate::domain::id::InstallationId;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;

/// Installations that one claim looks at, at most, so that it does not hold up the writer.
const STEPS_MAX: u32 = 256;

/// An installation, and when its first waiting item is due.
pub(super) type Waiting = (i64, i64);

/// Reads `installation_id` and when its first waiting item is due.
pub(super) fn waiting(row: &Row<'_>) -> rusqlite::Result<Waiting> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Returns up to `max` installations whose turn it is: those behind the one that was served last that have
/// something due and that `admits`, in turn.
///
/// They count as served. `behind` finds the first installation with a number above the given one that has
/// something waiting, and when that is due. Each step is one look into an index; when the steps of one
/// claim are used up, the next claim goes on from there.
pub(super) fn next(
    tx: &Tx<'_>,
    (queue, max): (&str, usize),
    behind: impl Fn(i64) -> Result<Option<Waiting>, Error>,
    admits: impl Fn(InstallationId) -> Result<bool, Error>,
) -> Result<Vec<InstallationId>, Error> {
    let last = last(tx, queue)?;
    let (mut turns, mut steps) = (Vec::new(), 0);
    for (mut after, end) in [(last, i64::MAX), (0, last)] {
        while turns.len() < max
            && let Some((number, due_at)) = behind(after)?.filter(|(number, _)| *number <= end)
        {
            after = number;
            steps += 1;
            if steps > STEPS_MAX {
                serve(tx, queue, number)?;
                return Ok(turns);
            }
            let installation = number.try_into().map_err(|_| Error::Row("installation_id"))?;
            if due_at <= tx.now.micros() && admits(installation)? {
                turns.push(installation);
            }
        }
    }
    if let Some(installation) = turns.last() {
        serve(tx, queue, installation.get())?;
    }
    Ok(turns)
}

fn last(tx: &Tx<'_>, queue: &str) -> Result<i64, Error> {
    Ok(tx
        .connection
        .prepare_cached("SELECT installation_id FROM claim_turns WHERE queue = :queue")?
        .query_row(named_params! { ":queue": queue }, |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

fn serve(tx: &Tx<'_>, queue: &str, installation: i64) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO claim_turns (queue, installation_id) VALUES (:queue, :installation) \
             ON CONFLICT (queue) DO UPDATE SET installation_id = excluded.installation_id",
        )?
        .execute(named_params! { ":queue": queue, ":installation": installation })?;
    Ok(())
}
