//! The ladder of schema steps. `user_version` says on which one a file stands.
//!
//! A newer file is left alone unless it admits this binary: its `schema_compatibility` row says how
//! old a reader and a writer may be, so that an older replica can go on, and restart, during a rolling
//! upgrade. Nothing is ever downgraded.

use std::path::Path;

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

use crate::runtime::clock::Clock;
use crate::store::error::OpenError;
use crate::store::sqlite::failure::unreadable;
use crate::store::types::{OnOpening, Opening};

macro_rules! step {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../migrations/", $name, "/up.sql")))
    };
}

/// Every step: folder name and statements. Steps are only ever added.
const STEPS: [(&str, &str); 60] = [
    step!("01-schema-compatibility"),
    step!("02-installations"),
    step!("03-repositories"),
    step!("04-webhook-inbox"),
    step!("05-control-plane-jobs"),
    step!("06-control-plane-jobs-claim"),
    step!("07-release-runs"),
    step!("08-release-run-attempts"),
    step!("09-outbox"),
    step!("10-outbox-claim"),
    step!("11-dead-letters"),
    step!("12-dead-letters-listing"),
    step!("13-audit-events"),
    step!("14-operator-operations"),
    step!("15-installation-pauses"),
    step!("16-release-run-results"),
    step!("17-reconciliation-items"),
    step!("18-result-callbacks"),
    step!("19-worker-ticks"),
    step!("20-retention"),
    step!("21-forge-conclusion"),
    step!("22-attempt-targets"),
    step!("23-reconciliation-budgets"),
    step!("24-reconciliation-claims"),
    step!("25-release-runs-listing"),
    step!("26-reconciliation-items-listing"),
    step!("27-signals"),
    step!("28-result-refusals"),
    step!("29-webhook-redeliveries"),
    step!("30-agent-cards"),
    step!("31-repository-owners"),
    step!("32-lag-counts"),
    step!("33-claim-turns"),
    step!("34-forge-write-paces"),
    step!("35-check-runs-not-ours"),
    step!("36-given-up-items"),
    step!("37-forge-conclusion-kept"),
    step!("38-release-runs-of-repository"),
    step!("39-mcp-request-states"),
    step!("40-relay-keys"),
    step!("41-relay-devices"),
    step!("42-relay-sessions"),
    step!("43-relay-pairings"),
    step!("44-relay-proposals"),
    step!("45-relay-invocations"),
    step!("46-relay-approvals"),
    step!("47-relay-grants"),
    step!("48-relay-allowances"),
    step!("49-relay-audit-events"),
    step!("50-relay-audit-signatures"),
    step!("51-relay-calls-and-processes"),
    step!("52-reconciliation-outcomes"),
    step!("53-inbox-age"),
    step!("54-dead-letter-causes"),
    step!("55-release-retention"),
    step!("56-job-key"),
    step!("57-list-filters"),
    step!("58-closed-dead-letters"),
    step!("59-given-up-signals"),
    step!("60-store-identity"),
];

/// The newest step this binary knows.
pub const NEWEST_STEP: i64 = 60;

/// Marks a file as ours; set by the first step.
const APPLICATION_ID: i64 = 0x7376_6331;

/// Refuses another program's database. Only reads, so that it may come before any setting.
pub(in crate::store) fn check_owner(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let pragma = |name| pragma(connection, path, name);
    if pragma("user_version")? == 0 {
        let objects: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|error| unreadable(path, error))?;
        if objects > 0 {
            return Err(OpenError::Foreign(path.to_owned()));
        }
    } else if pragma("application_id")? != APPLICATION_ID {
        return Err(OpenError::Foreign(path.to_owned()));
    }
    Ok(())
}

/// Brings the file up to the newest step, from the first one only when it is not `known` to have been
/// there. The caller holds the start-up lock, and the file is ours.
pub(in crate::store) fn migrate(
    connection: &mut Connection,
    path: &Path,
    known: bool,
    clock: &dyn Clock,
    on_opening: &OnOpening,
) -> Result<(), OpenError> {
    let found = pragma(connection, path, "user_version")?;
    // Not an empty file, which was refused before, but one without a schema: the database was replaced.
    if found == 0 && known {
        return Err(OpenError::Gone(path.to_owned()));
    }
    if found > NEWEST_STEP {
        // The row is written by the newer version, which alone knows what its schema demands of older ones.
        return if admits(connection).map_err(|error| OpenError::Database(error.into()))? {
            Ok(())
        } else {
            Err(OpenError::TooNew { found, known: NEWEST_STEP })
        };
    }
    // Steps of a file without data take no time.
    let is_reported = 0 < found && found < NEWEST_STEP;
    let began = clock.monotonic();
    if is_reported {
        on_opening(Opening::MigrationBegan { from: found, to: NEWEST_STEP });
    }
    let steps = STEPS.iter().map(|(name, up)| M::up(up).comment(name)).collect();
    let migrated = Migrations::new(steps).to_latest(connection);
    migrated.map_err(|error| OpenError::Migration(error.into()))?;
    if is_reported {
        let took = clock.monotonic().saturating_sub(began);
        on_opening(Opening::MigrationEnded { took });
    }
    Ok(())
}

fn admits(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT oldest_reader_step <= ?1 AND oldest_writer_step <= ?1 FROM schema_compatibility",
        [NEWEST_STEP],
        |row| row.get(0),
    )
}

fn pragma(connection: &Connection, path: &Path, name: &str) -> Result<i64, OpenError> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(|error| unreadable(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_a_step_in_its_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, STEPS.map(|(name, _)| name));
        assert_eq!(i64::try_from(STEPS.len()), Ok(NEWEST_STEP));
    }
}
