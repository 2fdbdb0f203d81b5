//! Audit events of an installation.

use http::StatusCode;

use crate::api;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::audit::AuditEvent;
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
    let [limit, before] = query::parameters(request, ["limit", "before"])?;
    let page = app.audit_events(
        principal,
        installation,
        paging::before_id(before)?,
        paging::page_size(limit)?,
    )?;
    Ok(json::answer(StatusCode::OK, &paging::page(&page, shown)))
}

fn shown(found: &AuditEvent) -> api::AuditEvent {
    api::AuditEvent {
        audit_event_id: found.id.to_string(),
        event: found.event.clone(),
        actor: found.actor.clone(),
        operation_id: found.operation.clone(),
        item_type: found.item_type.clone(),
        item_id: found.item.clone(),
        reason_code: found.reason.clone(),
        created_at: found.created_at.to_string(),
    }
}
