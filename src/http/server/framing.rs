//! Bytes to a head, and an answer to bytes, for the guard in front of `tiny_http`. Anything whose end
//! two readers could see differently is refused.

use std::io;

use http::header::{CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue};
use httparse::Status;

use crate::http::message::{Head, Refusal, Response, Surface};

/// Most bytes of a head, and most headers.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;

/// The beginning of a request.
pub(super) struct Opening {
    pub(super) head: Head,
    /// Where the head begins, after empty lines, and where it ends.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Bytes of the body, as declared; zero when nothing is.
    pub(super) body_len: usize,
    /// The peer sends its body once it is told to go on.
    pub(super) waits: bool,
}

/// Reads a head from the first bytes of a connection. Returns `None` when more bytes are needed.
pub(super) fn read(bytes: &[u8]) -> Result<Option<Opening>, Refusal> {
    let mut lines = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut lines);
    let opening = match request.parse(bytes) {
        Ok(Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(Status::Complete(end)) => bytes.get(..end).and_then(|head| opening(head, &request)),
        Ok(Status::Partial) | Err(_) => None,
    };
    opening.map(Some).ok_or(Refusal::BadRequest)
}

fn opening(bytes: &[u8], request: &httparse::Request<'_, '_>) -> Option<Opening> {
    let lines = request.headers.iter().map(|line| (line.name, line.value));
    let head = head(request.method?, request.path?, lines)?;
    let body_len = match at_most_one(&head, &CONTENT_LENGTH)? {
        // `parse` would take a plus sign.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        Some(_) => return None,
        None => 0,
    };
    let expected = at_most_one(&head, &EXPECT)?;
    // Unlike httparse, tiny_http neither skips empty lines nor ends a line at a bare line feed.
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte))?;
    let mut written = bytes.get(start..)?.split_inclusive(|byte| *byte == b'\n');
    let is_clear = bytes.len() <= HEAD_BYTES_MAX
        && written.all(|line| line.ends_with(b"\r\n"))
        && expected.is_none_or(|it| it.eq_ignore_ascii_case("100-continue"))
        && crate::http::host::is_named(&head)
        && ![TRANSFER_ENCODING, UPGRADE].iter().any(|name| head.headers.contains_key(name));
    // HTTP/1.0 knows nothing of it.
    let waits = expected.is_some() && request.version == Some(1);
    is_clear.then_some(Opening { head, start, end: bytes.len(), body_len, waits })
}

fn at_most_one<'a>(head: &'a Head, name: &HeaderName) -> Option<Option<&'a str>> {
    if head.headers.contains_key(name) { head.single(name).map(Some) } else { Some(None) }
}

/// Returns a head, unless its target is not in origin form or has a fragment, or a header is not ASCII: `tiny_http`
/// would close the connection without an answer.
pub(super) fn head<'a>(
    method: &str,
    target: &str,
    lines: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> Option<Head> {
    if !target.starts_with('/') || target.contains(|it: char| !it.is_ascii_graphic() || it == '#') {
        return None;
    }
    let (path, query) = target.split_once('?').map_or((target, None), |(p, q)| (p, Some(q.into())));
    let (method, path) = (method.parse().ok()?, path.to_owned());
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let value = HeaderValue::from_bytes(value).ok().filter(|value| value.to_str().is_ok())?;
        headers.append(name.parse::<HeaderName>().ok()?, value);
    }
    Some(Head { surface: Surface::Control, method, path, query, headers, peer: None })
}

/// Returns the bytes of an answer, without its body for a `HEAD`. `tiny_http` writes only the head, and
/// is told nothing of the request, whose version it would repeat and whose `TE` it would obey.
pub(super) fn write(response: &Response, is_head: bool) -> io::Result<Vec<u8>> {
    let (body, mut bytes) = (response.body.bytes(), Vec::new());
    let mut head = tiny_http::Response::empty(response.status.as_u16())
        .with_data(io::empty(), Some(body.len()))
        .with_chunked_threshold(usize::MAX);
    for (name, value) in &response.headers {
        let Ok(header) = tiny_http::Header::from_bytes(name.as_str(), value.as_bytes()) else {
            log::error!(event = "http.header_dropped", header = name.as_str(); "a header of an answer is not ASCII");
            continue;
        };
        head.add_header(header);
    }
    head.raw_print(&mut bytes, tiny_http::HTTPVersion(1, 1), &[], true, None)?;
    bytes.extend_from_slice(if is_head { &[] } else { body });
    Ok(bytes)
}

#[cfg(test)]
pub(super) mod tests;
