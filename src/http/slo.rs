//! The signals, in the API's words.

use std::borrow::Cow;

use http::StatusCode;

use crate::api;
use crate::app::{self, App};
use crate::auth::operator::Principal;
use crate::domain::slo::{POLICY_VERSION, SignalStatus};
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, query};

pub(super) fn slo(
    app: &App,
    principal: &Principal,
    request: &Request,
    _: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let report = app.slo(principal);
    let health = match report.evaluated_at {
        None => "unknown",
        Some(_) => report.health().as_str(),
    };
    let body = api::Slo {
        policy_version: Cow::Borrowed(POLICY_VERSION),
        health: Cow::Borrowed(health),
        evaluated_at: report.evaluated_at,
        signals: report.signals.iter().map(shown).collect(),
    };
    Ok(json::answer(StatusCode::OK, &body))
}

fn shown(status: &SignalStatus) -> api::SloSignal {
    let rule = status.rule;
    api::SloSignal {
        name: Cow::Borrowed(rule.signal.as_str()),
        meaning: Cow::Borrowed(rule.signal.meaning()),
        severity: Cow::Borrowed(rule.severity.as_str()),
        gate: api::SloGate {
            kind: Cow::Borrowed(rule.gate.kind()),
            seconds: rule.gate.time().map(|time| time.as_secs()),
            snapshots: rule.gate.snapshots(),
        },
        state: Cow::Borrowed(status.state.as_str()),
        since: status.since,
        value: status.value,
        unit: Cow::Borrowed(rule.unit.as_str()),
        bad_side: Cow::Borrowed(rule.side.as_str()),
        threshold: rule.threshold,
        healthy_value: rule.healthy,
        owner: Cow::Borrowed(rule.owner),
        next_check: Cow::Borrowed(rule.next_check),
    }
}
