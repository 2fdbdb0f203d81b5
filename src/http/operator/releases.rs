//! Release runs of an installation: the list, and one of them.

use std::borrow::Cow;

use http::StatusCode;

use crate::api;
use crate::app::{App, Attempt, Error, ReleaseRun};
use crate::auth::operator::Principal;
use crate::domain::release::ReleaseStatus;
use crate::domain::release::outlook::Outlook;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, paging, query};

pub(in crate::http) fn list(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, Error> {
    let installation = path.get("installationId")?;
    let [limit, before, status] = query::parameters(request, ["limit", "before", "status"])?;
    let (before, limit) = (paging::before_id(before)?, paging::page_size(limit)?);
    let status = query::status(status, ReleaseStatus::ALL, ReleaseStatus::as_str)?;
    let page = app.release_runs(principal, installation, status, before, limit)?;
    Ok(json::answer(StatusCode::OK, &paging::page(&page, shown)))
}

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
        release_run: shown(&found.release),
        attempts: found.attempts.iter().map(shown_attempt).collect(),
        next: shown_outlook(outlook, found.dead_letter_reason),
    };
    Ok(json::answer(StatusCode::OK, &body))
}

fn shown(found: &ReleaseRun) -> api::ReleaseRun {
    api::ReleaseRun {
        release_run_id: found.id.to_string(),
        repository: found.repository.clone(),
        git_ref: found.git_ref.clone(),
        head_sha: found.head_sha.clone(),
        status: Cow::Borrowed(found.status.as_str()),
        decision: found.decision.clone(),
        conclusion: found.conclusion.clone(),
        failure_reason: found.failure_reason.clone(),
        attempt_number: found.attempt_number,
        workflow_run_id: json::text(found.workflow_run),
        check_run_id: json::text(found.check_run),
        forge_check_published_at: json::text(found.published_at),
        last_publication_error: found.last_publication_error.clone(),
        created_at: found.created_at.to_string(),
        updated_at: found.updated_at.to_string(),
        finished_at: json::text(found.finished_at),
    }
}

fn shown_attempt(found: &Attempt) -> api::Attempt {
    api::Attempt {
        attempt_id: found.id.to_string(),
        number: found.number,
        status: found.status.clone(),
        failure_reason: found.failure_reason.clone(),
        workflow_run_id: json::text(found.workflow_run),
        check_run_id: json::text(found.check_run),
        hinted_at: json::text(found.hinted_at),
    }
}

fn shown_outlook(outlook: Outlook, dead_letter_reason: Option<String>) -> api::Outlook {
    api::Outlook {
        code: Cow::Borrowed(outlook.code()),
        at: json::text(outlook.at()),
        deadline_at: json::text(outlook.deadline_at()),
        dead_letter_id: json::text(outlook.dead_letter()),
        reason_code: dead_letter_reason.filter(|_| outlook.dead_letter().is_some()),
    }
}
