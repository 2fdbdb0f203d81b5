//! What waits, counted from indexes and up to a bound.

use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Db, params};
use crate::store::types::Backlog;
use crate::store::types::upkeep::COUNT_MAX;

/// Reads what waits.
pub(in crate::store) fn read(db: &Db<'_>) -> Result<Backlog, Error> {
    let count = |table: &str, condition: &str| -> Result<i64, Error> {
        db.value(
            &format!("SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {condition} LIMIT +:max)"),
            params! { ":max": COUNT_MAX },
        )
    };
    let oldest = |table: &str| -> Result<Option<Timestamp>, Error> {
        db.value(&format!("SELECT min(available_at) FROM {table} WHERE status = 'available'"), &[])
    };
    Ok(Backlog {
        jobs_available: count("control_plane_jobs", "status = 'available'")?,
        oldest_job_at: oldest("control_plane_jobs")?,
        messages_available: count("outbox", "status = 'available'")?,
        oldest_message_at: oldest("outbox")?,
        dead_letters_open: count("dead_letters", "resolution IS NULL")?,
    })
}
