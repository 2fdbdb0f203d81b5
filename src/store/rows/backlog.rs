//! What waits, counted from indexes and up to a bound.

use crate::store::error::Error;
use crate::store::sql::{Db, params};
use crate::store::types::Backlog;
use crate::store::types::upkeep::COUNT_MAX;

/// Reads what waits.
pub(in crate::store) fn read(db: &Db<'_>) -> Result<Backlog, Error> {
    // Counting all of a large backlog would walk its index at each poll; the bound makes the cost constant.
    let count = |sql| db.value(sql, params! { ":max": COUNT_MAX });
    Ok(Backlog {
        jobs_available: count(
            "SELECT count(*) FROM (SELECT 1 FROM control_plane_jobs \
             WHERE status = 'available' LIMIT +:max)",
        )?,
        oldest_job_at: db.value(
            "SELECT min(available_at) FROM control_plane_jobs WHERE status = 'available'",
            &[],
        )?,
        messages_available: count(
            "SELECT count(*) FROM (SELECT 1 FROM outbox WHERE status = 'available' LIMIT +:max)",
        )?,
        oldest_message_at: db
            .value("SELECT min(available_at) FROM outbox WHERE status = 'available'", &[])?,
        dead_letters_open: count(
            "SELECT count(*) FROM (SELECT 1 FROM dead_letters \
             WHERE resolution IS NULL LIMIT +:max)",
        )?,
    })
}
