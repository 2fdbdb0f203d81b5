//! The server for TCP: hyper on one thread, handlers on a few others. Nothing a peer does, or fails
//! to do, costs more than its own connection, and that only until the next deadline.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::connection::Connection;
use super::deadline::Deadline;
use super::exchange::Exchange;
use super::limits::TcpLimits;
use super::newcomers::{Newcomer, Newcomers};
use super::peers::Peers;
use super::pool::Pool;
use super::socket::Sockets;
use super::stall::Stall;
use super::stop::{Stop, Stopping};
use crate::http::body_budget::BodyBudget;
use crate::http::message::{Service, Surface};
use crate::runtime::semaphore;
use crate::runtime::thread;

/// Longest time that sent data may stay unacknowledged, in milliseconds. It ends connections whose peer
/// vanished without closing them; where nothing is sent, the probes of `KEEP_ALIVE` are.
const UNACKNOWLEDGED_MAX: u32 = 30_000;
/// From one probe of a silent connection to the next.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long accepting rests after an error. Most of them (no more descriptors) last a while.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// An open socket, and how much may come through it.
#[derive(Debug)]
pub struct Listener {
    /// Who meets us here.
    pub surface: Surface,
    /// The socket.
    pub socket: TcpListener,
    /// Most connections at once, at most half of them for answers that outlast their handler. For a further one
    /// the connection goes that has owed its first head for the longest time; when none owes it, the
    /// further one is closed.
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

/// Starts one server for several listeners, each a door of its own.
///
/// # Errors
/// When the system gives no thread, or a listener cannot be used.
pub fn start(
    listeners: Vec<Listener>,
    service: &Arc<dyn Service>,
    limits: TcpLimits,
) -> io::Result<TcpServer> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let (stop, stopping) = Stopping::channel();
    let peers = Peers::new(limits.connections_per_peer_max, limits.trusted_proxies.clone());
    let hall = Arc::new(Hall { peers: Arc::new(peers), stopping, limits: Arc::new(limits) });
    let (mut doors, mut handlers) = (Vec::new(), Vec::new());
    for listener in listeners {
        let _entered = runtime.enter();
        let (door, permits) = hall.open(listener, service)?;
        handlers.push(permits);
        doors.push(door);
    }
    let thread = thread::spawn("http", move || runtime.block_on(run(hall, doors)))?;
    Ok(TcpServer { stop, thread, handlers })
}

impl TcpServer {
    /// Stops accepting at once, lets running exchanges finish within `grace`, and returns when all
    /// threads have ended. A handler that outlasts the grace is left behind.
    pub fn stop(self, grace: Duration) {
        let deadline = Deadline::after(grace);
        self.stop.send_replace(Some(grace));
        if self.thread.join().is_err() {
            log::error!(event = "http.server_panicked"; "the HTTP server panicked");
        }
        if !self.handlers.iter().all(|handlers| handlers.wait_free(deadline.left())) {
            log::warn!(event = "http.handlers_left"; "leaving handlers behind that do not end");
        }
    }
}

/// A listener, and what faces it: a stranger who uses up one door takes nothing from another.
struct Door {
    listener: tokio::net::TcpListener,
    exchange: Arc<Exchange>,
    connections_max: u16,
    /// A permit for each connection.
    places: Arc<Semaphore>,
    newcomers: Newcomers,
}

/// What all connections share.
struct Hall {
    peers: Arc<Peers>,
    stopping: Stopping,
    limits: Arc<TcpLimits>,
}

impl Hall {
    /// Opens a door; its handlers have ended once the permits are free.
    fn open(
        &self,
        listener: Listener,
        service: &Arc<dyn Service>,
    ) -> io::Result<(Door, semaphore::Semaphore)> {
        let Listener { surface, socket, connections_max } = listener;
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
        let bodies = BodyBudget::new(limits.body_bytes_max, limits.body_bytes_per_client_max);
        let exchange = Arc::new(Exchange {
            surface,
            service: Arc::clone(service),
            pool,
            sockets,
            peers: Arc::clone(&self.peers),
            limits,
            bodies: Arc::new(bodies),
            long_lived: Arc::new(Semaphore::new(usize::from(connections_max / 2))),
            stopping,
        });
        let places = Arc::new(Semaphore::new(connections_max.into()));
        let newcomers = Newcomers::default();
        Ok((Door { listener, exchange, connections_max, places, newcomers }, handlers))
    }
}

async fn run(hall: Arc<Hall>, doors: Vec<Door>) {
    let doors: Vec<_> = doors
        .into_iter()
        .map(|door| {
            let places = (Arc::clone(&door.places), door.connections_max);
            tokio::spawn(accept(Arc::clone(&hall), door));
            places
        })
        .collect();
    let grace = hall.stopping.wait().await;
    // Every connection holds one permit to its end. What is left when the grace is over ends with
    // the runtime.
    let all_left = async {
        for (places, all) in &doors {
            drop(places.acquire_many((*all).into()).await);
        }
    };
    drop(timeout(grace, all_left).await);
}

async fn accept(hall: Arc<Hall>, door: Door) {
    loop {
        let accepted = tokio::select! {
            accepted = door.listener.accept() => accepted,
            _ = hall.stopping.wait() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                welcome(&hall, &door, stream, peer.ip().to_canonical());
                // The connection that makes room closes before the next one is let in.
                yield_now().await;
            }
            Err(error) => {
                log::warn!(
                    event = "http.accept_failed", surface = door.exchange.surface.as_str(), error:% = error;
                    "accepting a connection failed"
                );
                sleep(ACCEPT_REST).await;
            }
        }
    }
}

/// Serves a connection in a task of its own. When there are too many, another that has not yet said
/// what it wants makes room, or this one is closed.
fn welcome(hall: &Arc<Hall>, door: &Door, stream: TcpStream, peer: IpAddr) {
    let Some(place) = hall.peers.take(peer) else { return };
    let permit = Arc::clone(&door.places).try_acquire_owned().ok();
    if permit.is_none() && !door.newcomers.send_one_away() {
        return;
    }
    if prepare(&stream).is_err() {
        return; // The peer has already gone.
    }
    let (hall, exchange) = (Arc::clone(hall), Arc::clone(&door.exchange));
    let places = Arc::clone(&door.places);
    let (newcomer, notice) = door.newcomers.enter();
    tokio::spawn(async move {
        let conversation = async {
            let permit = match permit {
                Some(permit) => Ok(permit),
                // The one that makes room closes first.
                None => places.acquire_owned().await,
            };
            // The semaphore is never closed.
            let Ok(permit) = permit else { return };
            let connection = Connection::new(peer, place, permit);
            converse(&hall, &exchange, stream, connection, &newcomer).await;
        };
        tokio::select! {
            () = conversation => {}
            () = notice.comes() => {}
        }
    });
}

/// Has what is written sent at once, and a connection ended whose peer has vanished.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEP_ALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEP_ALIVE)?;
    Ok(sockopt::set_tcp_user_timeout(stream, UNACKNOWLEDGED_MAX)?)
}

async fn converse(
    hall: &Hall,
    exchange: &Exchange,
    stream: TcpStream,
    connection: Connection,
    newcomer: &Newcomer,
) {
    let limits = &hall.limits;
    let connection = Arc::new(connection);
    let turns = connection.turns.clone();
    let stall = Stall::new(stream, turns, limits.head_timeout, limits.write_stall);
    let service = service_fn(|request| {
        newcomer.settle();
        let (connection, turn) = (&connection, connection.turns.take());
        async move { Ok::<_, Infallible>(exchange.answer(connection, turn, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_headers(limits.headers_max)
        .max_buf_size(limits.head_bytes_max)
        .serve_connection(TokioIo::new(stall), service)
        .with_upgrades();
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        // In this order: an answer that is made as the stop begins tells its peer that the connection ends.
        biased;
        _ = hall.stopping.wait() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
        ended = served.as_mut() => ended,
    };
    // Whatever ended it was the peer's doing. A line each would let strangers fill the log.
    drop(ended);
}
