//! Pairing: a plugin shows a code, a person types it elsewhere, and confirms in the plugin.

use std::time::Duration;

use crate::domain::relay::CloseCode;
use crate::domain::relay::device;
use crate::domain::time::Timestamp;

/// How long a code is offered.
pub const OFFERED: Duration = Duration::from_mins(5);
/// How long the person has to confirm in the plugin.
pub const CLAIMED: Duration = Duration::from_mins(1);

words! {
    /// The state of a pairing.
    State {
        /// The plugin shows a code.
        Offered => "offered",
        /// A subject typed the code; the plugin asks the person.
        Claimed => "claimed",
        /// The person confirmed.
        Confirmed => "confirmed",
        /// The person refused.
        Refused => "refused",
        /// The code was not typed, or the pairing not confirmed, in time; or the socket closed.
        Expired => "expired",
    }
}

words! {
    /// What may happen to a pairing.
    Event {
        /// A subject typed its code.
        CodeTyped => "code typed",
        /// The person confirmed, with the device's signature.
        Confirmed => "plugin confirms",
        /// The person refused.
        Refused => "plugin refuses",
        /// Its time is over.
        TimeOver => "time over",
        /// Its socket closed.
        SocketClosed => "socket closes",
    }
}

/// What comes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The subject is noted, the person has [`CLAIMED`] from now on, and the plugin gets `claimed`.
    Claim,
    /// The device is active and has its first session; the plugin gets `ready`.
    Pair,
    /// The pairing ends in that state, and its socket, where there is one, is closed.
    End(State, Option<CloseCode>),
    /// No such code. One answer for wrong, used and expired ones.
    NotFound,
    /// Nothing changes; the socket is closed.
    Close(CloseCode),
    /// Nothing changes.
    Unchanged,
}

/// Decides about a pairing at `now`; `expires_at` is the end of the time its state has.
#[must_use]
pub fn decide(state: State, event: Event, expires_at: Timestamp, now: Timestamp) -> Outcome {
    let expired = Outcome::End(State::Expired, Some(CloseCode::PairingExpired));
    let is_over = now >= expires_at;
    match (state, event) {
        (State::Offered, Event::CodeTyped) if !is_over => Outcome::Claim,
        // Whatever the state, so that guesses learn nothing about codes that were used.
        (_, Event::CodeTyped) => Outcome::NotFound,
        // Before the sweep has ended it: the limit counts, not the moment in which a row is swept.
        (State::Claimed, Event::Confirmed | Event::Refused) if is_over => expired,
        (State::Claimed, Event::Confirmed) => Outcome::Pair,
        // The plugin's button "new code" follows the same close code as the end of the time.
        (State::Claimed, Event::Refused) => {
            Outcome::End(State::Refused, Some(CloseCode::PairingExpired))
        }
        (_, Event::Confirmed | Event::Refused) => Outcome::Close(CloseCode::BadFrame),
        (State::Offered | State::Claimed, Event::TimeOver) => expired,
        (State::Offered | State::Claimed, Event::SocketClosed) => {
            Outcome::End(State::Expired, None)
        }
        (
            State::Confirmed | State::Refused | State::Expired,
            Event::TimeOver | Event::SocketClosed,
        ) => Outcome::Unchanged,
    }
}

/// Returns the state in which a pairing begins for a key that has proved itself, as far as its device is known.
///
/// A known device that opens another file needs no code: it is its subject's, and the person confirms.
///
/// # Errors
///
/// The close code for a revoked key, which is never paired again.
pub const fn begin(device: Option<device::State>) -> Result<State, CloseCode> {
    match device {
        None => Ok(State::Offered),
        Some(device::State::Active) => Ok(State::Claimed),
        Some(device::State::Revoked) => Err(CloseCode::Revoked),
    }
}
