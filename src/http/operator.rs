//! The operator API: its words to intentions, and back.

pub(super) mod audit;
pub(super) mod reconciliation;
pub(super) mod releases;

use std::borrow::Cow;

use http::{HeaderName, StatusCode};

use crate::api;
use crate::app::{App, Error, Installation};
use crate::auth::operator::Principal;
use crate::domain::dead_letter::{DeadLetter, ItemId, ItemType, OperationId};
use crate::domain::time::Timestamp;
use crate::http::error::invalid;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, paging, query};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(super) fn dead_letters(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, Error> {
    let installation = path.get("installationId")?;
    let [limit, before] = query::parameters(request, ["limit", "before"])?;
    let before = match before {
        None => None,
        Some(text) => Some(Timestamp::parse_rounding_up(&text).ok_or_else(|| {
            invalid("before must be an ISO 8601 time with an offset, as nextBefore gives it; write + as %2B")
        })?),
    };
    let page = app.dead_letters(principal, installation, before, paging::page_size(limit)?)?;
    Ok(json::answer(StatusCode::OK, &paging::page(&page, shown)))
}

pub(super) fn dead_letter(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, Error> {
    query::none(request)?;
    let (installation, item) = (path.get("installationId")?, item(path)?);
    let found = app.dead_letter(principal, installation, item)?;
    let body = api::DeadLetterDetail {
        dead_letter: shown(&found),
        replay_class: Cow::Owned(found.replay_class.clone()),
    };
    Ok(json::answer(StatusCode::OK, &body))
}

pub(super) fn replay(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, Error> {
    query::none(request)?;
    let key =
        request.head.single(&IDEMPOTENCY_KEY).and_then(OperationId::new).ok_or_else(|| {
            invalid("send one Idempotency-Key header of 1 to 128 visible ASCII characters")
        })?;
    let (installation, item) = (path.get("installationId")?, item(path)?);
    let replayed = app.replay(principal, installation, item, key)?;
    let body = api::Replayed {
        outcome: Cow::Borrowed(if replayed.now { "replayed" } else { "already_applied" }),
        audit_event_id: replayed.audit_event.to_string(),
    };
    Ok(json::answer(StatusCode::OK, &body))
}

pub(super) fn installations(
    app: &App,
    principal: &Principal,
    request: &Request,
    _: &Path<'_>,
) -> Result<Response, Error> {
    let [limit, after] = query::parameters(request, ["limit", "after"])?;
    let after = paging::cursor(after, "after must be an installation's number, as nextAfter")?;
    let page = app.installations(principal, after, paging::page_size(limit)?)?;
    let shown = |installation: &Installation| api::Installation {
        installation_id: installation.id.to_string(),
        account: installation.account.clone(),
        state: Cow::Borrowed(installation.state.as_str()),
    };
    Ok(json::answer(StatusCode::OK, &paging::page_after(&page, shown)))
}

fn shown(found: &DeadLetter) -> api::DeadLetter {
    api::DeadLetter {
        item_type: Cow::Borrowed(found.item.item_type().as_str()),
        item_id: found.item.to_string(),
        repository: found.repository.clone(),
        reason_code: Cow::Owned(found.reason.clone()),
        error_class: Cow::Owned(found.error_class.clone()),
        attempt_count: found.attempt_count,
        failed_at: found.failed_at.to_string(),
        replay_safe: found.is_replay_safe(),
    }
}

/// Reads the item. An unknown type or a malformed id is as absent as an unknown id.
fn item(path: &Path<'_>) -> Result<ItemId, Error> {
    ItemType::from_word(path.text("itemType"))
        .and_then(|item_type| ItemId::parse(item_type, path.text("itemId")))
        .ok_or(Error::NotFound)
}
