//! What a page shows to the person in front of it, and the points at which tests can interfere.

use crate::domain::id::{GrantId, InvocationId, ProposalId, RelaySessionId};
use crate::domain::relay::invocation::Withdrawal;
use crate::relay::frame;

/// What happened, as far as a person in front of the plugin can see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// This code is shown.
    Code(String),
    /// An account asks to work on the file.
    Claimed {
        account: String,
        /// The client that it uses.
        client: String,
    },
    /// The session works.
    Ready { session: RelaySessionId, epoch: u64 },
    /// A card is shown, which [`Plugin::card`](super::Plugin::card) returns.
    Card(ProposalId),
    /// The plugin decided by itself: by an allowance, or because it can show no card.
    Decided(ProposalId),
    /// A card went away.
    Withdrawn(ProposalId, Withdrawal),
    /// An approved step ended.
    Ended(GrantId, InvocationId, frame::Outcome),
    /// The daemon has recorded how it ended.
    Settled(GrantId),
    /// A ping was answered.
    Ping(u64),
    /// The daemon says why it is about to close: a word and a sentence.
    Problem(String, String),
    /// The plugin refused what the daemon sent and closed the socket: why.
    Refused(&'static str),
    /// The socket is closed: by the daemon's code, or without one.
    Closed(Option<u16>),
    /// A tamperer cut the connection, or killed the page.
    Cut,
    /// Nothing happened in the time that was given.
    Nothing,
}

/// Where an action is, when [`At`](super::At) is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// `execute` was read.
    Told,
    /// The journal says that it began.
    Begun,
    /// It was carried out.
    Done,
    /// The journal says how it ended.
    Noted,
    /// The result was sent.
    Reported,
}

impl Point {
    /// Every point, in order.
    pub const ALL: [Self; 5] = [Self::Told, Self::Begun, Self::Done, Self::Noted, Self::Reported];
}

/// What happens at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Nothing,
    /// The connection ends; the page goes on with what it does.
    Connection,
    /// The page is gone, and its memory with it.
    Page,
}
