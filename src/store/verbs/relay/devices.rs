//! Devices: which subject a key belongs to, and revocation.

use crate::domain::id::DeviceId;
use crate::domain::relay::device::Revocation;
use crate::domain::relay::{DecidedBy, RelayEventName, device, session};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account};
use crate::store::rows::relay::{devices, session_events, sessions};
use crate::store::sql::Tx;
use crate::store::types::relay::{Device, Effects, KeyPoint, SessionSocket};

impl Store {
    /// Returns the device that has this key, even if it is revoked; `None` if no person has paired it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_device(&self, key: &KeyPoint) -> Result<Option<Device>, Error> {
        self.read(|db| devices::of_key(db, key))
    }

    /// Revokes a device for ever, at the request of the operator `by`: its sessions end, its sockets are closed. Returns
    /// `None` if there is no such device, and no effects if it was revoked before.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_revoke_device(
        &self,
        device: DeviceId,
        by: &str,
    ) -> Result<Option<Effects>, Error> {
        let by = by.to_owned();
        self.write(move |tx| {
            let account = Account::operator(&by);
            devices::find(tx, device)?.map(|device| revoke(tx, &device, &account)).transpose()
        })
    }

    /// Revokes the device of a session for ever, at the request of its person: the same. Changes nothing once another
    /// socket was accepted for the session.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_forget_device(&self, held: SessionSocket) -> Result<Effects, Error> {
        self.write(move |tx| {
            let Some(session) = sessions::held(tx, held)? else { return Ok(Effects::default()) };
            let device = devices::find(tx, session.device)?.ok_or(Error::Row("relay device"))?;
            revoke(tx, &device, &Account::of(DecidedBy::Person))
        })
    }
}

fn revoke(tx: &mut Tx<'_>, device: &Device, account: &Account<'_>) -> Result<Effects, Error> {
    let mut effects = Effects::default();
    if device::revoke(device.state) == Revocation::Unchanged {
        return Ok(effects);
    }
    devices::revoke(tx, device.id)?;
    audit::device(tx, RelayEventName::DeviceRevoked, device, None, account)?;
    for mut session in sessions::of_device(tx, device.id)? {
        let event = session::Event::DeviceRevoked;
        session_events::happens(tx, &mut session, event, account, &mut effects)?;
    }
    Ok(effects)
}
