//! The server for TCP: hyper on one thread, handlers on a few others. Nothing a peer does, or fails
//! to do, costs more than its own connection, and that only until the next deadline.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http::StatusCode;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::client_limits::{ClientLimits, subscriber};
use super::connection::Connection;
use super::deadline::Deadline;
use super::exchange::Exchange;
use super::limits::TcpLimits;
use super::pending_heads::{PendingHead, PendingHeads};
use super::pool::Pool;
use super::socket::Sockets;
use super::stop::{Stop, Stopping, last_head};
use super::timeout_stream::TimeoutStream;
use crate::http::body_budget::BodyBudget;
use crate::http::message::{Service, Surface};
use crate::runtime::keyed_semaphore::KeyedSemaphore;
use crate::runtime::semaphore;
use crate::runtime::thread;

/// Longest time that sent data may stay unacknowledged, in milliseconds. It ends connections whose peer
/// vanished without closing them; where nothing is sent, the probes of `KEEP_ALIVE` are.
const UNACKNOWLEDGED_MAX: u32 = 30_000;
/// From one probe of a silent connection to the next.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long accepting rests after an error. Most of them (no more descriptors) last a while.
const ACCEPT_REST: Duration = Duration::from_millis(50);
/// One in so many connections is only for peers that hold none (docs/decisions/95-idle-connections.md).
const RESERVED_PART: u16 = 16;

/// An open socket, and how much may come through it.
#[derive(Debug)]
pub struct Listener {
    /// Which surface is served here.
    pub surface: Surface,
    pub socket: TcpListener,
    /// Most connections at once, at most half of them for answers that outlast their handler, and some of them only
    /// for peers that hold none. A further one evicts the connection whose next head has been due for the longest
    /// time; when none is due, the further one is closed.
    pub connections_max: u16,
}

/// A running server. Dropping it ends it without grace.
#[derive(Debug)]
#[must_use = "dropping the server ends it"]
pub struct TcpServer {
    stop: Stop,
    thread: JoinHandle<()>,
    handlers: Vec<semaphore::Semaphore>,
}

/// Starts one server for several listeners, each with limits of its own.
///
/// # Errors
/// When the system gives no thread, or a listener cannot be used.
pub fn start(
    listeners: Vec<Listener>,
    service: &Arc<dyn Service>,
    limits: TcpLimits,
) -> io::Result<TcpServer> {
    // One thread only moves bytes; whatever may block runs on the handlers' threads.
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let (stop, stopping) = Stopping::channel();
    let client_limits =
        ClientLimits::new(limits.connections_per_peer_max, limits.trusted_proxies.clone());
    let server = Arc::new(Server {
        client_limits: Arc::new(client_limits),
        stopping,
        limits: Arc::new(limits),
    });
    let (mut acceptors, mut handlers) = (Vec::new(), Vec::new());
    for listener in listeners {
        // A tokio listener registers with the runtime that is entered while it is made.
        let _entered = runtime.enter();
        let (acceptor, permits) = server.open(listener, service)?;
        handlers.push(permits);
        acceptors.push(acceptor);
    }
    let thread = thread::spawn("http", move || runtime.block_on(run(server, acceptors)))?;
    Ok(TcpServer { stop, thread, handlers })
}

impl TcpServer {
    /// Stops accepting at once, lets running exchanges finish within `grace`, and returns when all
    /// threads have ended. A handler that outlasts the grace is left behind.
    pub fn stop(self, grace: Duration) {
        let deadline = Deadline::after(grace);
        // Unlike `send`, it stores the value even when no receiver is left.
        self.stop.send_replace(Some(grace));
        if self.thread.join().is_err() {
            log::error!(event = "http.server_panicked"; "the HTTP server panicked");
        }
        // The queues have closed with the runtime, which its thread has dropped.
        if !self.handlers.iter().all(|handlers| handlers.wait_free(deadline.left())) {
            log::warn!(event = "http.handlers_left"; "some request handlers did not end in time");
        }
    }
}

/// Accepts the connections of one listener. Each has its own resources: what clients take at one listener is not
/// missing at another.
struct Acceptor {
    listener: tokio::net::TcpListener,
    exchange: Arc<Exchange>,
    connections_max: u16,
    /// A permit for each connection.
    permits: Arc<Semaphore>,
    pending_heads: PendingHeads,
    /// The connections of each peer, trusted proxies too.
    peers: KeyedSemaphore<IpAddr>,
}

/// What all connections share.
struct Server {
    client_limits: Arc<ClientLimits>,
    stopping: Stopping,
    limits: Arc<TcpLimits>,
}

impl Server {
    /// Opens a listener; its handlers have ended once the returned semaphore is free.
    fn open(
        &self,
        listener: Listener,
        service: &Arc<dyn Service>,
    ) -> io::Result<(Acceptor, semaphore::Semaphore)> {
        let Listener { surface, socket, connections_max } = listener;
        // `from_std` does not do this, and a blocking socket would stop the whole runtime.
        socket.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(socket)?;
        let limits = Arc::clone(&self.limits);
        let (pool, handlers) = Pool::start(limits.handler_threads, limits.queue_max)?;
        let (pool, stopping) = (Arc::new(pool), self.stopping.clone());
        let sockets = Arc::new(Sockets {
            surface,
            pool: Arc::clone(&pool),
            receiving: Arc::new(Semaphore::new(limits.messages_max)),
            budget: Arc::new(BodyBudget::new(
                limits.long_lived_bytes_max,
                limits.long_lived_bytes_per_client_max,
            )),
            limits: Arc::clone(&limits),
            stopping: stopping.clone(),
        });
        let body_budget = BodyBudget::new(limits.body_bytes_max, limits.body_bytes_per_client_max);
        let exchange = Arc::new(Exchange {
            surface,
            service: Arc::clone(service),
            pool,
            sockets,
            client_limits: Arc::clone(&self.client_limits),
            limits,
            body_budget: Arc::new(body_budget),
            // The other half remains for ordinary requests (docs/decisions/36-long-lived-answers.md).
            long_lived: Arc::new(Semaphore::new(usize::from(connections_max / 2))),
            stopping,
        });
        let permits = Arc::new(Semaphore::new(connections_max.into()));
        let (pending_heads, peers) = (PendingHeads::default(), KeyedSemaphore::default());
        let acceptor =
            Acceptor { listener, exchange, connections_max, permits, pending_heads, peers };
        Ok((acceptor, handlers))
    }
}

async fn run(server: Arc<Server>, acceptors: Vec<Acceptor>) {
    let acceptors: Vec<_> = acceptors
        .into_iter()
        .map(|acceptor| {
            let (permits, all) = (Arc::clone(&acceptor.permits), acceptor.connections_max);
            (tokio::spawn(accept_loop(Arc::clone(&server), acceptor)), permits, all)
        })
        .collect();
    let grace = server.stopping.wait().await;
    // Every connection holds one permit to its end. What is left when the grace is over ends with
    // the runtime.
    let all_left = async {
        for (accepting, permits, all) in acceptors {
            // First, because a connection that is still accepted would find no permit, and evict another one.
            drop(accepting.await);
            // Only waits: the permits are given back at once.
            drop(permits.acquire_many(all.into()).await);
        }
    };
    drop(timeout(grace, all_left).await);
}

async fn accept_loop(server: Arc<Server>, acceptor: Acceptor) {
    loop {
        let accepted = tokio::select! {
            accepted = acceptor.listener.accept() => accepted,
            _ = server.stopping.wait() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                // A listener for both versions sees an IPv4 peer as ::ffff:a.b.c.d, which no limit knows.
                accept(&server, &acceptor, stream, peer.ip().to_canonical());
                // An evicted connection closes before the next one is accepted.
                yield_now().await;
            }
            Err(error) => {
                log::warn!(
                    event = "http.accept_failed", surface = acceptor.exchange.surface.as_str(), error:% = error;
                    "accepting a connection failed"
                );
                sleep(ACCEPT_REST).await;
            }
        }
    }
}

impl Acceptor {
    /// Takes a permit for a connection of a peer, unless those that are left are for other peers.
    fn permit(&self, peer: &IpAddr) -> Option<OwnedSemaphorePermit> {
        let reserved =
            if self.peers.holds(peer) { self.connections_max / RESERVED_PART } else { 0 };
        if self.permits.available_permits() <= reserved.into() {
            return None;
        }
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }
}

/// Serves a connection in a task of its own. When there are too many, one whose next head is due is evicted, or
/// this one is closed.
fn accept(server: &Arc<Server>, acceptor: &Acceptor, stream: TcpStream, peer: IpAddr) {
    // Before the permit, so that a client at its own limit evicts no connection of another one.
    let Some(client_slot) = server.client_limits.take(peer) else { return };
    let subscriber = subscriber(peer);
    let permit = acceptor.permit(&subscriber);
    // With no head due, every connection has a request under way, and none of these is closed for a new peer.
    if permit.is_none() && !acceptor.pending_heads.evict_oldest() {
        return;
    }
    if prepare(&stream).is_err() {
        return; // The peer has already gone.
    }
    let Some(place) = acceptor.peers.take(subscriber, usize::MAX) else { return };
    let (server, exchange) = (Arc::clone(server), Arc::clone(&acceptor.exchange));
    let permits = Arc::clone(&acceptor.permits);
    // Here and not in the task, so that connections are numbered in the order in which they were accepted.
    let pending_head = Arc::new(acceptor.pending_heads.register());
    tokio::spawn(async move {
        let serving = async {
            let permit = match permit {
                Some(permit) => Ok(permit),
                // The evicted one closes first.
                None => permits.acquire_owned().await,
            };
            // The semaphore is never closed.
            let Ok(permit) = permit else { return };
            let connection = Connection::new(peer, client_slot, place, permit);
            serve_connection(&server, &exchange, stream, connection, &pending_head).await;
        };
        // An eviction drops `serving`, which closes the connection without an answer: none is under way.
        tokio::select! {
            // In this order: a head that has just come is no reason to close.
            biased;
            () = serving => {}
            () = pending_head.evicted() => {}
        }
    });
}

/// Has what is written sent at once, and a connection ended whose peer has vanished.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    // Nagle's algorithm would hold back an event until the one before it is acknowledged.
    stream.set_nodelay(true)?;
    // With the kernel's defaults a peer that vanished is noticed after two hours.
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEP_ALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEP_ALIVE)?;
    // It also replaces the number of unanswered probes (tcp(7)), so that is not set.
    Ok(sockopt::set_tcp_user_timeout(stream, UNACKNOWLEDGED_MAX)?)
}

async fn serve_connection(
    server: &Server,
    exchange: &Exchange,
    stream: TcpStream,
    connection: Connection,
    pending_head: &Arc<PendingHead>,
) {
    let limits = &server.limits;
    let connection = Arc::new(connection);
    let heads =
        (connection.phase.clone(), Arc::clone(pending_head), Arc::clone(&connection.targets));
    let timeout_stream = TimeoutStream::new(stream, heads, limits.head_timeout, limits.write_stall);
    let service = service_fn(|request| {
        // hyper calls the service once the whole head was read.
        pending_head.not_due();
        let (connection, responding) = (&connection, connection.phase.begin_response());
        async move { Ok::<_, Infallible>(exchange.answer(connection, responding, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        // hyper counts this from the end of the last answer, so it bounds idle time; `TimeoutStream` bounds a head.
        .header_read_timeout(limits.idle)
        .max_headers(limits.headers_max)
        .max_buf_size(limits.head_bytes_max)
        .serve_connection(TokioIo::new(timeout_stream), service)
        .with_upgrades();
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        // In this order: an answer that is made as the stop begins tells its peer that the connection ends.
        biased;
        _ = server.stopping.wait() => {
            if !last_head(served.as_mut(), pending_head, limits).await {
                return;
            }
            served.as_mut().graceful_shutdown();
            served.await
        }
        ended = served.as_mut() => ended,
    };
    // Whatever ended it was the peer's doing. A line each would let strangers fill the log.
    if let Err(error) = ended
        && error.is_parse()
    {
        // hyper has answered by itself.
        let is_long = error.is_parse_too_large();
        let long = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let status = if is_long { long } else { StatusCode::BAD_REQUEST };
        exchange.service.answered(exchange.surface, status);
    }
}
