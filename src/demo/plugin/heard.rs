//! Frames of the daemon, as the plugin reads them.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::domain::digest::Digest;
use crate::domain::id::{GrantId, InvocationId, PairingId, ProposalId, RelaySessionId};
use crate::domain::relay::ActionEffect;
use crate::domain::relay::invocation::Withdrawal;
use crate::domain::time::Timestamp;
use crate::relay::frame::{self, Nonce, PublicJwk, Signature, read_of_daemon};

/// A frame of the daemon.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum HeardFrame {
    Challenge { nonce: Nonce, key: PublicJwk, signature: Signature },
    Pairing { code: String },
    Claimed { pairing: PairingId, account: String, client: String },
    Ready { session: RelaySessionId, epoch: u64 },
    Propose(Propose),
    Withdraw { proposal: ProposalId, reason: Withdrawal },
    Execute(Execute),
    Settled { grant: GrantId },
    Ping { n: u64 },
    Problem { code: String, message: String },
}

/// A proposal.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Propose {
    pub(super) proposal: ProposalId,
    pub(super) client: String,
    pub(super) expires_at: Timestamp,
    pub(super) steps: Vec<Step>,
}

/// One step of a proposal.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Step {
    pub(super) invocation: InvocationId,
    pub(super) action: String,
    pub(super) effect: ActionEffect,
    pub(super) arguments: Map<String, Value>,
    pub(super) arguments_sha256: Digest,
}

/// An order to carry out a step.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Execute {
    pub(super) grant: GrantId,
    pub(super) invocation: InvocationId,
    pub(super) arguments_sha256: Digest,
    pub(super) deadline_ms: u64,
}

/// Reads a frame, which must fit the published schema.
pub(super) fn read(text: &str) -> Result<HeardFrame, frame::Fault> {
    let (_, value) = read_of_daemon(text)?;
    serde_json::from_value(value).map_err(|_| frame::Fault::Malformed)
}
