//! One exchange over TCP: what hyper read becomes our request, our answer becomes hyper's.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{CONNECTION, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::answer_body::{AnswerBody, EventBody};
use super::client_limits::{ClientLimits, ClientSlot, subscriber};
use super::connection::Connection;
use super::contained;
use super::limits::TcpLimits;
use super::pool::Pool;
use super::socket::Sockets;
use super::stop::Stopping;
use super::timeout_stream::Responding;
use crate::http::body_budget::{BodyBudget, Reservation, SMALL};
use crate::http::host;
use crate::http::long_lived::{Late, LongLived};
use crate::http::message::{
    Admitted, Answer, Body, Head, Refusal, Response, Service, Surface, WayOut, Work,
};

/// Answers the requests of a listener, one after another on each connection. Each listener has its own, so that
/// the clients of one take neither threads nor memory from another.
pub(super) struct Exchange {
    pub(super) surface: Surface,
    pub(super) service: Arc<dyn Service>,
    pub(super) pool: Arc<Pool>,
    pub(super) sockets: Arc<Sockets>,
    pub(super) client_limits: Arc<ClientLimits>,
    pub(super) limits: Arc<TcpLimits>,
    pub(super) body_budget: Arc<BodyBudget>,
    /// A permit for each answer that outlasts its handler.
    pub(super) long_lived: Arc<Semaphore>,
    pub(super) stopping: Stopping,
}

/// A whole request, and what it holds until it is answered: its bytes, and its client's slot.
struct PendingRequest {
    admitted: Admitted,
    way_out: Option<Arc<dyn WayOut>>,
    body: Vec<u8>,
    client: Option<IpAddr>,
    bytes: Reservation,
    client_slot: Option<ClientSlot>,
}

impl Exchange {
    /// Returns the answer to a request that came through `connection`. The phase of responding lasts until
    /// the answer is ready; until its end when it is a stream.
    pub(super) async fn answer(
        &self,
        connection: &Arc<Connection>,
        responding: Responding,
        request: http::Request<Incoming>,
    ) -> http::Response<AnswerBody> {
        let response = self.respond(connection, responding, request).await;
        self.service.answered(self.surface, response.status());
        response
    }

    async fn respond(
        &self,
        connection: &Arc<Connection>,
        responding: Responding,
        mut request: http::Request<Incoming>,
    ) -> http::Response<AnswerBody> {
        // There if the request offers another protocol. Taken out first, so that every way out below can end it.
        let upgrade = request.extensions_mut().remove::<OnUpgrade>();
        let held = match self.read(connection, request).await {
            Ok(held) => held,
            Err(refusal) => {
                end_upgrade(upgrade, connection);
                let mut response = into_hyper(*refusal);
                // The body was not read to its end, so nothing after it can be trusted.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                return response;
            }
        };
        let (client, client_slot) = (held.client, held.client_slot);
        let long_lived = LongLived::new(
            Arc::clone(&self.sockets.budget),
            client,
            Arc::clone(&self.long_lived),
            upgrade.is_some(),
        );
        // The body is charged as long as the handler has it, and not while a slow peer takes the answer.
        let answer = self.handle(held.admitted, (held.body, held.bytes), long_lived).await;
        let response = match answer {
            Ok(Answer::Ready(response)) => Ok(response),
            Ok(Answer::Late(late)) => self.wait(late).await,
            Err(refusal) => Err(refusal),
        };
        let response = response.unwrap_or_else(|it| self.refuse(it, held.way_out.as_deref()));
        // Refusals too: a way out finishes every answer.
        let response = match &held.way_out {
            Some(way_out) => way_out.finish(response),
            None => response,
        };
        let Response { status, mut headers, body } = response;
        if self.stopping.has_begun() && !matches!(body, Body::WebSocket(_)) {
            // hyper says so by itself only if it was told of the stop before.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        match (body, upgrade) {
            (Body::WebSocket(socket), Some(upgrade)) => {
                connection.targets.end();
                // hyper lets go of the connection after 101, so the socket's task keeps what it holds.
                let held = (Arc::clone(connection), client_slot, responding);
                Arc::clone(&self.sockets).serve(upgrade, socket, client, held);
                with_body(status, headers, AnswerBody::whole(""))
            }
            (Body::WebSocket(socket), None) => {
                // A session may call the store when it is dropped, so a handler's thread does that.
                self.sockets.discard(socket.session).await;
                into_hyper(self.refuse(Refusal::UpgradeRequired, held.way_out.as_deref()))
            }
            (Body::Events(events), upgrade) => {
                end_upgrade(upgrade, connection);
                let (keep_alive, stopped) = (self.limits.keep_alive, self.stopping.stopped());
                let events = EventBody::new(events, keep_alive, stopped, (client_slot, responding));
                with_body(status, headers, AnswerBody::events(events))
            }
            (Body::Whole(body), upgrade) => {
                end_upgrade(upgrade, connection);
                self.send(status, headers, body, client).unwrap_or_else(|refusal| {
                    into_hyper(self.refuse(refusal, held.way_out.as_deref()))
                })
            }
        }
    }

    async fn read(
        &self,
        connection: &Connection,
        request: http::Request<Incoming>,
    ) -> Result<PendingRequest, Box<Response>> {
        let peer = connection.peer;
        let (parts, body) = request.into_parts();
        // Without a transfer encoding the length is declared, and hyper reads no more than that.
        let length = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        let has_fragment = connection.targets.take_has_fragment(length);
        let client = self.client_limits.client(peer, &parts.headers);
        let refuse = |refusal| Box::new(self.service.refuse(refusal));
        let head = head(self.surface, client, parts).filter(|_| !has_fragment);
        let head = head.ok_or(Refusal::BadRequest).map_err(refuse)?;
        // A direct peer is counted by its connections.
        let client_slot = if client == peer {
            None
        } else {
            Some(self.client_limits.take(client).ok_or(Refusal::Overloaded).map_err(refuse)?)
        };
        let client = self.client_limits.charged(client);
        let has_length = !head.headers.contains_key(TRANSFER_ENCODING);
        let admitted = self.service.admit(head)?;
        let way_out = admitted.way_out();
        // hyper hides a `Content-Length` that stands beside a `Transfer-Encoding`, the shape of smuggled requests; so
        // every transfer encoding is refused. Only here, so that this answer too passes the way out of its route.
        let body = match has_length {
            true => self.read_body((body, length), admitted.body_max(), client).await,
            false => Err(Refusal::LengthRequired),
        };
        let refuse = |refusal| Box::new(self.refuse(refusal, way_out.as_deref()));
        let (body, bytes) = body.map_err(refuse)?;
        Ok(PendingRequest { admitted, way_out, body, client, bytes, client_slot })
    }

    async fn read_body(
        &self,
        (body, length): (Incoming, usize),
        body_max: usize,
        client: Option<IpAddr>,
    ) -> Result<(Vec<u8>, Reservation), Refusal> {
        if length > body_max {
            return Err(Refusal::PayloadTooLarge);
        }
        let held = self.body_budget.reserve_body(client, length);
        tokio::select! {
            // In this order: what is whole is taken, however late it is.
            biased;
            whole = collect(body, held) => whole,
            () = sleep(self.limits.body_timeout) => Err(Refusal::Timeout),
            () = self.stopping.wait_past(self.limits.rest_at_stop) => Err(Refusal::Timeout),
        }
    }

    async fn handle(
        &self,
        admitted: Admitted,
        (body, bytes): (Vec<u8>, Reservation),
        long_lived: LongLived,
    ) -> Result<Answer, Refusal> {
        let surface = self.surface.as_str();
        // A panic would otherwise end the connection without an answer.
        let begun = contained(surface, || admitted.begin(body, Some(long_lived)));
        let (request, work) = begun.ok_or(Refusal::Internal)?;
        let work = match work {
            Work::Done(answer) => return Ok(answer),
            // A handler whose time is over still has the body.
            Work::Blocking(work) => move || {
                let answer = contained(surface, || work(&request));
                drop(bytes);
                answer
            },
        };
        let answer = self.pool.submit(work).ok_or(Refusal::Overloaded)?;
        match timeout(self.limits.handler_timeout, answer).await {
            Ok(answer) => answer.ok().flatten().ok_or(Refusal::Internal),
            // A handler that has begun goes on: what it commits is committed in spite of this 503.
            Err(_elapsed) => Err(Refusal::Overloaded),
        }
    }

    /// Waits until an answer is handed in. No thread waits with it.
    async fn wait(&self, late: Late<Response>) -> Result<Response, Refusal> {
        let Late { answer, permit } = late;
        // Who waits for a person is told at the stop how the call stands, and must hear it.
        let in_time = self.stopping.or_stopped(timeout(self.limits.late_timeout, answer)).await;
        let response = match in_time {
            Some(Ok(answer)) => answer.map_err(|_dropped| Refusal::Internal),
            Some(Err(_)) | None => Err(Refusal::Overloaded),
        };
        drop(permit);
        response
    }

    /// Returns an answer of bytes. Many of them are held until the peer has taken them, however slowly, and
    /// refused when there is no room for them.
    fn send(
        &self,
        status: StatusCode,
        headers: HeaderMap,
        body: Vec<u8>,
        client: Option<IpAddr>,
    ) -> Result<http::Response<AnswerBody>, Refusal> {
        // Sockets take as much, so it is sent whatever else is held.
        if body.len() <= SMALL {
            return Ok(with_body(status, headers, AnswerBody::whole(body)));
        }
        let mut held = self.body_budget.reserve_body(client, body.len());
        if !held.grow(body.len()) {
            return Err(Refusal::Overloaded);
        }
        Ok(with_body(status, headers, AnswerBody::held(body, held)))
    }

    fn refuse(&self, refusal: Refusal, way_out: Option<&dyn WayOut>) -> Response {
        match way_out {
            Some(way_out) => way_out.refuse(refusal),
            None => self.service.refuse(refusal),
        }
    }
}

/// Reads a body as it comes. What counts is what has arrived, not what was declared, so that a peer
/// pays for what it holds.
async fn collect(
    mut body: Incoming,
    mut held: Reservation,
) -> Result<(Vec<u8>, Reservation), Refusal> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        // Only trailers are no data, and a body with a length has none.
        let Ok(data) = frame.map_err(|_| Refusal::BadRequest)?.into_data() else { continue };
        // Reserved before the bytes are copied; hyper's own buffer is bounded by `head_bytes_max`.
        if !held.grow(data.len()) {
            return Err(Refusal::Overloaded);
        }
        whole.extend_from_slice(&data);
    }
    Ok((whole, held))
}

/// Ends a connection as it would have ended by itself. hyper does not do that once a request has asked for
/// another protocol, whatever it was answered.
fn end_upgrade(upgrade: Option<OnUpgrade>, connection: &Arc<Connection>) {
    let Some(upgrade) = upgrade else { return };
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            drop(TokioIo::new(upgraded).shutdown().await);
        }
        drop(connection);
    });
}

/// Returns the head, if its target is in origin form and it names one host.
fn head(surface: Surface, client: IpAddr, parts: Parts) -> Option<Head> {
    let Parts { method, uri, headers, .. } = parts;
    // In absolute form the target names a host as well, and two parts of the service could go by different ones.
    let origin_form = uri.authority().is_none() && uri.path().starts_with('/');
    let (path, query) = (uri.path().to_owned(), uri.query().map(str::to_owned));
    let peer = Some(subscriber(client));
    let head = Head { surface, method, path, query, headers, peer };
    (origin_form && host::is_named(&head)).then_some(head)
}

/// Returns an answer of ours, which is always whole.
fn into_hyper(refusal: Response) -> http::Response<AnswerBody> {
    let Response { status, headers, body } = refusal;
    let bytes = if let Body::Whole(bytes) = body { bytes } else { Vec::new() };
    with_body(status, headers, AnswerBody::whole(bytes))
}

fn with_body(
    status: StatusCode,
    headers: HeaderMap,
    body: AnswerBody,
) -> http::Response<AnswerBody> {
    let mut answer = http::Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}
