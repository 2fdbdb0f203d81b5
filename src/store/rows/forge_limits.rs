//! How often the forge is called for one installation: the pause the forge asked for, its budget of
//! lookups, and the pace of its writes. All of it is stored, so that replicas share it.

use std::time::Duration;

use crate::domain::id::InstallationId;
use crate::domain::pace::Pace;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Db, Tx, params};

/// The period of the budget of lookups.
const WINDOW: Duration = Duration::from_secs(60);
/// Lookups of one installation within it.
const LOOKUPS_MAX: u32 = 60;

/// Pauses an installation for every process; a longer pause stands.
pub(in crate::store) fn pause(
    tx: &Tx<'_>,
    installation: InstallationId,
    until: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO installation_pauses (installation_id, paused_until, updated_at) \
         VALUES (:id, :until, :now) ON CONFLICT (installation_id) DO UPDATE SET \
            paused_until = max(paused_until, excluded.paused_until), \
            updated_at = excluded.updated_at",
        params! {
            ":id": installation,
            ":until": until,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Says whether an item of the installation may be looked at now: it is not paused, and has lookups left.
pub(in crate::store) fn may_look_up(
    tx: &Tx<'_>,
    installation: InstallationId,
) -> Result<bool, Error> {
    if paused_until(tx, installation, tx.now)?.is_some() {
        return Ok(false);
    }
    // A window that ends later than one that begins now was begun by a clock that was ahead.
    tx.value(
        "SELECT NOT EXISTS (SELECT 1 FROM reconciliation_budgets WHERE installation_id = :id \
         AND window_ends_at > :now AND window_ends_at <= :ends AND look_count >= :looks_max)",
        params! {
            ":id": installation,
            ":now": tx.now,
            ":ends": tx.now.plus(WINDOW),
            ":looks_max": LOOKUPS_MAX,
        },
    )
}

/// Takes one lookup from the installation's budget.
pub(in crate::store) fn take_lookup(
    tx: &Tx<'_>,
    installation: InstallationId,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO reconciliation_budgets (installation_id, window_ends_at, look_count) \
         VALUES (:id, :ends, 1) ON CONFLICT (installation_id) DO UPDATE SET \
            look_count = iif(window_ends_at > :now AND window_ends_at <= :ends, \
                look_count + 1, 1), \
            window_ends_at = iif(window_ends_at > :now AND window_ends_at <= :ends, \
                window_ends_at, :ends)",
        params! { ":id": installation, ":now": tx.now, ":ends": tx.now.plus(WINDOW) },
    )?;
    Ok(())
}

/// Returns when the installation's pause or pace allows its next write; `None` if it may write now.
pub(in crate::store) fn write_not_before(
    tx: &Tx<'_>,
    installation: InstallationId,
    pace: Pace,
) -> Result<Option<Timestamp>, Error> {
    if let Some(until) = paused_until(tx, installation, tx.now)? {
        return Ok(Some(until));
    }
    // Only after the pause: a pause concerns all calls, the pace only writes.
    let ready_at = pace.ready_at(booked_until(tx, installation)?, tx.now);
    Ok(Some(ready_at).filter(|at| *at > tx.now))
}

/// Books a write that is about to be sent. If it must wait, returns until when and books nothing.
pub(in crate::store) fn book_write(
    tx: &Tx<'_>,
    installation: InstallationId,
    pace: Pace,
) -> Result<Option<Timestamp>, Error> {
    // Asked again in the transaction that books: between the claim and here another process may have written or paused.
    if let Some(until) = write_not_before(tx, installation, pace)? {
        return Ok(Some(until));
    }
    let booked = pace.book(booked_until(tx, installation)?, tx.now);
    tx.execute(
        "INSERT INTO forge_write_paces (installation_id, booked_until) VALUES (:id, :booked) \
         ON CONFLICT (installation_id) DO UPDATE SET booked_until = excluded.booked_until",
        params! { ":id": installation, ":booked": booked },
    )?;
    Ok(None)
}

fn booked_until(tx: &Tx<'_>, installation: InstallationId) -> Result<Option<Timestamp>, Error> {
    tx.query_one(
        "SELECT booked_until FROM forge_write_paces WHERE installation_id = :id",
        params! { ":id": installation },
        |row| row.get("booked_until"),
    )
}

/// Returns until when the forge asked the installation to wait; `None` if it may be called.
pub(in crate::store) fn paused_until(
    db: &Db<'_>,
    installation: InstallationId,
    now: Timestamp,
) -> Result<Option<Timestamp>, Error> {
    db.query_one(
        "SELECT paused_until FROM installation_pauses \
         WHERE installation_id = :id AND paused_until > :now",
        params! { ":id": installation, ":now": now },
        |row| row.get("paused_until"),
    )
}
