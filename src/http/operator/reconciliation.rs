//! Reconciliation items of an installation.

use http::StatusCode;

use super::{cursor, installation, one_of, page_size, query, shown_page, text};
use crate::api;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::reconcile::Status;
use crate::http::message::{Request, Response};
use crate::http::routes::{Variables, json};
use crate::store::ReconciliationItem;

pub(in crate::http) fn list(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let installation = installation(variables)?;
    let [limit, before, status] = query(request, ["limit", "before", "status"])?;
    let (before, limit) = (cursor(before)?, page_size(limit)?);
    let status = one_of(status, Status::ALL, Status::as_str)?;
    let page = app.reconciliation_items(principal, installation, status, before, limit)?;
    Ok(json(StatusCode::OK, &shown_page(&page, shown)))
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
        lease_expires_at: text(found.lease_expires_at),
        created_at: found.created_at.to_string(),
        finished_at: text(found.finished_at),
    }
}
