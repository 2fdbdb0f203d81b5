//! What the tools of the relay ask for: the service itself in the daemon.

use std::time::Duration;

use crate::api::relay::{DesignSession, Invocation, PairingClaim, RelayRefusal};
use crate::domain::id::{InvocationId, ProposalId, RelaySessionId};
use crate::mcp::Caller;
use crate::relay::action::Checked;

/// Works on the design files that people have open. Each method may block, for a transaction at most. What belongs to
/// another subject is answered like what does not exist.
pub trait Relay: Send + Sync {
    /// Lists the caller's sessions.
    ///
    /// # Errors
    /// When that cannot be told at present.
    fn sessions(&self, caller: &Caller) -> Result<Vec<DesignSession>, RelayRefusal>;

    /// Claims the pairing of a code for the caller's subject.
    ///
    /// # Errors
    /// `not_found` for whatever is wrong with the code, or why nothing was claimed.
    fn claim_pairing(&self, caller: &Caller, code: &str) -> Result<PairingClaim, RelayRefusal>;

    /// Proposes steps, which are shown and decided together. Without a session, it is the only connected one. The same
    /// call again stands for the same proposal while that has not ended.
    ///
    /// # Errors
    /// Why nothing was proposed.
    fn propose(
        &self,
        caller: &Caller,
        session: Option<RelaySessionId>,
        steps: Vec<Checked>,
    ) -> Result<ProposalId, RelayRefusal>;

    /// Returns the steps of a proposal, in order.
    ///
    /// # Errors
    /// `no_such_invocation`, or why it cannot be told at present.
    fn steps(&self, caller: &Caller, proposal: ProposalId)
    -> Result<Vec<Invocation>, RelayRefusal>;

    /// Returns one invocation.
    ///
    /// # Errors
    /// `no_such_invocation`, or why it cannot be told at present.
    fn invocation(
        &self,
        caller: &Caller,
        invocation: InvocationId,
    ) -> Result<Invocation, RelayRefusal>;

    /// Takes an invocation back, with those that are decided together with it, as far as they have not begun.
    ///
    /// # Errors
    /// `no_such_invocation`, or why it was not taken back.
    fn cancel(&self, caller: &Caller, invocation: InvocationId)
    -> Result<Invocation, RelayRefusal>;

    /// Hands a proposal to `waiter` until all its steps have ended, or so long. Returns at once, and holds no thread.
    fn wait(&self, proposal: ProposalId, within: Duration, waiter: Box<dyn Waiter>);
}

/// Waits for the end of a proposal.
pub trait Waiter: Send {
    /// Is called about once a second while it waits. Returns whether the caller is still there.
    fn look(&mut self) -> bool;

    /// Is called once, in the end, by a thread that may block for a transaction.
    fn end(self: Box<Self>, how: Ended);
}

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All steps have ended.
    Settled,
    /// The time is over.
    TimeOver,
    /// The caller has gone.
    CallerGone,
    /// The service stops.
    Stopping,
}
