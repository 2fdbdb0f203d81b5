//! JSON shapes shared by the HTTP surfaces and the command line: one definition, so that the two
//! cannot drift. Names are the published ones; times are RFC 3339 with six digits and `Z`.

mod audit;
mod cards;
mod dead_letters;
mod list;
mod mcp;
mod page;
mod protected_resource;
mod reconciliation;
pub mod relay;
mod releases;
mod slo;
mod status;
mod text;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::domain::id::{AuditEventId, InstallationId};
use crate::domain::time::Timestamp;

pub use audit::AuditEvent;
pub use cards::{AgentCard, CardEdit, CardFinding, CardReport};
pub use dead_letters::{
    DeadLetter, DeadLetterCount, DeadLetterDetail, DeadLetterEvent, DeadLetterSummary,
};
pub use list::{
    AuditFilter, DeadLetterFilter, Filter, ListRequest, ListRow, NoFilter, ReconciliationFilter,
    ReleaseFilter, Tag, Yes,
};
pub use mcp::{McpAuthorization, McpRevisions, McpStatus};
pub use page::{PageAfter, PageBody};
pub use protected_resource::ProtectedResource;
pub use reconciliation::ReconciliationItem;
pub use releases::{Attempt, Outlook, ReleaseRun, ReleaseRunDetail, ReleaseStep};
pub use slo::{Slo, SloGate, SloSignal};
pub use status::{BacklogQueue, ForgeStatus, ServiceStatus, StatusBacklog};

/// Answer to a request under an idempotency key that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppliedBody {
    /// `replayed` or `closed`, by what was asked for; or `already_applied`.
    pub outcome: Cow<'static, str>,
    /// UUID of the one audit event of this operation.
    pub audit_event_id: AuditEventId,
}

/// Ids that a text may mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchingIds {
    /// UUIDs, at most ten.
    pub ids: Vec<String>,
    /// There are more.
    pub has_more: bool,
}

/// Why something is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloseBody {
    /// 1 to 200 visible characters.
    pub reason: String,
}

/// Answer to a reload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// Settings whose secrets are other ones now.
    pub changed: Vec<Cow<'static, str>>,
    /// Settings whose secrets are as they were.
    pub unchanged: Vec<Cow<'static, str>>,
}

/// One installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Installation {
    /// The forge's number, in decimal.
    pub installation_id: InstallationId,
    /// Login of its owner; null until a webhook named it.
    pub account: Option<String>,
    /// `active`, `suspended` or `deleted`.
    pub state: Cow<'static, str>,
    /// Until when the forge asked it to wait; null when it did not, or the time is over.
    #[serde(default)]
    pub paused_until: Option<Timestamp>,
}

/// Something of one installation, where that is not plain from the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfInstallation<T> {
    /// The forge's number, in decimal.
    pub installation_id: InstallationId,
    /// What it is.
    #[serde(flatten)]
    pub item: T,
}

/// That the service answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Liveness {
    /// `live`.
    pub status: Cow<'static, str>,
}

/// Whether the service may be used, and why not.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// `ready` or `not_ready`.
    pub status: Cow<'static, str>,
    /// The reconciliation settings could be understood.
    pub reconciliation_configuration_valid: bool,
    /// Null until the first poll.
    pub last_workflow_reconciliation_poll_at: Option<Timestamp>,
    /// When an authoritative answer was last applied, or nothing was due while all open items were answered.
    pub last_successful_workflow_reconciliation_at: Option<Timestamp>,
    /// Null until the first poll.
    pub last_check_run_reconciliation_poll_at: Option<Timestamp>,
    /// When an authoritative answer was last applied, or nothing was due while all open items were answered.
    pub last_successful_check_run_reconciliation_at: Option<Timestamp>,
    /// Null until the first poll.
    pub last_lifecycle_reconciliation_poll_at: Option<Timestamp>,
    /// When an authoritative answer was last applied, or nothing was due while all open items were answered.
    pub last_successful_lifecycle_reconciliation_at: Option<Timestamp>,
    /// `ok`, or a stable word for what is wrong with the store.
    pub store: Cow<'static, str>,
    /// Step of the database schema.
    pub schema_version: i64,
    /// The service is stopping.
    pub draining: bool,
    /// `healthy`, `degraded` or `critical` by its signals, which say nothing about readiness; null
    /// until the first evaluation.
    pub slo_health: Option<Cow<'static, str>>,
    /// The signals that fire.
    #[serde(default)]
    pub slo_active_signals: Vec<Cow<'static, str>>,
}

impl Readiness {
    /// The status of a service that new work may be sent to.
    pub const READY: &str = "ready";

    /// Says whether new work may be sent there.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.status == Self::READY
    }
}

/// Answer to a webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intake {
    /// `accepted`, `ignored` or `duplicate`.
    pub outcome: Cow<'static, str>,
}

/// Answer to a result that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultReceipt {
    /// `recorded` or `already_recorded`.
    pub outcome: Cow<'static, str>,
    /// UUID.
    pub release_run_id: String,
    /// UUID.
    pub attempt_id: String,
}

/// RFC 9457 problem, with the stable `outcome` that programs match on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// `urn:svc:problem:<outcome>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The same for every problem of this outcome.
    pub title: Cow<'static, str>,
    /// HTTP status.
    pub status: u16,
    /// Stable word.
    pub outcome: Cow<'static, str>,
    /// What to do about this one; never echoes the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// For `not_replayable`: the replay class, or `not_dead`.
    #[serde(rename = "replayClass", skip_serializing_if = "Option::is_none")]
    pub replay_class: Option<Cow<'static, str>>,
    /// What is wrong with the card that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<CardReport>>,
}
