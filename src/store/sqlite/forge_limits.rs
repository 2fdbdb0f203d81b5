//! How often the forge is called for one installation: the pause the forge asked for, its budget of
//! looks, and the pace of its writes. All of it is stored, so that replicas share it.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, named_params};

use crate::domain::id::InstallationId;
use crate::domain::pace::Pace;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::Store;
use crate::store::sqlite::command::Tx;

/// What the budget of looks is for.
const WINDOW: Duration = Duration::from_secs(60);
/// Looks of one installation within it.
const LOOKS_MAX: u32 = 60;

impl Store {
    /// Returns until when the forge asked the installation to wait; `None` if it may be called now.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn paused_until(&self, installation: InstallationId) -> Result<Option<Timestamp>, Error> {
        let now = self.clock.now();
        self.read(|connection| paused_until(connection, installation, now))
    }

    /// Pauses an installation for every process, because the forge asked it to wait.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the pause is not on disk.
    pub fn pause(&self, installation: InstallationId, until: Timestamp) -> Result<(), Error> {
        self.write(move |tx| pause(tx, installation, until))
    }
}

/// Pauses an installation for every process; a longer pause stands.
pub(super) fn pause(
    tx: &Tx<'_>,
    installation: InstallationId,
    until: Timestamp,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO installation_pauses (installation_id, paused_until, updated_at) \
             VALUES (:id, :until, :now) ON CONFLICT (installation_id) DO UPDATE SET \
                paused_until = max(paused_until, excluded.paused_until), \
                updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":id": installation.get(),
            ":until": until.micros(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

/// Says whether an item of the installation may be looked at now: it is not paused, and has looks left.
pub(super) fn may_look(tx: &Tx<'_>, installation: InstallationId) -> Result<bool, Error> {
    if paused_until(tx.connection, installation, tx.now)?.is_some() {
        return Ok(false);
    }
    // A window that ends later than one that begins now was begun by a clock that was ahead.
    Ok(tx
        .connection
        .prepare_cached(
            "SELECT NOT EXISTS (SELECT 1 FROM reconciliation_budgets WHERE installation_id = :id \
                AND window_ends_at > :now AND window_ends_at <= :ends AND look_count >= :looks_max)",
        )?
        .query_row(
            named_params! {
                ":id": installation.get(),
                ":now": tx.now.micros(),
                ":ends": tx.now.plus(WINDOW).micros(),
                ":looks_max": LOOKS_MAX,
            },
            |row| row.get(0),
        )?)
}

/// Takes one look from the installation's budget.
pub(super) fn take_look(tx: &Tx<'_>, installation: InstallationId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO reconciliation_budgets (installation_id, window_ends_at, look_count) \
             VALUES (:id, :ends, 1) ON CONFLICT (installation_id) DO UPDATE SET \
                look_count = iif(window_ends_at > :now AND window_ends_at <= :ends, look_count + 1, 1), \
                window_ends_at = iif(window_ends_at > :now AND window_ends_at <= :ends, \
                    window_ends_at, :ends)",
        )?
        .execute(named_params! {
            ":id": installation.get(),
            ":now": tx.now.micros(),
            ":ends": tx.now.plus(WINDOW).micros(),
        })?;
    Ok(())
}

/// Returns when the installation's pause or pace allows its next write; `None` if it may write now.
pub(super) fn write_not_before(
    tx: &Tx<'_>,
    installation: InstallationId,
    pace: Pace,
) -> Result<Option<Timestamp>, Error> {
    if let Some(until) = paused_until(tx.connection, installation, tx.now)? {
        return Ok(Some(until));
    }
    let ready_at = pace.ready_at(booked_until(tx, installation)?, tx.now);
    Ok(Some(ready_at).filter(|at| *at > tx.now))
}

/// Books a write that is about to be sent. If it must wait, returns until when and books nothing.
pub(super) fn book_write(
    tx: &Tx<'_>,
    installation: InstallationId,
    pace: Pace,
) -> Result<Option<Timestamp>, Error> {
    if let Some(until) = write_not_before(tx, installation, pace)? {
        return Ok(Some(until));
    }
    let booked = pace.book(booked_until(tx, installation)?, tx.now);
    tx.connection
        .prepare_cached(
            "INSERT INTO forge_write_paces (installation_id, booked_until) VALUES (:id, :booked) \
             ON CONFLICT (installation_id) DO UPDATE SET booked_until = excluded.booked_until",
        )?
        .execute(named_params! { ":id": installation.get(), ":booked": booked.micros() })?;
    Ok(None)
}

fn booked_until(tx: &Tx<'_>, installation: InstallationId) -> Result<Option<Timestamp>, Error> {
    let booked: Option<i64> = tx
        .connection
        .prepare_cached("SELECT booked_until FROM forge_write_paces WHERE installation_id = :id")?
        .query_row(named_params! { ":id": installation.get() }, |row| row.get(0))
        .optional()?;
    Ok(booked.map(Timestamp::from_micros))
}

fn paused_until(
    connection: &Connection,
    installation: InstallationId,
    now: Timestamp,
) -> Result<Option<Timestamp>, Error> {
    let until: Option<i64> = connection
        .prepare_cached(
            "SELECT paused_until FROM installation_pauses \
             WHERE installation_id = :id AND paused_until > :now",
        )?
        .query_row(named_params! { ":id": installation.get(), ":now": now.micros() }, |row| {
            row.get(0)
        })
        .optional()?;
    Ok(until.map(Timestamp::from_micros))
}
