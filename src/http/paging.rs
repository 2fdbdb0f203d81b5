//! Pages of lists: how long one is, where it begins, and its shape.

use std::str::FromStr;

use crate::api;
use crate::app;
use crate::domain::page::{PAGE_DEFAULT, PAGE_MAX, PAGE_MIN, Page};
use crate::http::error::invalid;
use crate::http::message::Request;
use crate::http::query;

/// Reads the parameter `limit`: the most items of a page.
pub(super) fn page_size(limit: Option<String>) -> Result<u32, app::Error> {
    let Some(text) = limit else { return Ok(PAGE_DEFAULT) };
    text.parse()
        .ok()
        // One spelling of each number: neither `+5` nor `05`.
        .filter(|limit| (PAGE_MIN..=PAGE_MAX).contains(limit) && text == limit.to_string())
        .ok_or_else(|| invalid("limit must be a whole number from 1 to 100"))
}

/// Reads a cursor, or says what it must be. Whether it names an item is for the store to decide.
pub(super) fn cursor<C>(
    text: Option<String>,
    read: impl FnOnce(&str) -> Option<C>,
    name: &str,
    must_be: &str,
) -> Result<Option<C>, app::Error> {
    let Some(text) = text else { return Ok(None) };
    let cursor = read(&text);
    cursor
        .map(Some)
        .ok_or_else(|| app::Error::InvalidRequest(format!("{name} must be {must_be}").into()))
}

/// Reads the query of a list in ascending order: where the page begins, and the most items of it.
pub(super) fn after<C: FromStr>(
    request: &Request,
    must_be: &str,
) -> Result<(Option<C>, u32), app::Error> {
    let mut parameters = query::parameters(request, &["limit", "after"])?;
    let after = cursor(parameters.take("after"), |text| text.parse().ok(), "after", must_be)?;
    Ok((after, page_size(parameters.take("limit"))?))
}

/// Returns a page of a list that is read from its newest item back.
pub(super) fn page<T, C: ToString>(page: Page<T, C>) -> api::PageBody<T> {
    api::PageBody { items: page.items, next_before: page.next.as_ref().map(C::to_string) }
}

/// Returns a page of a list that is read in ascending order.
pub(super) fn page_after<T, C: ToString>(page: Page<T, C>) -> api::PageAfter<T> {
    api::PageAfter { items: page.items, next_after: page.next.as_ref().map(C::to_string) }
}
