//! One raw request to one endpoint, and the whole answer: bytes as a peer writes them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde_json::Value;

use super::{PATIENCE, TOKEN};
use crate::openapi::answers;

/// Where a request goes.
#[derive(Clone, Debug)]
pub(crate) enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: String,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    is_chunked: bool,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case, without `date`.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { method, target, headers: Vec::new(), body: Vec::new(), is_chunked: false }
    }

    pub(crate) fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn post(target: &str) -> Self {
        Self::new("POST", target)
    }

    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self
    }

    /// With a body in one chunk, and without its length.
    pub(crate) fn chunked(mut self) -> Self {
        self.is_chunked = true;
        self.header("Transfer-Encoding", "chunked")
    }

    /// As the operator.
    pub(crate) fn bearer(self) -> Self {
        self.header("Authorization", format!("Bearer {TOKEN}"))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            format!("{} {} HTTP/1.1\r\nConnection: close\r\n", self.method, self.target)
                .into_bytes();
        let has = |wanted: &str| self.headers.iter().any(|(name, _)| name == wanted);
        if !has("Host") {
            bytes.extend_from_slice(b"Host: localhost\r\n");
        }
        let has_length = has("Content-Length") || self.is_chunked;
        if !has_length && (self.method == "POST" || !self.body.is_empty()) {
            bytes.extend(format!("Content-Length: {}\r\n", self.body.len()).into_bytes());
        }
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");
        if self.is_chunked {
            bytes.extend(format!("{:x}\r\n", self.body.len()).into_bytes());
            bytes.extend_from_slice(&self.body);
            bytes.extend_from_slice(b"\r\n0\r\n\r\n");
        } else {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

impl Endpoint {
    /// Returns the answer; there must be one.
    pub(crate) fn ask(&self, ask: &Ask) -> Answer {
        self.try_ask(ask).unwrap_or_else(|error| {
            // Without the body, which may have millions of bytes.
            panic!("{} {}, {} bytes: {error}", ask.method, ask.target, ask.body.len())
        })
    }

    /// Returns the answer, unless the connection ended before it was whole.
    pub(crate) fn try_ask(&self, ask: &Ask) -> io::Result<Answer> {
        let bytes = ask.to_bytes();
        let answer = match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                exchange(stream, &bytes, |stream| stream.shutdown(Shutdown::Write))
            }
            Self::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                exchange(stream, &bytes, |_| Ok(()))
            }
        }?;
        let headers = answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        answers::hold((&ask.method, &ask.target), answer.status, headers);
        Ok(answer)
    }
}

fn exchange<S: Read + Write>(
    mut stream: S,
    request: &[u8],
    finish: impl Fn(&S) -> io::Result<()>,
) -> io::Result<Answer> {
    // A server that has seen enough answers and closes; its answer is what counts.
    let written = stream.write_all(request);
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    drop(finish(&stream));
    match Answer::read(&bytes) {
        Some(answer) => Ok(answer),
        None => Err(written.and(read).err().unwrap_or(io::ErrorKind::UnexpectedEof.into())),
    }
}

impl Answer {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut lines = [httparse::EMPTY_HEADER; 32];
        let mut head = httparse::Response::new(&mut lines);
        let httparse::Status::Complete(length) = head.parse(bytes).ok()? else { return None };
        let status = head.code?;
        let headers: Vec<(String, String)> = head
            .headers
            .iter()
            .map(|line| {
                (line.name.to_lowercase(), String::from_utf8_lossy(line.value).into_owned())
            })
            .filter(|(name, _)| name != "date")
            .collect();
        let answer = Self { status, headers, body: bytes.get(length..)?.to_vec() };
        // These never have a body, and need not say so.
        if [204, 304].contains(&status) {
            return answer.body.is_empty().then_some(answer);
        }
        let whole: usize = answer.header("content-length").parse().ok()?;
        (answer.body.len() == whole || answer.body.is_empty()).then_some(answer)
    }

    /// Returns a header, empty when there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns a text member of the body, empty when there is none.
    pub(crate) fn member(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_default().to_owned()
    }

    /// Checks a problem: status, outcome, shape, and that it repeats nothing of `sent`.
    pub(crate) fn assert_problem(&self, status: u16, outcome: &str, sent: &str) {
        assert_eq!(self.status, status, "{sent}: {self:?}");
        assert_eq!(self.header("content-type"), "application/problem+json", "{sent}");
        let body = self.json();
        assert_eq!(body["outcome"], outcome, "{sent}: {body}");
        assert_eq!(body["status"], status, "{sent}: {body}");
        assert_eq!(body["type"], format!("urn:svc:problem:{outcome}"), "{sent}: {body}");
        assert!(body["title"].is_string(), "{sent}: {body}");
        let known = ["type", "title", "status", "outcome", "detail", "replayClass", "report"];
        for name in body.as_object().unwrap().keys() {
            assert!(known.contains(&name.as_str()), "{sent}: {body}");
        }
    }
}
