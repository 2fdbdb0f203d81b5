//! The operator API: its words to intentions, and back.

pub(super) mod audit;
pub(super) mod reconciliation;
pub(super) mod releases;

use std::borrow::Cow;
use std::str::FromStr;

use http::{HeaderName, StatusCode};

use crate::api;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::dead_letter::{DeadLetter, ItemId, ItemType, OperationId};
use crate::domain::id::InstallationId;
use crate::domain::page::{PAGE_DEFAULT, PAGE_MAX, PAGE_MIN, Page};
use crate::domain::time::Timestamp;
use crate::http::message::{Request, Response};
use crate::http::routes::{Variables, json};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(super) fn dead_letters(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let installation = installation(variables)?;
    let [limit, before] = query(request, ["limit", "before"])?;
    let before = match before {
        None => None,
        Some(text) => Some(Timestamp::parse_rounding_up(&text).ok_or_else(|| {
            invalid("before must be an ISO 8601 time with an offset, as nextBefore gives it; write + as %2B")
        })?),
    };
    let page = app.dead_letters(principal, installation, before, page_size(limit)?)?;
    Ok(json(StatusCode::OK, &shown_page(&page, shown)))
}

pub(super) fn dead_letter(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let [] = query(request, [])?;
    let (installation, item) = (installation(variables)?, item(variables)?);
    let found = app.dead_letter(principal, installation, item)?;
    let body = api::DeadLetterDetail {
        dead_letter: shown(&found),
        replay_class: Cow::Owned(found.replay_class.clone()),
    };
    Ok(json(StatusCode::OK, &body))
}

pub(super) fn replay(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let [] = query(request, [])?;
    let key =
        request.head.single(&IDEMPOTENCY_KEY).and_then(OperationId::new).ok_or_else(|| {
            invalid("send one Idempotency-Key header of 1 to 128 visible ASCII characters")
        })?;
    let (installation, item) = (installation(variables)?, item(variables)?);
    let replayed = app.replay(principal, installation, item, key)?;
    let body = api::Replayed {
        outcome: Cow::Borrowed(if replayed.now { "replayed" } else { "already_applied" }),
        audit_event_id: replayed.audit_event.to_string(),
    };
    Ok(json(StatusCode::OK, &body))
}

pub(super) fn installations(
    app: &App,
    principal: &Principal,
    request: &Request,
    _: &Variables<'_>,
) -> Result<Response, Error> {
    let [limit, after] = query(request, ["limit", "after"])?;
    let after: Option<InstallationId> = match after {
        None => None,
        Some(text) => Some(
            text.parse()
                .map_err(|_| invalid("after must be an installation's number, as nextAfter"))?,
        ),
    };
    let page = app.installations(principal, after, page_size(limit)?)?;
    let shown = |installation: &crate::store::Installation| api::Installation {
        installation_id: installation.id.to_string(),
        account: installation.account.clone(),
        state: Cow::Borrowed(installation.state.as_str()),
    };
    Ok(json(StatusCode::OK, &shown_page_after(&page, shown)))
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

/// Reads the scope. What is not a number of an installation is not one either.
fn installation(variables: &Variables<'_>) -> Result<InstallationId, Error> {
    variables.first().and_then(|text| text.parse().ok()).ok_or(Error::NotFound)
}

/// Reads the item. An unknown type or a malformed id is as absent as an unknown id.
fn item(variables: &Variables<'_>) -> Result<ItemId, Error> {
    match variables.as_slice() {
        [_, item_type, id] => ItemType::from_word(item_type)
            .and_then(|item_type| ItemId::parse(item_type, id))
            .ok_or(Error::NotFound),
        _ => Err(Error::NotFound),
    }
}

pub(super) fn page_size(limit: Option<String>) -> Result<u32, Error> {
    let Some(text) = limit else { return Ok(PAGE_DEFAULT) };
    text.parse()
        .ok()
        .filter(|limit| (PAGE_MIN..=PAGE_MAX).contains(limit) && text == limit.to_string())
        .ok_or_else(|| invalid("limit must be a whole number from 1 to 100"))
}

/// Reads where a page begins. Whether it names an item is for the store to say.
fn cursor<T: FromStr>(before: Option<String>) -> Result<Option<T>, Error> {
    before
        .map(|text| text.parse())
        .transpose()
        .map_err(|_| invalid("before must be an id of this list, as nextBefore gives it"))
}

/// Reads a filter that takes one of a few words.
fn one_of<T: Copy>(
    word: Option<String>,
    all: &[T],
    as_str: fn(T) -> &'static str,
) -> Result<Option<T>, Error> {
    let Some(word) = word else { return Ok(None) };
    let found = all.iter().copied().find(|value| as_str(*value) == word);
    found.map(Some).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|value| as_str(*value)).collect();
        Error::InvalidRequest(format!("status must be one of: {}", words.join(", ")).into())
    })
}

fn shown_page<T, C: ToString, U>(page: &Page<T, C>, shown: fn(&T) -> U) -> api::Page<U> {
    api::Page {
        items: page.items.iter().map(shown).collect(),
        next_before: page.next.as_ref().map(C::to_string),
    }
}

pub(super) fn shown_page_after<T, C: ToString, U>(
    page: &Page<T, C>,
    shown: fn(&T) -> U,
) -> api::PageAfter<U> {
    api::PageAfter {
        items: page.items.iter().map(shown).collect(),
        next_after: page.next.as_ref().map(C::to_string),
    }
}

fn text(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// Takes the named parameters out of the query. One that is not named, or stands twice, is refused.
pub(super) fn query<const N: usize>(
    request: &Request,
    names: [&'static str; N],
) -> Result<[Option<String>; N], Error> {
    let mut values = names.map(|_| None);
    let query = request.head.query.as_deref().unwrap_or_default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let place = names.iter().position(|known| *known == name);
        let slot = place.and_then(|place| values.get_mut(place));
        match slot {
            Some(slot) if slot.is_none() => *slot = Some(value.into_owned()),
            Some(_) => return Err(invalid("a query parameter stands twice")),
            None => {
                return Err(Error::InvalidRequest(
                    format!("unknown query parameter; known here: {}", names.join(", ")).into(),
                ));
            }
        }
    }
    Ok(values)
}

const fn invalid(detail: &'static str) -> Error {
    Error::InvalidRequest(Cow::Borrowed(detail))
}
