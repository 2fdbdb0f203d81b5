//! The signals, as operators see them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

/// How the service stands by its signals.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Slo {
    /// Names the policy.
    pub policy_version: Cow<'static, str>,
    /// `unknown` until the first evaluation, then `healthy`, `degraded` or `critical`.
    pub health: Cow<'static, str>,
    /// When the signals were last evaluated; null until the first time since the start.
    pub evaluated_at: Option<Timestamp>,
    /// Every signal of the policy, in its order.
    pub signals: Vec<SloSignal>,
}

/// One signal: its row of the policy, and how it stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SloSignal {
    /// Stable word.
    pub name: Cow<'static, str>,
    /// What is measured.
    pub meaning: Cow<'static, str>,
    /// `critical` or `warning`.
    pub severity: Cow<'static, str>,
    /// What must hold before it fires.
    pub gate: SloGate,
    /// `inactive`, `pending` or `firing`.
    pub state: Cow<'static, str>,
    /// Since when it is in that state; null until the first evaluation.
    pub since: Option<Timestamp>,
    /// Its last value; null until one could be read.
    pub value: Option<u64>,
    /// What the values count: `count`, `seconds` or `bytes`.
    pub unit: Cow<'static, str>,
    /// Whether `high` or `low` values are bad.
    pub bad_side: Cow<'static, str>,
    /// The first value that is bad.
    pub threshold: u64,
    /// The first value that ends it.
    pub healthy_value: u64,
    /// Role that is responsible.
    pub owner: Cow<'static, str>,
    /// What to look at next.
    pub next_check: Cow<'static, str>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SloGate {
    /// `duration`, `consecutive_snapshots`, `trend` or `volume`.
    pub kind: Cow<'static, str>,
    /// How long, or over which time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// How many snapshots in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<u32>,
}
