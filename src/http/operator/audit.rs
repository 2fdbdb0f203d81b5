//! Audit events of an installation.

use http::StatusCode;

use super::{cursor, installation, page_size, query, shown_page};
use crate::api;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::audit::AuditEvent;
use crate::http::message::{Request, Response};
use crate::http::routes::{Variables, json};

pub(in crate::http) fn list(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let installation = installation(variables)?;
    let [limit, before] = query(request, ["limit", "before"])?;
    let page = app.audit_events(principal, installation, cursor(before)?, page_size(limit)?)?;
    Ok(json(StatusCode::OK, &shown_page(&page, shown)))
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
