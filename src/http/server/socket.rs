//! WebSockets after the handshake. Each has a task of its own and no thread: its messages are taken in by
//! handlers, a few at once of all sockets of a door, so that they never hold up a request.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt as _};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Bytes, Message as Frame};

use super::contained;
use super::pool::Pool;
use super::stop::Stopping;
use crate::http::body_budget::{BodyBudget, Reservation};
use crate::http::long_lived::{Close, Message, Queue, Session, WebSocket};
use crate::http::message::Surface;
use crate::runtime::mutex::lock;

/// How long the end of a socket may take: our last frame, and the peer's.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How many bytes are read at once.
const READ_BYTES: usize = 4 << 10;
/// Pings without anything from the peer after which it is taken for gone.
const UNANSWERED_MAX: u32 = 2;

/// The WebSockets of a door.
pub(super) struct Sockets {
    pub(super) surface: Surface,
    pub(super) pool: Arc<Pool>,
    /// A permit for each message that is being taken in.
    pub(super) receiving: Semaphore,
    pub(super) budget: Arc<BodyBudget>,
    /// From one ping to the next.
    pub(super) keep_alive: Duration,
    pub(super) stopping: Stopping,
}

type Stream<T> = WebSocketStream<Metered<T>>;

impl Sockets {
    /// Serves a socket in a task of its own, once hyper has sent the answer to the handshake. Until the end
    /// of the socket it keeps `held`.
    pub(super) fn serve(
        self: Arc<Self>,
        upgrade: OnUpgrade,
        socket: WebSocket,
        client: Option<IpAddr>,
        held: impl Send + 'static,
    ) {
        tokio::spawn(async move {
            let WebSocket { session, mut queue, message_bytes_max, permit } = socket;
            // It fails when the connection ends first.
            if let Ok(upgraded) = upgrade.await {
                let held = self.budget.reserve(client);
                let stream = Metered { stream: TokioIo::new(upgraded), held };
                let config = WebSocketConfig::default()
                    .read_buffer_size(READ_BYTES)
                    .write_buffer_size(0)
                    .max_message_size(Some(message_bytes_max))
                    .max_frame_size(Some(message_bytes_max));
                let mut stream =
                    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
                if let Err(close) = self.converse(&mut stream, &mut queue, &session).await {
                    // Whatever fails now, the socket ends.
                    drop(timeout(CLOSE_TIMEOUT, end(&mut stream, close)).await);
                }
            }
            // Senders hear of the end before the session does.
            drop(queue);
            self.handle(&session, |session| session.closed()).await;
            drop((permit, held));
        });
    }

    /// Serves a socket until its peer has gone.
    ///
    /// # Errors
    /// How to close it instead.
    async fn converse<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut Stream<T>,
        queue: &mut Queue<Message>,
        session: &Arc<Mutex<dyn Session>>,
    ) -> Result<(), Close> {
        let mut stopped = self.stopping.stopped();
        let mut pings = interval(self.keep_alive);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.reset();
        let mut unanswered = 0;
        loop {
            let sent = tokio::select! {
                () = &mut stopped => return Err(Close::RESTART),
                item = queue.recv() => match item {
                    Some((Message::Text(text), _held)) => stream.send(Frame::text(text)).await,
                    Some((Message::Close(close), _)) => return Err(close),
                    None => return Err(Close::NORMAL),
                },
                received = stream.next() => {
                    unanswered = 0;
                    match received {
                        Some(Ok(Frame::Text(text))) => {
                            let taken = self.handle(session, move |it| it.receive(&text)).await;
                            taken.unwrap_or(Err(Close::INTERNAL))?;
                            stream.get_mut().held.clear();
                        }
                        Some(Ok(Frame::Binary(_))) => return Err(Close::BINARY),
                        // A ping is answered with the next read.
                        Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_))) => {
                            stream.get_mut().held.clear();
                        }
                        Some(Ok(Frame::Close(_))) => return Err(Close::NORMAL),
                        Some(Err(error)) => return refuse(&error),
                        None => return Ok(()),
                    }
                    Ok(())
                }
                _ = pings.tick() => {
                    if unanswered == UNANSWERED_MAX {
                        return Ok(());
                    }
                    unanswered += 1;
                    stream.send(Frame::Ping(Bytes::new())).await
                }
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    /// Has a handler do something with a session; returns nothing if it panicked.
    async fn handle<T: Send + 'static>(
        &self,
        session: &Arc<Mutex<dyn Session>>,
        work: impl FnOnce(&mut dyn Session) -> T + Send + 'static,
    ) -> Option<T> {
        let _permit = self.receiving.acquire().await.ok()?;
        let (session, surface) = (Arc::clone(session), self.surface.as_str());
        let work = move || contained(surface, || work(&mut *lock(&session)));
        self.pool.submit_soon(work).await.flatten()
    }
}

/// Returns how to close a socket after an error, unless its peer has gone.
fn refuse(error: &tungstenite::Error) -> Result<(), Close> {
    match error {
        tungstenite::Error::Capacity(_) => Err(Close::TOO_LONG),
        tungstenite::Error::Utf8(_) => Err(Close::NOT_TEXT),
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ok(()),
        tungstenite::Error::Protocol(_) => Err(Close::PROTOCOL),
        tungstenite::Error::Io(error) if error.kind() == io::ErrorKind::QuotaExceeded => {
            Err(Close::OVERLOADED)
        }
        _ => Ok(()),
    }
}

/// Closes a socket: says why, waits for the peer's word, and lets it read ours.
async fn end<T: AsyncRead + AsyncWrite + Unpin>(stream: &mut Stream<T>, close: Close) {
    let frame = CloseFrame { code: close.code.into(), reason: close.reason.into() };
    // It is an error when the peer closed first; then the answer to its frame is what is flushed.
    drop(stream.close(Some(frame)).await);
    drop(SinkExt::<Frame>::close(stream).await);
    while let Some(Ok(_)) = stream.next().await {}
    drop(stream.get_mut().shutdown().await);
}

/// A stream whose bytes are counted until a whole message was taken in.
struct Metered<T> {
    stream: T,
    held: Reservation,
}

impl<T: AsyncRead + Unpin> AsyncRead for Metered<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let fits = self.held.grow(buffer.filled().len() - before);
        Poll::Ready(if fits { Ok(()) } else { Err(io::ErrorKind::QuotaExceeded.into()) })
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Metered<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
