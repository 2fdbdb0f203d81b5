//! Devices: a plugin's key, and the subject that it belongs to.

use crate::domain::id::DeviceId;
use crate::domain::relay::{DesignTool, device};
use crate::store::error::Error;
use crate::store::sql::{Db, Row, Tx, params};
use crate::store::types::relay::{Device, KeyPoint};

/// Returns the device that has a key.
pub(in crate::store) fn of_key(db: &Db<'_>, key: &KeyPoint) -> Result<Option<Device>, Error> {
    db.query_one(
        "SELECT device_id, subject, state FROM relay_devices WHERE public_key = :key",
        params! { ":key": key },
        read,
    )
}

/// Returns a device.
pub(in crate::store) fn find(db: &Db<'_>, id: DeviceId) -> Result<Option<Device>, Error> {
    db.query_one(
        "SELECT device_id, subject, state FROM relay_devices WHERE device_id = :id",
        params! { ":id": id },
        read,
    )
}

fn read(row: &Row<'_>) -> Result<Device, Error> {
    Ok(Device { id: row.get("device_id")?, subject: row.get("subject")?, state: row.get("state")? })
}

/// Adds an active device.
pub(in crate::store) fn insert(
    tx: &Tx<'_>,
    device: &Device,
    key: &KeyPoint,
    tool: DesignTool,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_devices (device_id, public_key, subject, tool, state, created_at, last_seen_at) \
         VALUES (:id, :key, :subject, :tool, :state, :now, :now)",
        params! {
            ":id": device.id,
            ":key": key,
            ":subject": device.subject,
            ":tool": tool,
            ":state": device.state,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Notes that a page has proved the device's key.
pub(in crate::store) fn note_seen(tx: &Tx<'_>, id: DeviceId) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_devices SET last_seen_at = :now WHERE device_id = :id",
        params! { ":id": id, ":now": tx.now },
    )?;
    Ok(())
}

pub(in crate::store) fn revoke(tx: &Tx<'_>, id: DeviceId) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_devices SET state = :revoked, revoked_at = :now \
         WHERE device_id = :id AND state = 'active'",
        params! { ":id": id, ":revoked": device::State::Revoked, ":now": tx.now },
    )?;
    Ok(())
}
