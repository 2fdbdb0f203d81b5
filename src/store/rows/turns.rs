//! Whose turn it is: the claims of a queue go round the installations that have something due, so that
//! the backlog of one is no wait for another.
//!
//! See `docs/decisions/09-tenant-fairness.md`.

use crate::domain::id::InstallationId;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Row, Tx, params};

/// Installations that one claim reads, at most, so that it does not hold up the writer.
const STEPS_MAX: u32 = 256;

/// An installation, and when its first waiting item is due.
pub(in crate::store) struct Waiting {
    installation: InstallationId,
    due_at: Timestamp,
}

/// Reads `installation_id`, and from `due_column` when its first waiting item is due.
pub(in crate::store) fn waiting(row: &Row<'_>, due_column: &'static str) -> Result<Waiting, Error> {
    Ok(Waiting { installation: row.get("installation_id")?, due_at: row.get(due_column)? })
}

/// Returns up to `max` installations whose turn it is: those behind the one that was served last that have
/// something due and that `admits`, in turn.
///
/// They count as served. `behind` finds the first installation with a number above the given one that has
/// something waiting, and when that is due. Each step is one search of an index; when the steps of one
/// claim are used up, the next claim goes on from there.
pub(in crate::store) fn next(
    tx: &Tx<'_>,
    queue: &str,
    max: usize,
    behind: impl Fn(i64) -> Result<Option<Waiting>, Error>,
    admits: impl Fn(InstallationId) -> Result<bool, Error>,
) -> Result<Vec<InstallationId>, Error> {
    let last = last(tx, queue)?;
    let (mut turns, mut steps) = (Vec::new(), 0);
    for (mut after, end) in [(last, i64::MAX), (0, last)] {
        while turns.len() < max
            && let Some(Waiting { installation, due_at }) =
                behind(after)?.filter(|found| found.installation.get() <= end)
        {
            if steps == STEPS_MAX {
                // Kept even if nothing was claimed, or each claim would walk the same installations that must wait.
                // Not the one just found: it was not looked at, and with 257 waiting it would be left out each time.
                serve(tx, queue, after)?;
                return Ok(turns);
            }
            after = installation.get();
            steps += 1;
            // The time first, since it is known already; `admits` reads the store.
            if due_at <= tx.now && admits(installation)? {
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
        .query_one(
            "SELECT installation_id FROM claim_turns WHERE queue = :queue",
            params! { ":queue": queue },
            |row| row.get("installation_id"),
        )?
        .unwrap_or(0))
}

fn serve(tx: &Tx<'_>, queue: &str, installation: i64) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO claim_turns (queue, installation_id) VALUES (:queue, :installation) \
         ON CONFLICT (queue) DO UPDATE SET installation_id = excluded.installation_id",
        params! { ":queue": queue, ":installation": installation },
    )?;
    Ok(())
}
