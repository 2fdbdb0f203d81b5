//! Processes that hold sockets: their rows.

use crate::domain::id::RelayProcessId;
use crate::domain::relay::process::Beat;
use crate::store::error::Error;
use crate::store::sql::{Db, Tx, params};

/// Notes that a process has accepted a socket, which is a beat too. It begins with the time: a row that was deleted and
/// comes back does not have the beat at which it was given up.
pub(in crate::store) fn note(tx: &Tx<'_>, process: RelayProcessId) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_processes (process_id, beat) VALUES (:id, :now) \
         ON CONFLICT (process_id) DO UPDATE SET beat = beat + 1",
        params! { ":id": process, ":now": tx.now },
    )?;
    Ok(())
}

/// Raises the beat of a process, if it is noted.
pub(in crate::store) fn beat(tx: &Tx<'_>, process: RelayProcessId) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_processes SET beat = beat + 1 WHERE process_id = :id",
        params! { ":id": process },
    )?;
    Ok(())
}

/// Returns the beats of all processes but one.
pub(in crate::store) fn others(db: &Db<'_>, process: RelayProcessId) -> Result<Vec<Beat>, Error> {
    db.query(
        "SELECT process_id, beat FROM relay_processes WHERE process_id <> :id",
        params! { ":id": process },
        |row| Ok(Beat { process: row.get("process_id")?, beat: row.get("beat")? }),
    )
}

/// Says whether the beat of a process is still this one.
pub(in crate::store) fn is_at(db: &Db<'_>, at: Beat) -> Result<bool, Error> {
    db.value(
        "SELECT EXISTS (SELECT 1 FROM relay_processes WHERE process_id = :id AND beat = :beat)",
        params! { ":id": at.process, ":beat": at.beat },
    )
}

/// Deletes a process that holds no sockets any more.
pub(in crate::store) fn delete(tx: &Tx<'_>, process: RelayProcessId) -> Result<(), Error> {
    tx.execute("DELETE FROM relay_processes WHERE process_id = :id", params! { ":id": process })?;
    Ok(())
}
