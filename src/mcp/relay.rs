//! What the tools of the relay ask for: the service itself in the daemon.

use std::time::Duration;

use crate::api::relay::{DesignSession, Invocation, PairingClaim, RelayRefusal};
use crate::app;
use crate::app::relay::Who;
use crate::domain::id::{InvocationId, ProposalId, RelaySessionId};
use crate::mcp::Caller;
use crate::relay::action::CheckedAction;

pub use crate::app::relay::{Ended, Waiter};

/// Works on the design files that people have open. Each method may block, for a transaction at most. What belongs to
/// another subject is answered like what does not exist.
pub trait RelayBackend: Send + Sync {
    /// Lists the caller's sessions.
    ///
    /// # Errors
    /// When that cannot be told at present.
    fn sessions(&self, caller: &Caller) -> Result<Vec<DesignSession>, RelayRefusal>;

    /// Claims the pairing of a code for the caller's subject. Wrong codes are counted by subject and by peer.
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
        steps: Vec<CheckedAction>,
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

    /// The client of a call that proposed this has gone: takes the proposal back, as far as it has not begun, unless
    /// another call stands for it.
    ///
    /// # Errors
    /// Why it was not taken back.
    fn leave(&self, caller: &Caller, proposal: ProposalId) -> Result<(), RelayRefusal>;

    /// Hands a proposal to `waiter` until all its steps have ended, or so long. Returns at once, and holds no thread.
    fn wait(&self, proposal: ProposalId, within: Duration, waiter: Box<dyn Waiter>);
}

/// Who calls where no tokens are asked for.
const LOCAL: &str = "local";

/// Returns the caller as the relay knows it.
#[must_use]
pub fn who(caller: &Caller) -> Who<'_> {
    Who { subject: or_local(&caller.subject), client: or_local(&caller.client) }
}

const fn or_local(name: &str) -> &str {
    // The subject of a token contains a space, so none is equal to this name.
    if name.is_empty() { LOCAL } else { name }
}

impl RelayBackend for app::relay::Relay {
    fn sessions(&self, caller: &Caller) -> Result<Vec<DesignSession>, RelayRefusal> {
        self.sessions(who(caller))
    }

    fn claim_pairing(&self, caller: &Caller, code: &str) -> Result<PairingClaim, RelayRefusal> {
        self.claim_pairing(who(caller), caller.peer, code)
    }

    fn propose(
        &self,
        caller: &Caller,
        session: Option<RelaySessionId>,
        steps: Vec<CheckedAction>,
    ) -> Result<ProposalId, RelayRefusal> {
        self.propose(who(caller), session, &steps)
    }

    fn steps(
        &self,
        caller: &Caller,
        proposal: ProposalId,
    ) -> Result<Vec<Invocation>, RelayRefusal> {
        self.steps(who(caller), proposal)
    }

    fn invocation(
        &self,
        caller: &Caller,
        invocation: InvocationId,
    ) -> Result<Invocation, RelayRefusal> {
        self.invocation(who(caller), invocation)
    }

    fn cancel(
        &self,
        caller: &Caller,
        invocation: InvocationId,
    ) -> Result<Invocation, RelayRefusal> {
        self.cancel(who(caller), invocation)
    }

    fn leave(&self, caller: &Caller, proposal: ProposalId) -> Result<(), RelayRefusal> {
        self.leave(who(caller), proposal)
    }

    fn wait(&self, proposal: ProposalId, within: Duration, waiter: Box<dyn Waiter>) {
        self.wait(proposal, within, waiter);
    }
}
