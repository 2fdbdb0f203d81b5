//! What must hold of a database file, whatever happened to the process and the machine.

use std::path::Path;

use rusqlite::Connection;

use crate::daemon::database;

/// What peers were told.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// Ids of deliveries that were answered with success.
    pub(super) deliveries: Vec<String>,
    /// Keys of replays that were answered with success, with their audit events.
    pub(super) replays: Vec<(String, String)>,
}

/// Says what is wrong with a database, after everything in `told` was answered.
pub(super) fn check(path: &Path, told: &Told) -> Result<(), String> {
    let database = database::open(path);
    compare(&database, told).unwrap_or_else(|error| Err(format!("it cannot be read: {error}")))
}

fn compare(database: &Connection, told: &Told) -> rusqlite::Result<Result<(), String>> {
    // Only of this look: an image is thrown away after it.
    database.execute_batch("PRAGMA synchronous = OFF")?;
    let found: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if found != "ok" {
        return Ok(Err(format!("integrity: {found}")));
    }
    let query = "SELECT count(*) FROM pragma_foreign_key_check";
    if database.query_row(query, [], |row| row.get(0)).map(|broken: i64| broken != 0)? {
        return Ok(Err("a reference leads nowhere".to_owned()));
    }
    for id in &told.deliveries {
        let query = "SELECT count(*) FROM webhook_inbox JOIN control_plane_jobs USING (inbox_id) \
                     WHERE webhook_inbox.idempotency_key = 'forge:' || ?1";
        let rows: i64 = database.query_row(query, [id], |row| row.get(0))?;
        if rows != 1 {
            return Ok(Err(format!("{id} was acknowledged, and is there {rows} times")));
        }
    }
    for (key, event) in &told.replays {
        let query = "SELECT count(*), sum(audit_event_id = ?2) FROM audit_events \
                     WHERE operation_id = ?1";
        let (rows, same): (i64, Option<i64>) =
            database.query_row(query, [key, event], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let query = "SELECT count(*) FROM operator_operations WHERE operation_id = ?1";
        let operations: i64 = database.query_row(query, [key], |row| row.get(0))?;
        if (rows, same, operations) != (1, Some(1), 1) {
            return Ok(Err(format!("{key}: {rows} audit events, {operations} operations")));
        }
    }
    let query = "SELECT count(*) FROM sqlite_schema WHERE name = 'operator_operations'";
    if database.query_row(query, [], |row| row.get(0)).map(|tables: i64| tables == 0)? {
        return Ok(Ok(()));
    }
    let query = "SELECT (SELECT count(*) FROM audit_events WHERE operation_id IS NOT NULL) - \
                 (SELECT count(*) FROM operator_operations)";
    let apart: i64 = database.query_row(query, [], |row| row.get(0))?;
    let words = format!("{apart} audit events without their operations");
    Ok(if apart == 0 { Ok(()) } else { Err(words) })
}
