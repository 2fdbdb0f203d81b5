//! What the verbs of the relay take and return.
//!
//! A verb that is called for a socket names the epoch in which that socket was accepted. Once another socket has been
//! accepted for the session, it changes nothing.

mod pairings;

use crate::domain::digest::Digest;
use crate::domain::id::{
    DeviceId, GrantId, InvocationId, PageInstanceId, PairingId, ProposalId, RelayProcessId,
    RelaySessionId,
};
use crate::domain::relay::allowance::Length;
use crate::domain::relay::invocation::{self, Approval, Withdrawal};
use crate::domain::relay::proposal;
use crate::domain::relay::{
    ActionEffect, CardDecision, CloseCode, DesignTool, RelayReason, device, session,
};
use crate::domain::time::Timestamp;

pub use pairings::{Begins, ClaimedPairing, NewPairing, Paired, PairingAnswer, TooMany};

/// Bytes of a public key: an uncompressed point of P-256.
pub const POINT_BYTES: usize = 65;

/// A public key, as an uncompressed point.
pub type KeyPoint = [u8; POINT_BYTES];

/// A device whose key is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub id: DeviceId,
    /// Whose it is: the issuer, a space, and the subject there; `local` where no tokens are asked for.
    pub subject: String,
    /// Whether its key still proves it.
    pub state: device::State,
}

/// A page that has proved its device's key.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Its device, which is active.
    pub device: DeviceId,
    /// The session that it remembers.
    pub session: Option<RelaySessionId>,
    /// Of subject, tool and file; of the remembered session where the tool does not say which file is open; `None`
    /// where there is neither.
    pub lane: Option<Digest>,
    pub page: PageInstanceId,
    /// The process that has its socket.
    pub process: RelayProcessId,
    /// What the journal says.
    pub journal: Vec<(GrantId, invocation::Entry)>,
}

/// What comes of an arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// The session is connected.
    Ready(OpenSession),
    /// The device has no session for this file: the person is asked.
    Ask,
    /// The socket is closed.
    Close(CloseCode),
}

/// A session that is connected now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSession {
    pub session: RelaySessionId,
    pub device: DeviceId,
    /// Its epoch, at least 1.
    pub epoch: u32,
    pub subject: String,
    /// What is to be done now that it is committed.
    pub effects: Effects,
}

/// A caller's proposal.
#[derive(Clone, Debug)]
pub struct NewProposal {
    pub id: ProposalId,
    /// Who proposes.
    pub subject: String,
    /// Through which client.
    pub client: String,
    pub session: RelaySessionId,
    /// Its steps, 1 to 20.
    pub steps: Vec<NewInvocation>,
    /// Of session and steps: the same call again has the same.
    pub digest: Digest,
    /// Until when it can be decided about.
    pub expires_at: Timestamp,
}

/// One step of a proposal.
#[derive(Clone, Debug)]
pub struct NewInvocation {
    pub id: InvocationId,
    /// The action's name.
    pub action: &'static str,
    /// What the action does.
    pub effect: ActionEffect,
    /// Its arguments: a JSON object.
    pub arguments: String,
    /// Of action and arguments.
    pub arguments_sha256: Digest,
}

/// What came of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposed {
    /// It waits for a person.
    Made,
    /// It is the same call as this one, which has not ended.
    Same(ProposalId),
    /// Nothing was kept.
    Refused {
        why: proposal::Refusal,
        /// Proposals that wait, of the session or of the subject, whichever are more.
        waiting: u32,
        /// Until when the client rests, where that is why.
        rests_until: Option<Timestamp>,
    },
}

/// A proposal that waits for a person, with what its card shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingProposal {
    pub id: ProposalId,
    /// Which client asks.
    pub client: String,
    /// Until when it can be decided about.
    pub expires_at: Timestamp,
    /// Its steps, in order.
    pub steps: Vec<WaitingStep>,
}

/// The card of a proposal that was just made, which is not read again to be sent.
impl From<NewProposal> for PendingProposal {
    fn from(proposal: NewProposal) -> Self {
        let step = |step: NewInvocation| WaitingStep {
            id: step.id,
            action: step.action.to_owned(),
            effect: step.effect,
            arguments: step.arguments,
            arguments_sha256: step.arguments_sha256,
        };
        let NewProposal { id, client, expires_at, steps, .. } = proposal;
        Self { id, client, expires_at, steps: steps.into_iter().map(step).collect() }
    }
}

/// One step of a proposal that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingStep {
    pub id: InvocationId,
    /// The action's name.
    pub action: String,
    /// What the action does.
    pub effect: ActionEffect,
    /// Its arguments: a JSON object.
    pub arguments: String,
    /// Of action and arguments.
    pub arguments_sha256: Digest,
}

/// A socket that holds a session. Ordered by session, then epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionSocket {
    pub session: RelaySessionId,
    /// The epoch in which the socket was accepted.
    pub epoch: u32,
}

/// A session that a socket holds, of whichever process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSession {
    /// The session in its epoch.
    pub held: SessionSocket,
    /// A card waits for a person, or a grant whose turn has come waits to be claimed.
    pub has_news: bool,
}

/// What a plugin says of a proposal.
#[derive(Clone, Debug)]
pub enum Verdict {
    Approve(Approval),
    /// The person denied it.
    Deny(invocation::Signed),
    /// The plugin cannot show it.
    CannotShow(invocation::Signed, RelayReason),
}

/// A verdict as it is kept.
#[derive(Clone, Debug)]
pub struct SignedVerdict {
    pub proposal: ProposalId,
    /// Digest of what the plugin said it has shown, if that may not be recorded yet.
    pub shown: Option<Digest>,
    /// What was decided.
    pub verdict: Verdict,
    /// `argumentsSha256` of every step on its card, in order.
    pub arguments: Vec<Digest>,
    /// Digest of what the card showed.
    pub preview: Digest,
    /// The device's signature: 64 bytes.
    pub signature: [u8; 64],
}

impl SignedVerdict {
    /// Returns the decision, as it is kept and audited.
    #[must_use]
    pub const fn decision(&self) -> CardDecision {
        match self.verdict {
            Verdict::Approve(_) => CardDecision::Approved,
            Verdict::Deny(_) | Verdict::CannotShow(..) => CardDecision::Denied,
        }
    }
}

/// A person's leave to read, whose signature holds.
#[derive(Clone, Debug)]
pub struct NewAllowance {
    /// The page in which it was given.
    pub page: PageInstanceId,
    /// For how long.
    pub length: Length,
    /// That its device gave it.
    pub proof: Proof,
}

/// What a device signed on one socket, for the audit log.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The nonce of the socket's `challenge`, as it was sent: 22 characters.
    pub nonce: String,
    /// The device's signature: 64 bytes.
    pub signature: [u8; 64],
}

/// What a grant that was claimed is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantFor {
    pub invocation: InvocationId,
    /// The action's name.
    pub action: String,
}

/// What is to be done after a commit. All of it may be lost with the process: pages that come back are told again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// What plugins are told, in order.
    pub tell: Vec<(SessionSocket, Tell)>,
    /// Invocations whose state has changed, with the new one.
    pub changed: Vec<Changed>,
    /// Proposals of those, of which all steps have ended.
    pub finished: Vec<ProposalId>,
    /// Nothing was done, for that reason.
    pub unchanged: Option<RelayReason>,
    /// Pairings whose time is over: their sockets are closed.
    pub pairings: Vec<PairingId>,
    /// Sessions that wait for a lane which is free now. The process that holds the socket of one claims for it:
    /// another one could not tell its plugin.
    pub free_for: Vec<RelaySessionId>,
}

/// What a plugin is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// A card is to go away.
    Withdraw(ProposalId, Withdrawal),
    /// An approved step is to be carried out.
    Execute {
        /// The right to do so, once.
        grant: GrantId,
        invocation: InvocationId,
        /// Of what was shown.
        arguments_sha256: Digest,
        /// What the action does.
        effect: ActionEffect,
    },
    /// The entry of the journal may go.
    Settled(GrantId),
    /// The socket is closed.
    Close(CloseCode),
}

/// An invocation that has another state now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    pub invocation: InvocationId,
    pub proposal: ProposalId,
    /// What its action does.
    pub effect: ActionEffect,
    pub state: invocation::State,
}

/// A session, as its subject sees it; file names are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnSession {
    pub id: RelaySessionId,
    pub tool: DesignTool,
    /// Its state; never ended.
    pub state: session::State,
    pub epoch: u32,
    /// The end of its allowance, if it has one.
    pub allowance_until: Option<Timestamp>,
}

/// An invocation, as its subject sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnInvocation {
    pub id: InvocationId,
    pub proposal: ProposalId,
    /// Its place in the proposal, from 0.
    pub position: u32,
    pub session: RelaySessionId,
    /// The action's name.
    pub action: String,
    pub state: invocation::State,
    /// Why it ended so, where that is to be said.
    pub reason: Option<RelayReason>,
    /// It was UNKNOWN before it was known how it ended.
    pub is_late: bool,
    /// Until when it can be decided about.
    pub expires_at: Timestamp,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
}

/// What the audit log is found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Its events, up to the first that is broken.
    pub rows: u64,
    /// The hash of the last of them; `None` of an empty log.
    pub head: Option<Digest>,
    /// The number of the first event whose hash does not hold; `None` when all do.
    pub broken: Option<i64>,
}
