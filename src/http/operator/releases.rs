//! One release run of an installation.

use std::borrow::Cow;

use http::StatusCode;

use crate::api;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::release::outlook::Outlook;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, query};

pub(in crate::http) fn show(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, Error> {
    query::none(request)?;
    let (found, outlook) =
        app.release_run(principal, path.get("installationId")?, path.get("releaseRunId")?)?;
    let body = api::ReleaseRunDetail {
        release_run: found.release,
        attempts: found.attempts,
        next: shown_outlook(outlook, found.dead_letter_reason),
    };
    Ok(json::answer(StatusCode::OK, &body))
}

fn shown_outlook(outlook: Outlook, dead_letter_reason: Option<String>) -> api::Outlook {
    api::Outlook {
        code: Cow::Borrowed(outlook.code()),
        at: outlook.at(),
        deadline_at: outlook.deadline_at(),
        dead_letter_id: outlook.dead_letter(),
        reason_code: dead_letter_reason.filter(|_| outlook.dead_letter().is_some()),
    }
}
