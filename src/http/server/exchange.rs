//! One exchange over TCP: what hyper read becomes our request, our answer becomes hyper's.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, HOST, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use tokio::time::timeout;

use super::bodies::{Bodies, Share};
use super::peers::{Peers, Place, subscriber};
use super::pool::Pool;
use crate::http::message::{Admitted, Body, Head, Refusal, Response, Service, Surface};

/// An answer up to this size is sent whatever else is held; sockets take as much.
const SMALL: usize = 64 << 10;

/// Answers the requests of a door, one after another on each connection. Each door has its own, so that
/// strangers at one take neither threads nor memory from another.
pub(super) struct Exchange {
    pub(super) surface: Surface,
    pub(super) service: Arc<dyn Service>,
    pub(super) pool: Pool,
    pub(super) peers: Arc<Peers>,
    pub(super) body_timeout: Duration,
    pub(super) handler_timeout: Duration,
    pub(super) bodies: Arc<Bodies>,
}

/// A whole request, and what it holds until it is answered: its bytes, and its client's place.
struct Held {
    admitted: Admitted,
    body: Vec<u8>,
    client: Option<IpAddr>,
    bytes: Share,
    _place: Option<Place>,
}

/// The body of an answer, and its share of what the door holds until the peer has taken it.
struct Charged {
    body: Vec<u8>,
    _bytes: Share,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Exchange {
    /// Returns the answer to a request that came from `peer`.
    pub(super) async fn answer(
        &self,
        peer: IpAddr,
        request: http::Request<Incoming>,
    ) -> http::Response<Full<Bytes>> {
        match self.read(peer, request).await {
            Ok(held) => {
                let response = self.handle(held.admitted, held.body).await;
                drop(held.bytes);
                self.send(response, held.client)
            }
            Err(refusal) => {
                let mut response = into_hyper(*refusal);
                // The body was not read to its end, so nothing after it can be trusted.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                response
            }
        }
    }

    async fn read(
        &self,
        peer: IpAddr,
        request: http::Request<Incoming>,
    ) -> Result<Held, Box<Response>> {
        let (parts, body) = request.into_parts();
        let client = self.peers.client(peer, &parts.headers);
        let head =
            head(self.surface, client, parts).ok_or_else(|| self.refuse(Refusal::BadRequest))?;
        // A direct peer is counted by its connections.
        let place = if client == peer {
            None
        } else {
            let place = self.peers.take(client);
            Some(place.ok_or_else(|| self.refuse(Refusal::Overloaded))?)
        };
        let client = self.peers.charged(client);
        let admitted = self.service.admit(head)?;
        // Without a transfer encoding the length is declared, and hyper reads no more than that.
        let length = usize::try_from(body.size_hint().lower());
        if !length.is_ok_and(|length| length <= admitted.body_max()) {
            return Err(self.refuse(Refusal::PayloadTooLarge));
        }
        match timeout(self.body_timeout, self.collect(body, client)).await {
            Ok(Ok((body, bytes))) => Ok(Held { admitted, body, client, bytes, _place: place }),
            Ok(Err(refusal)) => Err(self.refuse(refusal)),
            Err(_elapsed) => Err(self.refuse(Refusal::Timeout)),
        }
    }

    /// Reads a body as it comes. What counts is what has arrived, not what was declared, so that a peer
    /// pays for what it holds.
    async fn collect(
        &self,
        mut body: Incoming,
        client: Option<IpAddr>,
    ) -> Result<(Vec<u8>, Share), Refusal> {
        let (mut whole, mut held) = (Vec::new(), self.bodies.share(client));
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| Refusal::BadRequest)?.into_data() else { continue };
            if !held.grow(data.len()) {
                return Err(Refusal::Overloaded);
            }
            whole.extend_from_slice(&data);
        }
        Ok((whole, held))
    }

    async fn handle(&self, admitted: Admitted, body: Vec<u8>) -> Response {
        let Some(answer) = self.pool.submit(admitted, body) else {
            return self.service.refuse(Refusal::Overloaded);
        };
        match timeout(self.handler_timeout, answer).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => self.service.refuse(Refusal::Internal),
            Err(_elapsed) => self.service.refuse(Refusal::Overloaded),
        }
    }

    /// Returns the answer for hyper. A large one is held until the peer has taken it, however slowly, and
    /// is refused when there is no room for it.
    fn send(&self, response: Response, client: Option<IpAddr>) -> http::Response<Full<Bytes>> {
        let Response { status, headers, body: Body::Whole(body) } = response;
        if body.len() <= SMALL {
            return with_body(status, headers, body.into());
        }
        let mut bytes = self.bodies.share(client);
        if !bytes.grow(body.len()) {
            return into_hyper(self.service.refuse(Refusal::Overloaded));
        }
        with_body(status, headers, Bytes::from_owner(Charged { body, _bytes: bytes }))
    }

    fn refuse(&self, refusal: Refusal) -> Box<Response> {
        Box::new(self.service.refuse(refusal))
    }
}

/// Returns the head, or nothing unless it is in origin form with one host and no transfer encoding.
/// hyper hides a `Content-Length` that stands beside a `Transfer-Encoding`, the shape of smuggled
/// requests; so every transfer encoding is refused. Our callers all know their body's length.
fn head(surface: Surface, client: IpAddr, parts: Parts) -> Option<Head> {
    let Parts { method, uri, headers, .. } = parts;
    let origin_form = uri.authority().is_none() && uri.path().starts_with('/');
    let one_host = headers.get_all(HOST).iter().count() == 1;
    (origin_form && one_host && !headers.contains_key(TRANSFER_ENCODING)).then(|| Head {
        surface,
        method,
        path: uri.path().to_owned(),
        query: uri.query().map(str::to_owned),
        headers,
        peer: Some(subscriber(client)),
    })
}

fn into_hyper(response: Response) -> http::Response<Full<Bytes>> {
    let Response { status, headers, body: Body::Whole(body) } = response;
    with_body(status, headers, body.into())
}

fn with_body(status: StatusCode, headers: HeaderMap, body: Bytes) -> http::Response<Full<Bytes>> {
    let mut answer = http::Response::new(Full::new(body));
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}
