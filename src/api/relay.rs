//! The relay, as callers and operators see it. Operators see metadata: ids, times, digests and states, never arguments,
//! results, or the name of a file.

mod operators;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::id::{InvocationId, PairingId, ProposalId, RelaySessionId};
use crate::domain::time::Timestamp;

pub use operators::{
    RelayAuditCheck, RelayAuditEvent, RelayCounts, RelayDevice, RelayInvocation, RelaySession,
    RelaySignatureCheck, RelayStatus,
};

/// An open design file, as the person's own clients see it. Names of file and page are those of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DesignSession {
    /// UUID.
    pub session: RelaySessionId,
    /// `penpot`, `figma` or `test`.
    pub tool: Cow<'static, str>,
    /// `connected`, `suspended` or `away`.
    pub state: Cow<'static, str>,
    /// The name of the file; null while no socket of this process holds the session.
    pub file: Option<String>,
    /// The name of the open page, likewise.
    pub page: Option<String>,
    /// Until when the person lets it be read without being asked; null without such leave.
    pub allowance_until: Option<Timestamp>,
}

/// A pairing whose code was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PairingClaim {
    /// UUID.
    pub pairing: PairingId,
    /// `penpot`, `figma` or `test`.
    pub tool: Cow<'static, str>,
    /// The name of the open file; null when another process has the socket.
    pub file: Option<String>,
    /// Until when the person can confirm in the plugin.
    pub expires_at: Timestamp,
}

/// One invocation, as its own subject sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation {
    /// UUID.
    pub invocation: InvocationId,
    /// UUID of its proposal, which is the approval's id.
    pub proposal: ProposalId,
    /// Its place in the proposal, from 0.
    pub step: u32,
    /// UUID of its session.
    pub session: RelaySessionId,
    /// The name of the file; null when it is not known any more.
    pub file: Option<String>,
    pub action: Cow<'static, str>,
    /// Where it stands: `proposed`, `shown`, `approved`, `running`, `succeeded`, `failed`, `stale`, `denied`,
    /// `cancelled`, `expired` or `unknown`.
    pub state: Cow<'static, str>,
    /// Why it ended so; null where the state says it all.
    pub reason: Option<Cow<'static, str>>,
    /// It was `unknown` before a late proof settled it.
    pub settled_late: bool,
    /// Until when the person can decide.
    pub expires_at: Timestamp,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
    /// What it gave: null before it has succeeded, and once the value is gone.
    pub value: Option<Value>,
    /// It has succeeded, and its value is not here: it is kept for ten minutes, or less when memory is short, and only by
    /// the process that received it from the plugin.
    pub value_gone: bool,
}

impl Invocation {
    /// Says whether it has ended; only `unknown` may change after that.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        // By the states that go on: a state of a later version counts as ended, so that nothing waits for it.
        !matches!(self.state.as_ref(), "proposed" | "shown" | "approved" | "running")
    }
}

/// Why the relay does not do what a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayRefusal {
    /// A stable word: `relay_off`, `unavailable`, `no_such_session`, `session_needed`, `session_away`,
    /// `session_suspended`, `cooling_off`, `busy`, `too_many_proposals`, `action_not_supported`, `not_found`,
    /// `too_many_codes` or `no_such_invocation`.
    pub code: Cow<'static, str>,
    /// The same for people and models, with the next step.
    pub message: String,
    /// The sessions that could be meant, where several can.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sessions: Vec<DesignSession>,
    /// After how many seconds to try again, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry_after_seconds: Option<u64>,
}
