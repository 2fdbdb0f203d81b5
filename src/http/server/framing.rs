//! Bytes to a head and back, for the guard in front of `tiny_http`. Anything whose end two readers
//! could see differently is refused.

use std::str::FromStr as _;

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Method};

use crate::http::message::{Body, Head, Response, Surface};

/// Most bytes of a head.
pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;
/// Most headers of a request.
const HEADERS_MAX: usize = 64;

/// Headers that no request may have: each changes where the request ends, or what follows it.
const REFUSED: [HeaderName; 2] = [TRANSFER_ENCODING, UPGRADE];
/// Headers that concern the connection and not the request.
const HOP_BY_HOP: [HeaderName; 6] = [
    CONNECTION,
    EXPECT,
    TE,
    TRAILER,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The bytes are no request we accept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// A whole head, and where it and its body end.
#[derive(Debug)]
pub(super) struct Opening {
    /// The head.
    pub(super) head: Head,
    /// Bytes of the head.
    pub(super) head_len: usize,
    /// Bytes of the body, as declared; zero when nothing is.
    pub(super) body_len: u64,
    /// The peer sends its body once it is told to go on.
    pub(super) waits: bool,
}

/// Reads a head from the first bytes of a connection. Nothing when more bytes are needed.
pub(super) fn read(bytes: &[u8]) -> Result<Option<Opening>, Malformed> {
    let mut lines = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut lines);
    let head_len = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head_len)) => head_len,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Malformed),
    };
    if head_len > HEAD_BYTES_MAX {
        return Err(Malformed);
    }
    let (path, query) = target(request.path.ok_or(Malformed)?).ok_or(Malformed)?;
    let method = request.method.and_then(|name| Method::from_str(name).ok()).ok_or(Malformed)?;
    let headers = headers(request.headers).ok_or(Malformed)?;
    let body_len = body_len(&headers).ok_or(Malformed)?;
    // HTTP/1.0 knows nothing of it.
    let waits = expects_to_go_on(&headers).ok_or(Malformed)? && request.version == Some(1);
    let head = Head { surface: Surface::Control, method, path, query, headers, peer: None };
    Ok(Some(Opening { head, head_len, body_len, waits }))
}

/// Splits a request target in origin form into path and query; nothing for the other forms.
pub(super) fn target(target: &str) -> Option<(String, Option<String>)> {
    if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    Some(match target.split_once('?') {
        Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
        None => (target.to_owned(), None),
    })
}

fn headers(lines: &[httparse::Header<'_>]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(lines.len());
    for line in lines {
        let value = HeaderValue::from_bytes(line.value).ok()?;
        // tiny_http closes the connection without an answer over anything but ASCII.
        value.to_str().ok()?;
        headers.append(HeaderName::from_str(line.name).ok()?, value);
    }
    let one_host = headers.get_all(HOST).iter().count() == 1;
    (one_host && !REFUSED.iter().any(|name| headers.contains_key(name))).then_some(headers)
}

fn body_len(headers: &HeaderMap) -> Option<u64> {
    let mut values = headers.get_all(CONTENT_LENGTH).iter();
    let Some(value) = values.next() else { return Some(0) };
    let digits = value.to_str().ok()?;
    // `parse` would take a plus sign.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain && values.next().is_none() { digits.parse().ok() } else { None }
}

/// Says whether the peer waits for a word before it sends its body; nothing when it expects something else.
fn expects_to_go_on(headers: &HeaderMap) -> Option<bool> {
    let mut values = headers.get_all(EXPECT).iter();
    let Some(value) = values.next() else { return Some(false) };
    let known = value.as_bytes().eq_ignore_ascii_case(b"100-continue");
    (known && values.next().is_none()).then_some(true)
}

/// Returns the head of the one clean request that `tiny_http` is to see; its body is to follow.
pub(super) fn write_head(head: &Head) -> Vec<u8> {
    let mut bytes = format!("{} {}", head.method, head.path).into_bytes();
    if let Some(query) = &head.query {
        bytes.extend_from_slice(b"?");
        bytes.extend_from_slice(query.as_bytes());
    }
    bytes.extend_from_slice(b" HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in head.headers.iter().filter(|(name, _)| !HOP_BY_HOP.contains(name)) {
        write_header(&mut bytes, name, value);
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// Returns an answer of the guard's own; without its body for a `HEAD`.
pub(super) fn write_response(response: &Response, method: Option<&Method>) -> Vec<u8> {
    let reason = response.status.canonical_reason().unwrap_or_default();
    let Body::Whole(body) = &response.body;
    let (status, length) = (response.status.as_str(), body.len());
    let mut bytes =
        format!("HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Length: {length}\r\n")
            .into_bytes();
    for (name, value) in &response.headers {
        write_header(&mut bytes, name, value);
    }
    bytes.extend_from_slice(b"\r\n");
    if method != Some(&Method::HEAD) {
        bytes.extend_from_slice(body);
    }
    bytes
}

/// Says in an answer of `tiny_http` that the connection ends with it, which `tiny_http` cannot.
/// Nothing when it is no answer.
pub(super) fn close_after(mut answer: Vec<u8>) -> Option<Vec<u8>> {
    let first_line = answer.iter().position(|byte| *byte == b'\n')? + 1;
    answer.splice(first_line..first_line, *b"Connection: close\r\n");
    Some(answer)
}

fn write_header(bytes: &mut Vec<u8>, name: &HeaderName, value: &HeaderValue) {
    bytes.extend_from_slice(name.as_str().as_bytes());
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value.as_bytes());
    bytes.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests;
