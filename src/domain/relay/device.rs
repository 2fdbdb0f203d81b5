//! Devices: a plugin installation's key, bound to a person until it is revoked.

words! {
    /// The state of a device.
    State {
        /// Its key proves it.
        Active => "active",
        /// Its key proves nothing any more, for ever.
        Revoked => "revoked",
    }
}

/// What comes of revoking a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// It is revoked, audited as `relay.device_revoked`, and each of its sessions gets
    /// [`session::Event::DeviceRevoked`](super::session::Event::DeviceRevoked) in the same transaction.
    Revoke,
    /// It was before.
    Unchanged,
}

/// Decides about revoking a device, at the request of its person or of an operator; a repeated request changes nothing.
#[must_use]
pub const fn revoke(state: State) -> Revocation {
    match state {
        State::Active => Revocation::Revoke,
        State::Revoked => Revocation::Unchanged,
    }
}
