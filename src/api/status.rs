//! How the service stands, in sums: nothing in it belongs to one installation.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Readiness;
use crate::domain::time::Timestamp;

/// How the service stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceStatus {
    /// Whether it may be used.
    #[serde(flatten)]
    pub readiness: Readiness,
    /// Version of the daemon.
    pub version: Cow<'static, str>,
    /// UUID of its database, which a plan of svcctl names; null while it cannot be read.
    pub store_id: Option<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// What waits; null while the database cannot be read.
    pub backlog: Option<StatusBacklog>,
    /// Null when the forge is not configured.
    pub forge: Option<ForgeStatus>,
}

/// What waits. Each count goes up to 10,000.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusBacklog {
    /// Webhooks that are not processed.
    pub webhooks: BacklogQueue,
    /// Jobs that are due, or will be.
    pub jobs: BacklogQueue,
    /// Effects that are due, or will be.
    pub outbox: BacklogQueue,
    /// Reconciliation items that have not ended.
    pub reconciliation_items: BacklogQueue,
    /// Reconciliation items that were given up.
    pub reconciliation_items_given_up: BacklogQueue,
    /// Open dead letters.
    pub dead_letters: BacklogQueue,
    /// How many of them may be replayed.
    pub dead_letters_replay_safe: u32,
    /// Installations that the forge asked to wait.
    pub installations_paused: u32,
}

/// What waits in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BacklogQueue {
    /// How many.
    pub count: u32,
    /// Since when the oldest one waits, or waited to be tried again; null when there is none.
    pub oldest_at: Option<Timestamp>,
}

/// What is known of the forge since the start of this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgeStatus {
    /// When it last answered, whatever it said.
    pub last_answer_at: Option<Timestamp>,
    /// When a call last failed.
    pub last_failure_at: Option<Timestamp>,
    /// Why that call failed.
    pub last_failure_cause: Option<Cow<'static, str>>,
    /// Effects wait because no connection to it can be made.
    pub paused: bool,
}
