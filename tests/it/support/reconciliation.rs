//! Reconciliation items put into the file from outside, where a test needs them and no worker.

use std::time::Duration;

use svc::runtime::clock::Clock as _;

use crate::support::World;
use crate::support::world::open_raw;

/// What an item is about.
pub(crate) struct Item<'a> {
    kind: &'static str,
    reason: &'a str,
    subject: &'a str,
}

impl<'a> Item<'a> {
    pub(crate) const fn of_attempt(reason: &'a str, attempt: &'a str) -> Self {
        Self { kind: "workflow_attempt", reason, subject: attempt }
    }

    pub(crate) const fn of_release(release_run: &'a str) -> Self {
        Self { kind: "release_run", reason: "reporting_stale", subject: release_run }
    }
}

/// Opens an item that is looked at in a minute, and for half an hour.
pub(crate) fn add(world: &World, installation: i64, item: &Item<'_>) {
    let now = world.clock.now();
    add_to(&open_raw(&world.database()), installation, item, now);
}

/// Opens an item in the file of a connection.
pub(crate) fn add_to(
    database: &rusqlite::Connection,
    installation: i64,
    item: &Item<'_>,
    now: svc::domain::time::Timestamp,
) {
    let later = |seconds| now.plus(Duration::from_secs(seconds)).micros();
    // A number of its own for each row makes an id that rises with it.
    database
        .execute(
            "INSERT INTO reconciliation_items (reconciliation_id, kind, reason, subject_id, \
                installation_id, status, next_check_at, deadline_at, created_at, updated_at) \
             SELECT format('0199f3a0-0000-7000-8000-%012d', count(*)), ?1, ?2, ?3, ?4, 'open', ?5, \
                ?6, ?7, ?7 FROM reconciliation_items",
            rusqlite::params![
                item.kind,
                item.reason,
                item.subject,
                installation,
                later(60),
                later(1_800),
                now.micros(),
            ],
        )
        .unwrap();
}
