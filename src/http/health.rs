//! Liveness, readiness and metrics: open, bounded, and without anything of a tenant.

use std::borrow::Cow;

use http::StatusCode;

use crate::api;
use crate::app::App;
use crate::http::json;
use crate::http::message::{Request, Response};

pub(super) fn live(_: &App, _: &Request) -> Response {
    json::answer(StatusCode::OK, &api::Liveness { status: Cow::Borrowed("live") })
}

pub(super) fn ready(app: &App, _: &Request) -> Response {
    let readiness = app.readiness();
    let status =
        if readiness.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json::answer(status, &readiness)
}

pub(super) fn status(app: &App, _: &Request) -> Response {
    json::answer(StatusCode::OK, &app.status())
}

pub(super) fn metrics(app: &App, _: &Request) -> Response {
    Response::new(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", app.metrics_text())
}
