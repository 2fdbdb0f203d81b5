//! When workers last looked, and last succeeded.

use std::time::Duration;

use crate::store::error::Error;
use crate::store::sql::{Tx, params};

/// How exactly it is known when a reconciler polled last: each note is a write.
pub(in crate::store) const RECONCILERS_EVERY: Duration = Duration::from_secs(4);

/// Notes that a worker looked, and whether it succeeded; when it was noted within `every`, that stands.
pub(in crate::store) fn note(
    tx: &Tx<'_>,
    worker: &str,
    succeeded: bool,
    every: Duration,
) -> Result<(), Error> {
    // A time ahead of now is overwritten too: it comes from a clock that was wrong, and would hide a worker that hangs.
    tx.execute(
        "INSERT INTO worker_ticks (worker, last_poll_at, last_success_at) \
         VALUES (:worker, :now, iif(:succeeded, :now, NULL)) \
         ON CONFLICT (worker) DO UPDATE SET last_poll_at = excluded.last_poll_at, \
            last_success_at = coalesce(excluded.last_success_at, last_success_at) \
         WHERE last_poll_at NOT BETWEEN :lately + 1 AND :now \
            OR (:succeeded AND coalesce(last_success_at, 0) NOT BETWEEN :lately + 1 AND :now)",
        params! {
            ":worker": worker,
            ":succeeded": succeeded,
            ":now": tx.now,
            ":lately": tx.now.minus(every),
        },
    )?;
    Ok(())
}
