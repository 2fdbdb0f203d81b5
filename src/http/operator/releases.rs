//! Release runs of an installation: the list, and one of them.

use std::borrow::Cow;

use http::StatusCode;

use super::{cursor, installation, one_of, page_size, query, shown_page, text};
use crate::api;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::id::ReleaseRunId;
use crate::domain::release::ReleaseStatus;
use crate::domain::release::outlook::Outlook;
use crate::http::message::{Request, Response};
use crate::http::routes::{Variables, json};
use crate::store::{Attempt, ReleaseRun};

pub(in crate::http) fn list(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let installation = installation(variables)?;
    let [limit, before, status] = query(request, ["limit", "before", "status"])?;
    let (before, limit) = (cursor(before)?, page_size(limit)?);
    let status = one_of(status, ReleaseStatus::ALL, ReleaseStatus::as_str)?;
    let page = app.release_runs(principal, installation, status, before, limit)?;
    Ok(json(StatusCode::OK, &shown_page(&page, shown)))
}

pub(in crate::http) fn show(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let [] = query(request, [])?;
    let (found, outlook) = app.release_run(principal, installation(variables)?, id(variables)?)?;
    let body = api::ReleaseRunDetail {
        release_run: shown(&found.release),
        attempts: found.attempts.iter().map(shown_attempt).collect(),
        next: shown_outlook(outlook, found.dead_letter_reason),
    };
    Ok(json(StatusCode::OK, &body))
}

/// Reads the release run. A malformed id is as absent as an unknown one.
fn id(variables: &Variables<'_>) -> Result<ReleaseRunId, Error> {
    variables.get(1).and_then(|text| text.parse().ok()).ok_or(Error::NotFound)
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
        workflow_run_id: text(found.workflow_run),
        check_run_id: text(found.check_run),
        forge_check_published_at: text(found.published_at),
        last_publication_error: found.last_publication_error.clone(),
        created_at: found.created_at.to_string(),
        updated_at: found.updated_at.to_string(),
        finished_at: text(found.finished_at),
    }
}

fn shown_attempt(found: &Attempt) -> api::Attempt {
    api::Attempt {
        attempt_id: found.id.to_string(),
        number: found.number,
        status: found.status.clone(),
        failure_reason: found.failure_reason.clone(),
        workflow_run_id: text(found.workflow_run),
        check_run_id: text(found.check_run),
        hinted_at: text(found.hinted_at),
    }
}

fn shown_outlook(outlook: Outlook, dead_letter_reason: Option<String>) -> api::Outlook {
    api::Outlook {
        code: Cow::Borrowed(outlook.code()),
        at: text(outlook.at()),
        deadline_at: text(outlook.deadline_at()),
        dead_letter_id: text(outlook.dead_letter()),
        reason_code: dead_letter_reason.filter(|_| outlook.dead_letter().is_some()),
    }
}
