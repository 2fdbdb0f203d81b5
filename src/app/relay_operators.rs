//! What an operator does about the relay: look, end, deny. Operators cannot approve, because an operator is not the
//! person. Every function asks for the principal, so none can be reached without the check.
//!
//! See `docs/decisions/77-relay-operators.md`.

use std::borrow::Cow;

use crate::api::relay::{RelayAuditEvent, RelayDevice, RelayInvocation, RelaySession, RelayStatus};
use crate::api::{ListRequest, ListRow};
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::id::{DeviceId, InvocationId, RelaySessionId};
use crate::domain::page::Page;
use crate::domain::relay::invocation;
use crate::store::relay::Effects;
use crate::store::{self, Store};

/// The stored items of the relay, as operators see them.
pub trait RelayList: ListRow {
    /// Reads a page, newest row first; `None` if the cursor names no row.
    ///
    /// # Errors
    /// [`store::Error::Unavailable`] when the store cannot be read now.
    fn page(
        store: &Store,
        wanted: &ListRequest<Self>,
    ) -> Result<Option<Page<Self, Self::Cursor>>, store::Error>;

    /// Reads one row by its id or number.
    ///
    /// # Errors
    /// [`store::Error::Unavailable`] when the store cannot be read now.
    fn find(store: &Store, id: Self::Cursor) -> Result<Option<Self>, store::Error>;
}

/// Declares the verbs of the store that read a list.
macro_rules! lists {
    ($($row:ty: $page:ident, $find:ident;)*) => {$(
        impl RelayList for $row {
            fn page(
                store: &Store,
                wanted: &ListRequest<Self>,
            ) -> Result<Option<Page<Self, Self::Cursor>>, store::Error> {
                store.$page(wanted)
            }

            fn find(store: &Store, id: Self::Cursor) -> Result<Option<Self>, store::Error> {
                store.$find(id)
            }
        }
    )*};
}

lists! {
    RelaySession: relay_sessions, relay_show_session;
    RelayDevice: relay_devices, relay_show_device;
    RelayInvocation: relay_invocations, relay_show_invocation;
    RelayAuditEvent: relay_audit_events, relay_show_audit_event;
}

impl App {
    /// Returns the relay's status.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_status(&self, _: &Principal) -> Result<RelayStatus, Error> {
        Ok(RelayStatus { enabled: self.relay.is_some(), counts: self.store.relay_counts()? })
    }

    /// Returns a page of a list of the relay, newest row first. What is stored can be read while the relay is off too.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the cursor names no row of the list, [`Error::Unavailable`] when the store cannot
    /// be read now.
    pub fn relay_list<R: RelayList>(
        &self,
        _: &Principal,
        wanted: &ListRequest<R>,
    ) -> Result<Page<R, R::Cursor>, Error> {
        R::page(&self.store, wanted)?.ok_or(Error::InvalidRequest(Cow::Borrowed(
            "the value of 'before' is not the ID of an item in this list; omit 'before' to list from the newest item",
        )))
    }

    /// Returns one row of a list of the relay.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`] when there is none.
    pub fn relay_item<R: RelayList>(&self, _: &Principal, id: R::Cursor) -> Result<R, Error> {
        R::find(&self.store, id)?.ok_or(Error::NoSuchItem)
    }

    /// Ends a session: its plugin is disconnected, and what it has not begun is cancelled. Ending it again changes
    /// nothing.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`], or [`Error::Unavailable`] when nothing was changed.
    pub fn end_relay_session(
        &self,
        principal: &Principal,
        session: RelaySessionId,
    ) -> Result<(), Error> {
        let ended = self.store.relay_end_session(session, principal.actor())?;
        self.carry_out(ended.ok_or(Error::NoSuchItem)?);
        log::info!(event = "operator.relay_session_ended", session_id:% = session; "an operator ended a session of the relay");
        Ok(())
    }

    /// Revokes a device for ever: its sessions end, and its key is never paired again. Revoking it again changes
    /// nothing.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`], or [`Error::Unavailable`] when nothing was changed.
    pub fn revoke_relay_device(
        &self,
        principal: &Principal,
        device: DeviceId,
    ) -> Result<(), Error> {
        let revoked = self.store.relay_revoke_device(device, principal.actor())?;
        self.carry_out(revoked.ok_or(Error::NoSuchItem)?);
        log::info!(event = "operator.relay_device_revoked", device_id:% = device; "an operator revoked a device of the relay");
        Ok(())
    }

    /// Denies an invocation, with all steps of its proposal that have not begun, and returns it. One that ended without
    /// an effect stays as it is.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`]; [`Error::TooLate`] when it was carried out, or may have been: then only steps behind it were
    /// taken back; [`Error::Unavailable`] when nothing was changed.
    pub fn deny_relay_invocation(
        &self,
        principal: &Principal,
        invocation: InvocationId,
    ) -> Result<RelayInvocation, Error> {
        let denied = self.store.relay_deny(invocation, principal.actor())?;
        self.carry_out(denied.ok_or(Error::NoSuchItem)?);
        // Read after the commit: the answer follows from the state, so that denying twice has the same answer.
        let now = self.store.relay_show_invocation(invocation)?.ok_or(Error::NoSuchItem)?;
        let may_have_happened =
            [invocation::State::Running, invocation::State::Succeeded, invocation::State::Unknown]
                .iter()
                .any(|state| state.as_str() == now.state);
        if may_have_happened {
            return Err(Error::TooLate);
        }
        log::info!(event = "operator.relay_invocation_denied", invocation_id:% = invocation; "an operator denied an invocation of the relay");
        Ok(now)
    }

    /// Tells plugins and waiting callers what has changed. While the relay is off there are none.
    fn carry_out(&self, effects: Effects) {
        if let Some(relay) = &self.relay {
            relay.carry_out(effects);
        }
    }
}
