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
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::bodies::Bodies;
use super::deadline::Deadline;
use super::exchange::Exchange;
use super::limits::TcpLimits;
use super::newcomers::{Newcomer, Newcomers};
use super::peers::Peers;
use super::pool::Pool;
use super::stall::{Stall, Turns};
use crate::http::message::{Service, Surface};
use crate::runtime::semaphore;
use crate::runtime::thread;

/// How long accepting rests after an error. Most of them (no more descriptors) last a while.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// A running server. Dropping it ends it without grace.
#[derive(Debug)]
#[must_use = "dropping the server ends it"]
pub struct TcpServer {
    stop: watch::Sender<Option<Duration>>,
    thread: JoinHandle<()>,
    handlers: Vec<semaphore::Semaphore>,
}

/// Starts one server for several listeners, each a door of its own.
///
/// # Errors
/// When the system gives no thread, or a listener cannot be used.
pub fn start(
    listeners: Vec<(Surface, TcpListener)>,
    service: Arc<dyn Service>,
    limits: TcpLimits,
) -> io::Result<TcpServer> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let (stop, stopping) = watch::channel(None);
    let peers =
        Arc::new(Peers::new(limits.connections_per_peer_max, limits.trusted_proxies.clone()));
    let (mut doors, mut handlers) = (Vec::new(), Vec::new());
    for (surface, listener) in listeners {
        let (pool, permits) = Pool::start(limits.handler_threads, limits.queue_max, &service)?;
        handlers.push(permits);
        let exchange = Exchange {
            surface,
            service: Arc::clone(&service),
            pool,
            peers: Arc::clone(&peers),
            body_timeout: limits.body_timeout,
            handler_timeout: limits.handler_timeout,
            bodies: Arc::new(Bodies::new(limits.body_bytes_max, limits.body_bytes_per_client_max)),
        };
        let _entered = runtime.enter();
        doors.push(Door::open(listener, exchange, limits.connections_max)?);
    }
    let hall = Arc::new(Hall { peers, stopping, limits });
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

/// A listener, and what faces it: whatever a stranger takes at one door, nobody else misses at another.
struct Door {
    listener: tokio::net::TcpListener,
    exchange: Arc<Exchange>,
    /// A permit for each connection.
    places: Arc<tokio::sync::Semaphore>,
    newcomers: Newcomers,
}

impl Door {
    fn open(listener: TcpListener, exchange: Exchange, places: u16) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (exchange, places) =
            (Arc::new(exchange), Arc::new(tokio::sync::Semaphore::new(places.into())));
        Ok(Self { listener, exchange, places, newcomers: Newcomers::default() })
    }
}

/// What all connections share.
struct Hall {
    peers: Arc<Peers>,
    stopping: watch::Receiver<Option<Duration>>,
    limits: TcpLimits,
}

impl Hall {
    /// Returns once the end is asked for, with the time running exchanges have.
    async fn stopped(&self) -> Duration {
        let mut stopping = self.stopping.clone();
        // An error means that the server was dropped.
        stopping.wait_for(Option::is_some).await.ok().and_then(|grace| *grace).unwrap_or_default()
    }
}

async fn run(hall: Arc<Hall>, doors: Vec<Door>) {
    let doors: Vec<_> = doors
        .into_iter()
        .map(|door| {
            let places = Arc::clone(&door.places);
            tokio::spawn(accept(Arc::clone(&hall), door));
            places
        })
        .collect();
    let grace = hall.stopped().await;
    // Every connection holds one permit to its end. What is left when the grace is over ends with
    // the runtime.
    let all_left = async {
        for places in &doors {
            drop(places.acquire_many(hall.limits.connections_max.into()).await);
        }
    };
    drop(timeout(grace, all_left).await);
}

async fn accept(hall: Arc<Hall>, door: Door) {
    loop {
        let accepted = tokio::select! {
            accepted = door.listener.accept() => accepted,
            _ = hall.stopped() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                welcome(&hall, &door, stream, peer.ip().to_canonical());
                // Whoever makes room closes before the next one is let in.
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
    if stream.set_nodelay(true).is_err() {
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
            converse(&hall, &exchange, stream, peer, &newcomer).await;
            drop(permit);
        };
        tokio::select! {
            () = conversation => {}
            () = notice.comes() => {}
        }
        drop(place);
    });
}

async fn converse(
    hall: &Hall,
    exchange: &Exchange,
    stream: TcpStream,
    peer: IpAddr,
    newcomer: &Newcomer,
) {
    let limits = &hall.limits;
    let turns = Turns::default();
    let stall = Stall::new(stream, turns.clone(), limits.head_timeout, limits.write_stall);
    let service = service_fn(|request| {
        newcomer.settle();
        turns.pass();
        let turns = &turns;
        async move {
            let answer = exchange.answer(peer, request).await;
            turns.pass();
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_headers(limits.headers_max)
        .max_buf_size(limits.head_bytes_max)
        .serve_connection(TokioIo::new(stall), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = hall.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    // Whatever ended it was the peer's doing. A line each would let strangers fill the log.
    drop(ended);
}
