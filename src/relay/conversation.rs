//! The order of frames on one socket: which may come when, and how large it may be.
//!
//! `hello`, `challenge`, `proof`; then `pairing`, `claimed` and `confirm` for what is not paired; then `ready`, and only
//! then everything else. Whether a proof holds, or a decision is one, is not known here.

#[cfg(test)]
mod tests;

use crate::relay::frame::{
    self, BEFORE_READY_BYTES_MAX, BYTES_MAX, DaemonFrame, Fault, FromPlugin, PluginFrame,
};

words! {
    /// How far a socket has come.
    Phase {
        /// Nothing was said.
        Opened => "opened",
        /// `hello` came: the daemon owes `challenge`.
        Greeted => "greeted",
        /// `challenge` was sent: the plugin owes `proof`.
        Challenged => "challenged",
        /// `proof` came: the daemon owes `pairing`, `claimed` or `ready`.
        Proved => "proved",
        /// A code is shown.
        Offered => "offered",
        /// A person is asked.
        Claimed => "claimed",
        /// A person answered: the daemon owes `ready`, or closes.
        Confirmed => "confirmed",
        /// The session works.
        Ready => "ready",
        /// The session works, and a person is asked about another file.
        Moving => "moving",
        /// A person answered about another file: the daemon owes `ready`, or closes.
        Moved => "moved",
        /// The plugin said `bye`.
        Over => "over",
    }
}

/// One socket's conversation, as the daemon sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    phase: Phase,
    /// The largest `result` that is read, in bytes.
    result_bytes_max: usize,
}

impl Conversation {
    /// Begins a conversation.
    #[must_use]
    pub const fn new(result_bytes_max: usize) -> Self {
        Self { phase: Phase::Opened, result_bytes_max }
    }

    /// Returns how far it has come.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the most bytes that the next message may have, whatever it is.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        match received(self.phase, PluginFrame::Result) {
            Some(_) => self.result_bytes_max.max(BYTES_MAX),
            None => BEFORE_READY_BYTES_MAX,
        }
    }

    /// Reads what came from the plugin. Its size and its place in the order are looked at before anything is built from
    /// it, so that a peer that proved nothing costs little.
    ///
    /// # Errors
    /// By what is wrong; the conversation has then not moved, and the socket is to be closed.
    pub fn receive(&mut self, text: &str) -> Result<FromPlugin, Fault> {
        if text.len() > self.bytes_max() {
            return Err(Fault::TooLarge);
        }
        let kind = frame::kind(text)?;
        let next = received(self.phase, kind).ok_or(Fault::OutOfOrder)?;
        // `bytes_max` allows for a result; every other frame has to be smaller, and only its type tells.
        if text.len() > BYTES_MAX && kind != PluginFrame::Result {
            return Err(Fault::TooLarge);
        }
        let frame = frame::read(text)?;
        self.phase = next;
        Ok(frame)
    }

    /// Notes a frame that the daemon is about to send. Returns whether it may be sent now.
    #[must_use]
    pub fn send(&mut self, kind: DaemonFrame) -> bool {
        let next = sent(self.phase, kind);
        self.phase = next.unwrap_or(self.phase);
        next.is_some()
    }
}

/// Returns the phase after a frame of the plugin; `None` when it may not come.
#[must_use]
pub const fn received(phase: Phase, frame: PluginFrame) -> Option<Phase> {
    use PluginFrame as Plugin;
    Some(match (phase, frame) {
        (Phase::Opened, Plugin::Hello) => Phase::Greeted,
        (Phase::Challenged, Plugin::Proof) => Phase::Proved,
        (Phase::Claimed, Plugin::Confirm) => Phase::Confirmed,
        (Phase::Moving, Plugin::Confirm) => Phase::Moved,
        // Pings begin with the proof. A page may go away at any moment after it.
        (
            Phase::Proved
            | Phase::Offered
            | Phase::Claimed
            | Phase::Confirmed
            | Phase::Ready
            | Phase::Moving
            | Phase::Moved,
            Plugin::Pong,
        ) => phase,
        (
            Phase::Proved
            | Phase::Offered
            | Phase::Claimed
            | Phase::Confirmed
            | Phase::Ready
            | Phase::Moving
            | Phase::Moved,
            Plugin::Bye,
        ) => Phase::Over,
        // An action that was under way when the file changed still has its result. A card that stood on the screen may
        // have been decided before the plugin heard of the question, so this is no fault; the rules say what it is worth.
        (
            Phase::Ready | Phase::Moving | Phase::Moved,
            Plugin::Context | Plugin::Shown | Plugin::Decision | Plugin::Allowance | Plugin::Result,
        ) => phase,
        _ => return None,
    })
}

/// Returns the phase after a frame of the daemon; `None` when it may not be sent.
#[must_use]
pub const fn sent(phase: Phase, frame: DaemonFrame) -> Option<Phase> {
    use DaemonFrame as Daemon;
    Some(match (phase, frame) {
        (Phase::Greeted, Daemon::Challenge) => Phase::Challenged,
        (Phase::Proved, Daemon::Pairing) => Phase::Offered,
        (Phase::Proved | Phase::Offered, Daemon::Claimed) => Phase::Claimed,
        (Phase::Ready, Daemon::Claimed) => Phase::Moving,
        (Phase::Proved | Phase::Confirmed | Phase::Moved, Daemon::Ready) => Phase::Ready,
        (
            Phase::Proved
            | Phase::Offered
            | Phase::Claimed
            | Phase::Confirmed
            | Phase::Ready
            | Phase::Moving
            | Phase::Moved,
            Daemon::Ping,
        ) => phase,
        // Not while a person is asked about another file (docs/decisions/84-relay-another-file.md).
        (Phase::Ready, Daemon::Propose | Daemon::Execute) => phase,
        (Phase::Ready | Phase::Moving | Phase::Moved, Daemon::Withdraw | Daemon::Settled) => phase,
        (_, Daemon::Problem) => phase,
        _ => return None,
    })
}
