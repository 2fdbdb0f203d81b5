//! The opening handshake of a WebSocket (RFC 6455, section 4.2): what a request must say, and the answer.

use std::fmt;

use http::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, Method, StatusCode};

use crate::crypto::sha1::web_socket_accept;
use crate::http::long_lived::{LongLived, WebSocket};
use crate::http::message::{Body, Head, Refusal, Request, Response};

/// The characters of a key: 16 bytes in base64.
const KEY_CHARACTERS: usize = 24;

/// A request that may become a WebSocket: the headers of its answer.
pub struct Handshake(HeaderMap);

/// Shown without headers.
impl fmt::Debug for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a WebSocket's handshake")
    }
}

impl Handshake {
    /// Reads a request, which must offer `protocol` if there is one. Extensions it offers are not taken:
    /// a compressed message is far longer than what it costs to send.
    ///
    /// # Errors
    /// How to refuse it.
    pub fn read(request: &Request, protocol: Option<&str>) -> Result<Self, Refusal> {
        let head = &request.head;
        let is_upgrade = head.method == Method::GET
            && request.long_lived.as_ref().is_some_and(LongLived::can_upgrade)
            && has_token(head, &UPGRADE, "websocket")
            && has_token(head, &CONNECTION, "upgrade");
        if !is_upgrade || head.single(&SEC_WEBSOCKET_VERSION) != Some("13") {
            return Err(Refusal::UpgradeRequired);
        }
        let key = head.single(&SEC_WEBSOCKET_KEY).ok_or(Refusal::BadRequest)?;
        // 16 bytes in base64 are 22 characters and two of padding.
        let is_key = key.len() == KEY_CHARACTERS && key.ends_with("==");
        // RFC 6455, section 4.1: a browser fails the connection if the answer names a protocol that it did not offer.
        if !is_key || !protocol.is_none_or(|it| has_token(head, &SEC_WEBSOCKET_PROTOCOL, it)) {
            return Err(Refusal::BadRequest);
        }
        let accept = HeaderValue::try_from(web_socket_accept(key));
        let mut headers = HeaderMap::from_iter([
            (UPGRADE, HeaderValue::from_static("websocket")),
            (CONNECTION, HeaderValue::from_static("upgrade")),
            (SEC_WEBSOCKET_ACCEPT, accept.map_err(|_| Refusal::Internal)?),
        ]);
        if let Some(protocol) = protocol {
            let protocol = HeaderValue::from_str(protocol).map_err(|_| Refusal::Internal)?;
            headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        Ok(Self(headers))
    }

    /// Returns the answer, after which the connection is a WebSocket.
    #[must_use]
    pub fn accept(self, socket: WebSocket) -> Response {
        let status = StatusCode::SWITCHING_PROTOCOLS;
        Response { status, headers: self.0, body: Body::WebSocket(socket) }
    }
}

/// Returns the protocols that a request offers, in its order.
pub(in crate::http) fn offered(head: &Head) -> impl Iterator<Item = &str> {
    tokens(head, &SEC_WEBSOCKET_PROTOCOL)
}

/// Says whether a header that is a list has a token in any letter case.
fn has_token(head: &Head, name: &HeaderName, token: &str) -> bool {
    tokens(head, name).any(|word| word.eq_ignore_ascii_case(token))
}

/// Returns the tokens of a header that is a list, in any number of lines.
fn tokens<'a>(head: &'a Head, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lines = head.headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Semaphore;

    use super::*;
    use crate::http::body_budget::BodyBudget;
    use crate::http::message::Surface;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    fn read(lines: &[(&'static str, &str)]) -> Result<HeaderMap, Refusal> {
        read_as(Method::GET, true, lines)
    }

    fn read_as(
        method: Method,
        can_upgrade: bool,
        lines: &[(&'static str, &str)],
    ) -> Result<HeaderMap, Refusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let (surface, path) = (Surface::Public, "/".to_owned());
        let head = Head { surface, method, path, query: None, headers, peer: None };
        let (budget, permits) = (Arc::new(BodyBudget::new(1, 1)), Arc::new(Semaphore::new(1)));
        let long_lived = Some(LongLived::new(budget, None, permits, can_upgrade));
        let request = Request { head, body: Vec::new(), long_lived };
        Handshake::read(&request, Some("svc.test.v1")).map(|it| it.0)
    }

    #[test]
    fn takes_what_the_standard_says_and_refuses_the_rest() {
        let good = [
            ("upgrade", "WebSocket"),
            ("connection", "keep-alive, Upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", KEY),
            ("sec-websocket-protocol", "other, svc.test.v1"),
            ("sec-websocket-extensions", "permessage-deflate"),
        ];
        let headers = read(&good).unwrap();
        // The example of the standard.
        assert_eq!(headers.get(SEC_WEBSOCKET_ACCEPT).unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(headers.get(SEC_WEBSOCKET_PROTOCOL).unwrap(), "svc.test.v1");
        assert_eq!(headers.len(), 4, "no extension is taken: {headers:?}");
        let refused = Err(Refusal::UpgradeRequired);
        assert_eq!(read_as(Method::HEAD, true, &good), refused);
        assert_eq!(read_as(Method::GET, false, &good), refused, "HTTP/1.0");
        for (name, value, refusal) in [
            ("upgrade", "h2c", Refusal::UpgradeRequired),
            ("connection", "close", Refusal::UpgradeRequired),
            ("sec-websocket-version", "8", Refusal::UpgradeRequired),
            ("sec-websocket-key", "dGhlIHNhbXBsZQ==", Refusal::BadRequest),
            ("sec-websocket-protocol", "svc.test.v2", Refusal::BadRequest),
        ] {
            let mut lines = good;
            lines.iter_mut().filter(|line| line.0 == name).for_each(|line| line.1 = value);
            assert_eq!(read(&lines), Err(refusal), "{name}: {value}");
            let without: Vec<_> = good.into_iter().filter(|line| line.0 != name).collect();
            assert_eq!(read(&without), Err(refusal), "no {name}");
            if name == "sec-websocket-key" {
                let twice: Vec<_> = good.into_iter().chain([(name, KEY)]).collect();
                assert_eq!(read(&twice), Err(refusal), "{name} twice");
            }
        }
    }
}
