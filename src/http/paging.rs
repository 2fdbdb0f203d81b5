//! Pages of lists: how long one is, where it begins, and its shape.

use std::str::FromStr;

use crate::api;
use crate::app::Error;
use crate::domain::page::{PAGE_DEFAULT, PAGE_MAX, PAGE_MIN, Page};
use crate::http::error::invalid;

/// Reads the parameter `limit`: the most items of a page.
pub(super) fn page_size(limit: Option<String>) -> Result<u32, Error> {
    let Some(text) = limit else { return Ok(PAGE_DEFAULT) };
    text.parse()
        .ok()
        .filter(|limit| (PAGE_MIN..=PAGE_MAX).contains(limit) && text == limit.to_string())
        .ok_or_else(|| invalid("limit must be a whole number from 1 to 100"))
}

/// Reads the cursor `before` of a list whose cursors are ids. Whether it names an item is for the
/// store to decide.
pub(super) fn before_id<T: FromStr>(before: Option<String>) -> Result<Option<T>, Error> {
    cursor(before, "before must be an id of this list, as nextBefore gives it")
}

/// Reads a cursor, or says what it must be.
pub(super) fn cursor<T: FromStr>(
    text: Option<String>,
    must_be: &'static str,
) -> Result<Option<T>, Error> {
    text.map(|text| text.parse()).transpose().map_err(|_| invalid(must_be))
}

/// Returns a page of a list that is read from its newest item back.
pub(super) fn page<T, C: ToString, U>(page: &Page<T, C>, shown: fn(&T) -> U) -> api::Page<U> {
    api::Page {
        items: page.items.iter().map(shown).collect(),
        next_before: page.next.as_ref().map(C::to_string),
    }
}

/// Returns a page of a list that is read in ascending order.
pub(super) fn page_after<T, C: ToString, U>(
    page: &Page<T, C>,
    shown: fn(&T) -> U,
) -> api::PageAfter<U> {
    api::PageAfter {
        items: page.items.iter().map(shown).collect(),
        next_after: page.next.as_ref().map(C::to_string),
    }
}
