//! Liveness, readiness and metrics: open, bounded, and without anything of a tenant.

use std::borrow::Cow;

use http::StatusCode;

use crate::api;
use crate::app::App;
use crate::domain::slo::Report;
use crate::http::json;
use crate::http::message::{Request, Response};

pub(super) fn live(_: &App, _: &Request) -> Response {
    json::answer(StatusCode::OK, &api::Liveness { status: Cow::Borrowed("live") })
}

pub(super) fn ready(app: &App, _: &Request) -> Response {
    let found = app.readiness();
    let body = api::Readiness {
        status: Cow::Borrowed(if found.ready { "ready" } else { "not_ready" }),
        reconciliation_configuration_valid: found.reconciliation_configuration_valid,
        last_workflow_reconciliation_poll_at: found.workflow.last_poll_at,
        last_successful_workflow_reconciliation_at: found.workflow.last_success_at,
        last_check_run_reconciliation_poll_at: found.check_run.last_poll_at,
        last_successful_check_run_reconciliation_at: found.check_run.last_success_at,
        last_lifecycle_reconciliation_poll_at: found.lifecycle.last_poll_at,
        last_successful_lifecycle_reconciliation_at: found.lifecycle.last_success_at,
        store: Cow::Borrowed(found.store),
        schema_version: found.schema_step,
        draining: found.draining,
        slo_health: found.slo.as_ref().map(|report| Cow::Borrowed(report.health().as_str())),
        slo_active_signals: found.slo.iter().flat_map(active).collect(),
    };
    let status = if found.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json::answer(status, &body)
}

fn active(report: &Report) -> impl Iterator<Item = Cow<'static, str>> {
    report.firing().map(|status| Cow::Borrowed(status.rule.signal.as_str()))
}

pub(super) fn metrics(app: &App, _: &Request) -> Response {
    Response::new(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", app.metrics_text())
}
