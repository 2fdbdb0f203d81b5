//! What the daemon says.

use serde::Serialize;
use serde_json::{Map, Value};

use super::text::{Line, Nonce, PublicJwk, Signature};
use crate::domain::digest::Digest;
use crate::domain::id::{GrantId, InvocationId, PairingId, ProposalId, RelaySessionId};
use crate::domain::relay::ActionEffect;
use crate::domain::relay::invocation::Withdrawal;
use crate::domain::time::Timestamp;
use crate::relay::action::DesignAction;
use crate::relay::code::PairingCode;

words! {
    /// The types of frames that the daemon sends.
    DaemonFrame {
        Challenge => "challenge",
        Pairing => "pairing",
        Claimed => "claimed",
        Ready => "ready",
        Propose => "propose",
        Withdraw => "withdraw",
        Execute => "execute",
        Settled => "settled",
        Ping => "ping",
        Problem => "problem",
    }
}

/// A frame of the daemon. It has no `Debug`, because it holds arguments and codes.
#[derive(Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromDaemon {
    /// The daemon proves itself.
    Challenge(Challenge),
    /// The device is unknown: here is a code.
    Pairing(Pairing),
    /// The code was typed, or the device is known and the file is new.
    Claimed(Claimed),
    /// The session works.
    Ready(Ready),
    /// Something is to be decided.
    Propose(Propose),
    /// A card is to go.
    Withdraw(Withdraw),
    /// An approved step is to be carried out.
    Execute(Execute),
    /// The entry of the journal may go.
    Settled(Settled),
    /// Asks whether the page answers.
    Ping(Ping),
    /// Why the socket is about to close.
    Problem(CloseNotice),
}

impl FromDaemon {
    /// Returns its type.
    #[must_use]
    pub const fn kind(&self) -> DaemonFrame {
        match self {
            Self::Challenge(_) => DaemonFrame::Challenge,
            Self::Pairing(_) => DaemonFrame::Pairing,
            Self::Claimed(_) => DaemonFrame::Claimed,
            Self::Ready(_) => DaemonFrame::Ready,
            Self::Propose(_) => DaemonFrame::Propose,
            Self::Withdraw(_) => DaemonFrame::Withdraw,
            Self::Execute(_) => DaemonFrame::Execute,
            Self::Settled(_) => DaemonFrame::Settled,
            Self::Ping(_) => DaemonFrame::Ping,
            Self::Problem(_) => DaemonFrame::Problem,
        }
    }
}

/// The daemon proves itself.
#[derive(Clone, Serialize)]
pub struct Challenge {
    /// New with each socket.
    pub nonce: Nonce,
    /// The daemon's public key, which the plugin keeps at pairing.
    pub key: PublicJwk,
    /// Over [`crate::relay::proof::challenge_text`].
    pub signature: Signature,
}

/// A code for a device that is not known.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pairing {
    pub pairing: PairingId,
    /// What the plugin shows.
    #[serde(serialize_with = "shown")]
    pub code: PairingCode,
    /// Until when it can be typed.
    pub expires_at: Timestamp,
}

fn shown<S: serde::Serializer>(code: &PairingCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(code)
}

/// Who asks to work on the open file.
#[derive(Clone, Serialize)]
pub struct Claimed {
    pub pairing: PairingId,
    pub account: Line,
    /// Through which client.
    pub client: Line,
}

/// The session works.
#[derive(Clone, Serialize)]
pub struct Ready {
    pub session: RelaySessionId,
    /// Its epoch, at least 1.
    pub epoch: u64,
    pub account: Line,
}

/// Something is to be decided.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Propose {
    pub proposal: ProposalId,
    /// Which client asks.
    pub client: Line,
    /// Until when it can be decided.
    pub expires_at: Timestamp,
    /// What is proposed, in order, 1 to 20.
    pub steps: Vec<Step>,
}

/// One invocation of a proposal.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub invocation: InvocationId,
    /// What is to be done.
    pub action: DesignAction,
    pub effect: ActionEffect,
    /// With what, as [`crate::relay::action::CheckedAction`] has it.
    pub arguments: Map<String, Value>,
    /// Of action and arguments.
    pub arguments_sha256: Digest,
}

/// A card is to go.
#[derive(Clone, Serialize)]
pub struct Withdraw {
    pub proposal: ProposalId,
    /// Why.
    pub reason: Withdrawal,
}

/// An approved step is to be carried out. It has no arguments: the plugin takes those that it showed.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Execute {
    /// The right to do so, once.
    pub grant: GrantId,
    pub invocation: InvocationId,
    /// Of what was shown.
    pub arguments_sha256: Digest,
    /// How long it may take, in milliseconds: 1,000 to 120,000.
    pub deadline_ms: u32,
}

/// The entry of the journal may go.
#[derive(Clone, Serialize)]
pub struct Settled {
    pub grant: GrantId,
}

/// Asks whether the page answers.
#[derive(Clone, Serialize)]
pub struct Ping {
    /// Its number.
    pub n: u64,
}

/// Why the socket is about to close.
#[derive(Clone, Serialize)]
pub struct CloseNotice {
    /// A stable word.
    pub code: &'static str,
    /// For people, at most 300 characters.
    pub message: Line,
}
