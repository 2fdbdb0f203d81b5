//! One exchange over TCP: what hyper read becomes our request, our answer becomes hyper's.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, HOST, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::peers::{Peers, Place};
use super::pool::Pool;
use crate::http::message::{Head, Refusal, Request, Response, Service, Surface};

/// Answers requests, one after another on each connection.
pub(super) struct Exchange {
    pub(super) service: Arc<dyn Service>,
    pub(super) pool: Pool,
    pub(super) peers: Arc<Peers>,
    pub(super) body_timeout: Duration,
    pub(super) handler_timeout: Duration,
    /// A permit for each byte of body that all connections together may hold.
    pub(super) body_bytes: Arc<Semaphore>,
}

/// A whole request, and what it holds until it is answered: its bytes, and its client's place.
struct Held {
    request: Request,
    _bytes: Option<OwnedSemaphorePermit>,
    _place: Option<Place>,
}

impl Exchange {
    /// Returns the answer to a request that came from `peer` through the door `surface`.
    pub(super) async fn answer(
        &self,
        surface: Surface,
        peer: IpAddr,
        request: http::Request<Incoming>,
    ) -> http::Response<Full<Bytes>> {
        match self.read(surface, peer, request).await {
            Ok(held) => into_hyper(self.handle(held.request).await),
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
        surface: Surface,
        peer: IpAddr,
        request: http::Request<Incoming>,
    ) -> Result<Held, Box<Response>> {
        let (parts, body) = request.into_parts();
        let client = self.peers.client(peer, &parts.headers);
        let head = head(surface, client, parts).ok_or_else(|| self.refuse(Refusal::BadRequest))?;
        // A direct peer is counted by its connections.
        let place = if client == peer {
            None
        } else {
            let place = self.peers.take(client);
            Some(place.ok_or_else(|| self.refuse(Refusal::Overloaded))?)
        };
        let limit = self.service.admit(&head)?;
        // Without a transfer encoding the length is declared, and hyper reads no more than that.
        let length = usize::try_from(body.size_hint().lower());
        if !length.is_ok_and(|length| length <= limit) {
            return Err(self.refuse(Refusal::PayloadTooLarge));
        }
        match timeout(self.body_timeout, self.collect(body)).await {
            Ok(Ok((body, bytes))) => {
                Ok(Held { request: Request { head, body }, _bytes: bytes, _place: place })
            }
            Ok(Err(refusal)) => Err(self.refuse(refusal)),
            Err(_elapsed) => Err(self.refuse(Refusal::Timeout)),
        }
    }

    /// Reads a body as it comes. What counts against all bodies together is what has arrived, not
    /// what was declared, so that a peer pays for what it holds.
    async fn collect(
        &self,
        mut body: Incoming,
    ) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), Refusal> {
        let (mut whole, mut held) = (Vec::new(), None::<OwnedSemaphorePermit>);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.or(Err(Refusal::BadRequest))?.into_data() else { continue };
            let count = u32::try_from(data.len()).or(Err(Refusal::PayloadTooLarge))?;
            let bytes = Arc::clone(&self.body_bytes).try_acquire_many_owned(count);
            let bytes = bytes.or(Err(Refusal::Overloaded))?;
            match &mut held {
                Some(held) => held.merge(bytes),
                None => held = Some(bytes),
            }
            whole.extend_from_slice(&data);
        }
        Ok((whole, held))
    }

    async fn handle(&self, request: Request) -> Response {
        let Some(answer) = self.pool.submit(request) else {
            return self.service.refuse(Refusal::Overloaded);
        };
        match timeout(self.handler_timeout, answer).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => self.service.refuse(Refusal::Internal),
            Err(_elapsed) => self.service.refuse(Refusal::Overloaded),
        }
    }

    fn refuse(&self, refusal: Refusal) -> Box<Response> {
        Box::new(self.service.refuse(refusal))
    }
}

/// Returns the head, or nothing unless it is in origin form with one host and no transfer encoding.
/// hyper hides a `Content-Length` that stands beside a `Transfer-Encoding`, the shape of smuggled
/// requests; so every transfer encoding is refused. Our callers all know their body's length.
fn head(surface: Surface, peer: IpAddr, parts: Parts) -> Option<Head> {
    let Parts { method, uri, headers, .. } = parts;
    let origin_form = uri.authority().is_none() && uri.path().starts_with('/');
    let one_host = headers.get_all(HOST).iter().count() == 1;
    (origin_form && one_host && !headers.contains_key(TRANSFER_ENCODING)).then(|| Head {
        surface,
        method,
        path: uri.path().to_owned(),
        query: uri.query().map(str::to_owned),
        headers,
        peer: Some(peer),
    })
}

fn into_hyper(response: Response) -> http::Response<Full<Bytes>> {
    let mut answer = http::Response::new(Full::from(response.body));
    *answer.status_mut() = response.status;
    *answer.headers_mut() = response.headers;
    answer
}
