//! The relay, as operators see it: metadata only. Nothing here has arguments, results, or the name of a file.

use serde::{Deserialize, Serialize};

use crate::api::list::{ListRow, NoFilter};
use crate::domain::digest::Digest;
use crate::domain::id::{DeviceId, InvocationId, PairingId, ProposalId, RelaySessionId};
use crate::domain::time::Timestamp;

/// A session: one device with one open file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelaySession {
    /// UUID.
    pub session: RelaySessionId,
    /// UUID.
    pub device: DeviceId,
    /// Whose it is: the issuer, a space, and the subject there; `local` where no tokens are asked for.
    pub subject: String,
    /// `penpot`, `figma` or `test`.
    pub tool: String,
    /// `away`, `connected`, `suspended` or `ended`.
    pub state: String,
    /// How many sockets were accepted for it, from 1.
    pub epoch: u32,
    /// Until when the person lets it be read without being asked; null without such leave.
    pub allowance_until: Option<Timestamp>,
    /// When it was opened first.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_seen_at: Timestamp,
    /// When it ended; null before.
    pub ended_at: Option<Timestamp>,
}

/// A device: one plugin installation that a person has paired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayDevice {
    /// UUID.
    pub device: DeviceId,
    /// Whose it is, as in [`RelaySession::subject`].
    pub subject: String,
    /// `penpot`, `figma` or `test`: where it was paired.
    pub tool: String,
    /// `active` or `revoked`.
    pub state: String,
    /// When it was paired.
    pub created_at: Timestamp,
    /// When a page last proved its key.
    pub last_seen_at: Timestamp,
    /// When it was revoked; null before.
    pub revoked_at: Option<Timestamp>,
}

/// An invocation: one action that a caller proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayInvocation {
    /// UUID.
    pub invocation: InvocationId,
    /// UUID of its proposal.
    pub proposal: ProposalId,
    /// Its place in the proposal, from 0.
    pub step: u32,
    /// UUID of its session.
    pub session: RelaySessionId,
    /// Who proposed it, as in [`RelaySession::subject`].
    pub subject: String,
    /// Through which client.
    pub client: String,
    pub action: String,
    /// `read`, `export`, `write` or `destructive`.
    pub effect: String,
    /// Of action and arguments: 64 hexadecimal digits.
    pub arguments_sha256: Digest,
    /// `proposed`, `shown`, `approved`, `running`, `succeeded`, `failed`, `stale`, `denied`, `cancelled`, `expired` or
    /// `unknown`.
    pub state: String,
    /// Why it ended so; null where the state says it all.
    pub reason: Option<String>,
    /// It was `unknown` before a late proof settled it.
    pub settled_late: bool,
    /// Who decided about it in the plugin: `person`, `allowance` or `plugin`; null without a decision.
    pub decided_by: Option<String>,
    /// Until when it can be decided about.
    pub expires_at: Timestamp,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
}

/// One event of the relay's audit log. Its hash is the SHA-256 of `prevHash` (as 32 bytes) and of this object's RFC 8785
/// form without `prevHash`, `hash` and the members that are null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayAuditEvent {
    /// Its number: 1, 2, 3, without a gap.
    pub seq: i64,
    /// What happened: `relay.…`.
    pub event: String,
    /// Whose device, session or proposal it is about, as in [`RelaySession::subject`].
    pub subject: String,
    /// Through which client it was proposed or paired.
    pub client: Option<String>,
    /// UUID.
    pub device: Option<DeviceId>,
    /// UUID.
    pub session: Option<RelaySessionId>,
    /// UUID; of a pairing that the person confirmed.
    pub pairing: Option<PairingId>,
    /// UUID.
    pub proposal: Option<ProposalId>,
    /// UUID.
    pub invocation: Option<InvocationId>,
    pub action: Option<String>,
    /// Of action and arguments: 64 hexadecimal digits.
    pub arguments_sha256: Option<Digest>,
    /// That of every step on the card that was decided about, in order.
    pub card_sha256: Option<Vec<Digest>>,
    /// Of what the card showed: 64 hexadecimal digits.
    pub preview_sha256: Option<Digest>,
    /// `person`, `allowance`, `plugin`, `operator` or `caller`.
    pub decided_by: Option<String>,
    /// Why: a stable word.
    pub reason: Option<String>,
    /// The epoch of the session.
    pub epoch: Option<u32>,
    /// For how many minutes an allowance was given; 0 ended it.
    pub minutes: Option<u32>,
    /// The nonce of the socket on which a pairing was confirmed or an allowance given: 22 characters.
    pub nonce: Option<String>,
    /// The public key of a device that was paired, an uncompressed point of P-256: 130 hexadecimal digits.
    pub public_key: Option<String>,
    /// The device's signature over a confirmation, a decision or an allowance: 128 hexadecimal digits.
    pub signature: Option<String>,
    /// The configured actor, where an operator did it.
    pub actor: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// The hash of the event before it; zeros in the first one.
    pub prev_hash: Digest,
    /// Its own hash.
    pub hash: Digest,
}

/// How much goes on in the relay; each number up to 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayCounts {
    /// Sessions whose plugin answers.
    pub sessions_connected: u32,
    /// Sessions whose plugin has a socket and does not answer.
    pub sessions_suspended: u32,
    /// Sessions without a socket.
    pub sessions_away: u32,
    /// Proposals that wait for a person.
    pub proposals_waiting: u32,
    /// Invocations that plugins were told to carry out.
    pub invocations_running: u32,
}

/// How the relay stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayStatus {
    pub enabled: bool,
    /// What is stored, on or off.
    #[serde(flatten)]
    pub counts: RelayCounts,
}

/// The result of verifying the audit log: the chain of hashes, and the signatures of devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayAuditCheck {
    /// How many events hold, from the first on.
    pub rows: u64,
    /// The hash of the last of them: 64 hexadecimal digits; null of an empty log.
    pub head: Option<Digest>,
    /// The hashes of all events hold.
    pub intact: bool,
    /// The number of the first event whose hash does not; null while all do.
    pub first_broken: Option<i64>,
    /// The signatures of the events whose hashes hold.
    pub signatures: RelaySignatureCheck,
}

/// How the signatures of the audit log were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelaySignatureCheck {
    /// Events that the key of their device has signed.
    pub valid: u64,
    /// Events whose signature is missing, or is not that of the device's key over what the event says.
    pub invalid: u64,
    /// Events of an earlier version, which kept too little to check their signature, or none.
    pub not_checkable: u64,
    /// The number of the first invalid one; null while there is none.
    pub first_invalid: Option<i64>,
}

/// Declares the lists of rows that are named by an id of theirs.
macro_rules! rows {
    ($($row:ty: $list:literal, $field:ident: $id:ty;)*) => {$(
        impl ListRow for $row {
            const LIST: &'static str = $list;
            type Filter = NoFilter;
            type Cursor = $id;
            const CURSOR: &'static str = "the id of an item in this list, such as nextBefore";

            fn read_cursor(text: &str) -> Option<$id> {
                text.parse().ok()
            }

            fn cursor(&self) -> $id {
                self.$field
            }
        }
    )*};
}

rows! {
    RelaySession: "sessions", session: RelaySessionId;
    RelayDevice: "devices", device: DeviceId;
    RelayInvocation: "invocations", invocation: InvocationId;
    RelayAuditEvent: "audit-events", seq: i64;
}
