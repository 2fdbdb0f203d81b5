//! The operator API: its words to use cases, and back.

pub(super) mod lists;
pub(super) mod relay;
pub(super) mod releases;

use std::borrow::Cow;

use http::{HeaderName, StatusCode};

use crate::api;
use crate::app::{self, App};
use crate::auth::operator::Principal;
use crate::domain::dead_letter::{ItemId, ItemType, OperationId};
use crate::http::error::invalid;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, paging, query};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(super) fn dead_letter(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let (installation, item) = (path.get("installationId")?, item(path)?);
    let found = app.dead_letter(principal, installation, item)?;
    Ok(json::answer(StatusCode::OK, &found))
}

pub(super) fn dead_letter_summary(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let summary = app.dead_letter_summary(principal, path.get("installationId")?)?;
    Ok(json::answer(StatusCode::OK, &summary))
}

pub(super) fn replay(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let key =
        request.head.single(&IDEMPOTENCY_KEY).and_then(OperationId::new).ok_or_else(|| {
            invalid("send one Idempotency-Key header of 1 to 128 visible ASCII characters")
        })?;
    let (installation, item) = (path.get("installationId")?, item(path)?);
    let replayed = app.replay(principal, installation, item, key)?;
    let body = api::ReplayBody {
        outcome: Cow::Borrowed(if replayed.now { "replayed" } else { "already_applied" }),
        audit_event_id: replayed.audit_event,
    };
    Ok(json::answer(StatusCode::OK, &body))
}

pub(super) fn installations(
    app: &App,
    principal: &Principal,
    request: &Request,
    _: &Path<'_>,
) -> Result<Response, app::Error> {
    let (after, limit) =
        paging::after(request, "the number of an installation, such as nextAfter")?;
    let page = app.installations(principal, after, limit)?;
    Ok(json::answer(StatusCode::OK, &paging::page_after(page)))
}

/// Reads the item. An unknown type or a malformed id is as absent as an unknown id.
fn item(path: &Path<'_>) -> Result<ItemId, app::Error> {
    ItemType::from_word(path.text("itemType"))
        .and_then(|item_type| ItemId::parse(item_type, path.text("itemId")))
        .ok_or(app::Error::NotFound)
}
