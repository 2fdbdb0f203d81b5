//! Query strings: the parameters that a route knows, each at most once.

use crate::app::Error;
use crate::http::error::invalid;
use crate::http::message::Request;

/// Takes the named parameters out of the query. A parameter that is not named, or repeated, is
/// refused.
pub(super) fn parameters<const N: usize>(
    request: &Request,
    names: [&'static str; N],
) -> Result<[Option<String>; N], Error> {
    let mut values = names.map(|_| None);
    let query = request.head.query.as_deref().unwrap_or_default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let position = names.iter().position(|known| *known == name);
        let slot = position.and_then(|position| values.get_mut(position));
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

/// Refuses any query.
pub(super) fn none(request: &Request) -> Result<(), Error> {
    parameters(request, []).map(|[]| ())
}

/// Reads the filter `status`, which takes one of a few words.
pub(super) fn status<T: Copy>(
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
