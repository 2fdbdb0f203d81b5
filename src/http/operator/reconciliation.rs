//! Reconciliation items of an installation.

use http::StatusCode;

use crate::api;
use crate::app::{App, Error, ReconciliationItem};
use crate::auth::operator::Principal;
use crate::domain::reconcile::Status;
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
    let status = query::status(status, Status::ALL, Status::as_str)?;
    let page = app.reconciliation_items(principal, installation, status, before, limit)?;
    Ok(json::answer(StatusCode::OK, &paging::page(&page, shown)))
}

fn shown(found: &ReconciliationItem) -> api::ReconciliationItem {
    api::ReconciliationItem {
        reconciliation_id: found.id.to_string(),
        kind: found.kind.clone(),
        reason: found.reason.clone(),
        subject_id: found.subject.clone(),
        status: found.status.clone(),
        outcome_code: found.outcome.clone(),
        attempt_count: found.attempt_count,
        next_check_at: found.next_check_at.to_string(),
        deadline_at: found.deadline_at.to_string(),
        lease_expires_at: json::text(found.lease_expires_at),
        created_at: found.created_at.to_string(),
        finished_at: json::text(found.finished_at),
    }
}
