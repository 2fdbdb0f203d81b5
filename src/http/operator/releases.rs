//! One release run of an installation.

use std::borrow::Cow;

use http::StatusCode;

use crate::api;
use crate::app::{self, App};
use crate::auth::operator::Principal;
use crate::domain::release::next_step::NextStep;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, query};

pub(in crate::http) fn show(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let (found, next_step) =
        app.release_run(principal, path.get("installationId")?, path.get("releaseRunId")?)?;
    let body = api::ReleaseRunDetail {
        release_run: found.release,
        attempts: found.attempts,
        steps: found.steps,
        next: to_api(next_step, found.dead_letter_reason, found.failed_tries),
    };
    Ok(json::answer(StatusCode::OK, &body))
}

fn to_api(
    next_step: NextStep,
    dead_letter_reason: Option<String>,
    failed_tries: u32,
) -> api::Outlook {
    api::Outlook {
        code: Cow::Borrowed(next_step.code()),
        at: next_step.at(),
        deadline_at: next_step.deadline_at(),
        dead_letter_id: next_step.dead_letter(),
        reason_code: dead_letter_reason.filter(|_| next_step.dead_letter().is_some()),
        failed_tries,
    }
}
