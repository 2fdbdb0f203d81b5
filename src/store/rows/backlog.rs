//! What waits, counted from indexes and up to a bound.

use std::collections::BTreeMap;

use crate::domain::dead_letter::DeadLetterReason;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Db, params};
use crate::store::types::Backlog;
use crate::store::types::upkeep::COUNT_MAX;

/// Returns when the oldest webhook came that is not processed.
pub(in crate::store) fn oldest_unprocessed_at(db: &Db<'_>) -> Result<Option<Timestamp>, Error> {
    // From the inbox itself, not through its jobs: a webhook whose job was lost waits too.
    db.value(
        "SELECT min(received_at) FROM webhook_inbox WHERE state IN ('accepted', 'processing')",
        &[],
    )
}

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

/// Counts the open dead letters by reason; one that this version does not know counts for none.
pub(in crate::store) fn dead_letters_by_reason(
    db: &Db<'_>,
) -> Result<BTreeMap<&'static str, u64>, Error> {
    // Counted here, because SQLite would sort them first.
    let reasons: Vec<String> = db.query(
        "SELECT reason_code FROM dead_letters WHERE resolution IS NULL LIMIT +:max",
        params! { ":max": COUNT_MAX },
        |row| row.get("reason_code"),
    )?;
    let mut counts = BTreeMap::new();
    for reason in reasons.iter().filter_map(|reason| DeadLetterReason::from_word(reason)) {
        *counts.entry(reason.as_str()).or_default() += 1;
    }
    Ok(counts)
}
