//! What comes of an event of an invocation.

use crate::domain::relay::grant;
use crate::domain::relay::invocation::State;
use crate::domain::relay::{CloseCode, RelayEventName, RelayReason};

words! {
    /// What the plugin is told about a card that is to go away.
    Withdrawal {
        /// The caller has cancelled.
        Cancelled => "cancelled",
        /// Its time is over.
        Expired => "expired",
        /// An operator has denied it.
        DeniedByOperator => "denied_by_operator",
    }
}

/// What the plugin gets after the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToPlugin {
    /// `withdraw`: the card is to go away.
    Withdraw(Withdrawal),
    /// `execute`: it is to be carried out.
    Execute,
    /// `settled`: the entry in the journal may go.
    Settled,
    /// The socket is closed.
    Close(CloseCode),
}

/// What comes of an event. Without a new state nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The new state.
    pub to: Option<State>,
    /// What happens to the grant.
    pub grant: Option<grant::Change>,
    /// Why it ended so; without a new state, why nothing was done.
    pub reason: Option<RelayReason>,
    /// What is audited: always something with a new state, never without.
    pub audit: Option<RelayEventName>,
    /// What the plugin gets.
    pub plugin: Option<ToPlugin>,
    /// It was UNKNOWN until now.
    pub is_late: bool,
}

/// Nothing happens.
pub(super) const NOTHING: Outcome =
    Outcome { to: None, grant: None, reason: None, audit: None, plugin: None, is_late: false };

/// The plugin broke the protocol.
pub(super) const CLOSE: Outcome =
    Outcome { plugin: Some(ToPlugin::Close(CloseCode::BadFrame)), ..NOTHING };

/// Nothing happens, and that is why.
pub(super) const fn unchanged(reason: RelayReason) -> Outcome {
    NOTHING.because(reason)
}

/// A new state, audited by its name.
pub(super) const fn to(state: State) -> Outcome {
    let audit = match state {
        State::Proposed => RelayEventName::Proposed,
        State::Shown => RelayEventName::Shown,
        State::Approved => RelayEventName::Approved,
        State::Running => RelayEventName::Claimed,
        State::Denied => RelayEventName::Denied,
        State::Cancelled => RelayEventName::Cancelled,
        State::Expired => RelayEventName::Expired,
        State::Succeeded | State::Failed | State::Stale | State::Unknown => RelayEventName::Settled,
    };
    Outcome { to: Some(state), audit: Some(audit), ..NOTHING }
}

impl Outcome {
    pub(super) const fn because(self, reason: RelayReason) -> Self {
        Self { reason: Some(reason), ..self }
    }

    pub(super) const fn grant(self, change: grant::Change) -> Self {
        Self { grant: Some(change), ..self }
    }

    pub(super) const fn tell(self, plugin: ToPlugin) -> Self {
        Self { plugin: Some(plugin), ..self }
    }
}
