//! The operator API: its words to use cases, and back.

pub(super) mod lists;
pub(super) mod relay;
pub(super) mod releases;

use std::borrow::Cow;

use http::{HeaderName, StatusCode};

use crate::api;
use crate::app::{self, App};
use crate::auth::operator::Principal;
use crate::domain::dead_letter::{ItemId, ItemType};
use crate::domain::id::IdKind;
use crate::domain::operation::{OperationId, OperatorReason};
use crate::domain::time::Timestamp;
use crate::http::error::invalid;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, paging, query};
use crate::json::Object;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Longest text that is looked up, in bytes: a tag may be as long.
const PREFIX_BYTES_MAX: usize = 255;
/// Most ids that an answer names.
const IDS_SHOWN_MAX: usize = 10;
/// Longest reason, in bytes: 200 characters.
const REASON_BYTES_MAX: usize = 800;

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
    let (death, key) = (death(request)?, key(request)?);
    let (installation, item) = (path.get("installationId")?, item(path)?);
    let replayed = app.replay(principal, installation, item, death, key)?;
    Ok(applied(replayed, "replayed"))
}

pub(super) fn close(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    let death = death(request)?;
    let (key, reason) = (key(request)?, reason(request)?);
    let (installation, item) = (path.get("installationId")?, item(path)?);
    let closed = app.close_dead_letter(principal, installation, item, death, key, reason)?;
    Ok(applied(closed, "closed"))
}

/// Reads which death of the item is meant, if one is named. It is a parameter and not a header, because a service that
/// does not know it must refuse the request.
fn death(request: &Request) -> Result<Option<Timestamp>, app::Error> {
    let text = query::parameters(request, &["failedAt"])?.take("failedAt");
    let read = |text: String| {
        Timestamp::parse_rounding_up(&text).ok_or_else(|| {
            invalid("failedAt must be the failedAt of a dead letter; encode + as %2B")
        })
    };
    text.map(read).transpose()
}

fn key(request: &Request) -> Result<OperationId, app::Error> {
    request.head.single(&IDEMPOTENCY_KEY).and_then(OperationId::new).ok_or_else(|| {
        invalid("send one Idempotency-Key header of 1 to 128 visible ASCII characters")
    })
}

pub(super) fn close_reconciliation(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let (key, reason) = (key(request)?, reason(request)?);
    let (installation, id) = (path.get("installationId")?, path.get("reconciliationId")?);
    let closed = app.close_reconciliation(principal, installation, id, key, reason)?;
    Ok(applied(closed, "closed"))
}

/// Reads why something is closed.
fn reason(request: &Request) -> Result<OperatorReason, app::Error> {
    if !request.head.is_of_type(json::MEDIA_TYPE) {
        return Err(app::Error::UnsupportedMediaType);
    }
    let body = Object::read(&request.body).ok().filter(|body| body.has_only(&["reason"]));
    let reason = body.and_then(|body| body.text("reason", REASON_BYTES_MAX));
    reason.as_deref().and_then(OperatorReason::new).ok_or_else(|| {
        let shape = format!("send {{\"reason\": TEXT}} with {}", OperatorReason::SHAPE);
        app::Error::InvalidRequest(shape.into())
    })
}

fn applied(applied: app::Applied, outcome: &'static str) -> Response {
    let body = api::AppliedBody {
        outcome: Cow::Borrowed(if applied.now { outcome } else { "already_applied" }),
        audit_event_id: applied.audit_event,
    };
    json::answer(StatusCode::OK, &body)
}

/// Returns the ids that a text may mean.
pub(super) fn ids(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    let installation = path.get("installationId")?;
    let mut parameters = query::parameters(request, &["type", "prefix"])?;
    let kind = parameters.take("type").as_deref().and_then(IdKind::from_word);
    let kind =
        kind.ok_or_else(|| invalid("send type=job, outbox, release_run or reconciliation_item"))?;
    let text =
        parameters.take("prefix").filter(|text| (1..=PREFIX_BYTES_MAX).contains(&text.len()));
    let text = text.ok_or_else(|| {
        invalid("send prefix: the beginning of an ID, or the tag of a release run")
    })?;
    let mut ids = app.ids(principal, installation, kind, &text)?;
    let has_more = ids.len() > IDS_SHOWN_MAX;
    ids.truncate(IDS_SHOWN_MAX);
    Ok(json::answer(StatusCode::OK, &api::MatchingIds { ids, has_more }))
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
