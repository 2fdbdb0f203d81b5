//! Sessions: one device with one open file, and the socket it has now.

use crate::domain::relay::{CloseCode, RelayEventName};

words! {
    /// The state of a session.
    State {
        /// It has no socket.
        Away => "away",
        /// Its page answers.
        Connected => "connected",
        /// Its socket is open and its page does not answer.
        Suspended => "suspended",
        /// It is over.
        Ended => "ended",
    }
}

words! {
    /// What may happen to a session.
    Event {
        /// A page said hello for it and proved the device's key.
        Proved => "hello and proof",
        /// Its socket closed.
        SocketClosed => "socket closes",
        /// Its page left two pings unanswered.
        PongsMissed => "2 pongs missed",
        /// Its page answered again.
        PongAgain => "pong again",
        /// Its page says that another file is open.
        FileChanged => "another file",
        /// The person or an operator ended it.
        Revoked => "revoke",
        /// Its device was revoked.
        DeviceRevoked => "device revoked",
        /// The person ended it in the plugin.
        Bye => "bye(person)",
        /// It was not used for as long as sessions are kept.
        Unused => "30 days unused",
    }
}

words! {
    /// What happens to the invocations of a session with an event of its own.
    Toward {
        /// Each gets [`invocation::Event::SocketClosed`](super::invocation::Event::SocketClosed).
        SocketClosed => "socket closes",
        /// Each whose grant was claimed gets [`invocation::Event::Returned`](super::invocation::Event::Returned).
        Returned => "journal settled",
        /// Each gets [`invocation::Event::FileChanged`](super::invocation::Event::FileChanged).
        FileChanged => "file changed",
        /// Each gets [`invocation::Event::Revoked`](super::invocation::Event::Revoked).
        Revoked => "revoked",
    }
}

/// What comes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The session changes, or something of it.
    Change(Change),
    /// Nothing changes; the socket on which it came is closed.
    Close(CloseCode),
    /// Nothing changes.
    Unchanged,
}

/// A change of a session. All of it is one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The state from now on.
    pub to: State,
    /// The epoch rises by one: what was sent to the socket before is worthless.
    pub is_new_epoch: bool,
    /// Its allowance, if it has one, ends.
    pub ends_allowance: bool,
    /// How the socket that it had until now is closed.
    pub close_old: Option<CloseCode>,
    /// What happens to its invocations, one after the other.
    pub invocations: &'static [Toward],
    /// What is audited. Whether a page answers is not.
    pub audit: Option<RelayEventName>,
}

impl Change {
    const fn to(to: State) -> Self {
        Self {
            to,
            is_new_epoch: false,
            ends_allowance: false,
            close_old: None,
            invocations: &[],
            audit: None,
        }
    }
}

const OPENED: Change = Change {
    is_new_epoch: true,
    invocations: &[Toward::Returned],
    audit: Some(RelayEventName::SessionOpened),
    ..Change::to(State::Connected)
};

/// The socket that the session had closes with the epoch, so what hung on it gets to know that first.
const TAKEN_OVER: Change = Change {
    close_old: Some(CloseCode::TakenOver),
    invocations: &[Toward::SocketClosed, Toward::Returned],
    ..OPENED
};

const ENDED: Change = Change {
    ends_allowance: true,
    invocations: &[Toward::Revoked],
    audit: Some(RelayEventName::SessionEnded),
    ..Change::to(State::Ended)
};

/// Decides about a session. `Proved` comes only after the proof held: a hello alone takes nothing over.
#[must_use]
pub const fn decide(state: State, event: Event) -> Outcome {
    use State::{Away, Connected, Ended, Suspended};
    match (event, state) {
        (Event::Proved, Away) => Outcome::Change(OPENED),
        // The newer page wins: after a reload the old socket may stay open for minutes.
        (Event::Proved, Connected | Suspended) => Outcome::Change(TAKEN_OVER),
        (Event::Proved, Ended) => Outcome::Close(CloseCode::NoSuchSession),

        (Event::SocketClosed, Connected | Suspended) => {
            Outcome::Change(Change { invocations: &[Toward::SocketClosed], ..Change::to(Away) })
        }
        (Event::PongsMissed, Connected) => Outcome::Change(Change::to(Suspended)),
        (Event::PongAgain, Suspended) => Outcome::Change(Change::to(Connected)),

        // A leave to read one file is none to read another.
        (Event::FileChanged, Connected | Suspended) => Outcome::Change(Change {
            ends_allowance: true,
            invocations: &[Toward::FileChanged],
            ..Change::to(state)
        }),
        // The frame came over a socket, which a session in these states does not have.
        (Event::FileChanged, Away | Ended) => Outcome::Close(CloseCode::BadFrame),

        // Only a device that was revoked has to be paired again (docs/decisions/79-relay-ended-sessions.md).
        (Event::Revoked | Event::Bye | Event::Unused, Connected | Suspended) => {
            Outcome::Change(Change { close_old: Some(CloseCode::NoSuchSession), ..ENDED })
        }
        (Event::DeviceRevoked, Connected | Suspended) => {
            Outcome::Change(Change { close_old: Some(CloseCode::Revoked), ..ENDED })
        }
        (Event::Revoked | Event::DeviceRevoked | Event::Bye | Event::Unused, Away) => {
            Outcome::Change(ENDED)
        }

        (Event::SocketClosed, Away | Ended)
        | (Event::PongsMissed, Away | Suspended | Ended)
        | (Event::PongAgain, Away | Connected | Ended)
        | (Event::Revoked | Event::DeviceRevoked | Event::Bye | Event::Unused, Ended) => {
            Outcome::Unchanged
        }
    }
}
