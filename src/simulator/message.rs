//! Requests and answers of the simulator, and how a request is read.

use std::io::{self, Read as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::BASE_PATH;
use crate::domain::time::Timestamp;

/// Largest request that is read, in bytes.
const REQUEST_BYTES_MAX: usize = 1024 * 1024;
const HEADERS_MAX: usize = 32;

/// A request, read whole.
pub(super) struct Request {
    pub(super) method: String,
    /// Without the base path.
    pub(super) path: String,
    pub(super) query: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns a parameter of the query.
    pub(super) fn asks(&self, name: &str) -> Option<String> {
        let mut pairs = form_urlencoded::parse(self.query.as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }
}

/// An answer.
pub(super) struct Reply {
    pub(super) status: u16,
    /// Nothing is said when zero.
    pub(super) retry_after: u64,
    pub(super) location: Option<String>,
    /// Where the next page is.
    pub(super) link: Option<String>,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self { status, retry_after: 0, location: None, link: None, body: body.to_string() }
    }

    pub(super) fn error(status: u16) -> Self {
        Self::json(status, &json!({"message": "simulated", "status": status.to_string()}))
    }

    pub(super) fn to_http(&self, now: Timestamp) -> String {
        let date = now.http_date();
        let mut head =
            format!("HTTP/1.1 {} Simulated\r\nconnection: close\r\ndate: {date}\r\n", self.status);
        if self.retry_after > 0 {
            head = format!("{head}retry-after: {}\r\n", self.retry_after);
        }
        if let Some(location) = &self.location {
            head = format!("{head}location: {location}\r\n");
        }
        if let Some(link) = &self.link {
            head = format!("{head}link: {link}\r\n");
        }
        // This status has no body and no length (RFC 9110, 8.6).
        if self.status == 204 {
            return format!("{head}\r\n");
        }
        let (length, body) = (self.body.len(), &self.body);
        format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
    }
}

pub(super) fn read(stream: &mut TcpStream) -> io::Result<Request> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(request) = parse(&bytes)? {
            return Ok(request);
        }
        let count = stream.read(&mut chunk)?;
        if count == 0 || bytes.len() > REQUEST_BYTES_MAX {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend(chunk.iter().take(count));
    }
}

/// Reads a request; nothing while it is not complete.
fn parse(bytes: &[u8]) -> io::Result<Option<Request>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let parsed = head.parse(bytes).map_err(io::Error::other)?;
    let httparse::Status::Complete(head_bytes) = parsed else { return Ok(None) };
    let headers: Vec<_> = head
        .headers
        .iter()
        .map(|header| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        })
        .collect();
    let target = head.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        // A path outside the API becomes empty, which is the path of no call.
        path: path.strip_prefix(BASE_PATH).unwrap_or_default().to_owned(),
        query: query.to_owned(),
        headers,
        body: Vec::new(),
    };
    let length = request.header("content-length").parse().unwrap_or(0);
    let Some(body) = bytes.get(head_bytes..).and_then(|rest| rest.get(..length)) else {
        return Ok(None);
    };
    request.body = body.to_vec();
    Ok(Some(request))
}
