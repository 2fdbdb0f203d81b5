//! WebSockets after the handshake. Each has a task of its own and no thread: its messages are taken in by
//! handlers, a few at once of all sockets of a listener, so that they never hold up a request.

mod pings;

use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::future::{Fuse, FusedFuture as _};
use futures_util::{FutureExt as _, SinkExt, StreamExt as _};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;
use tokio::task::coop::consume_budget;
use tokio::task::yield_now;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Bytes, Message as Frame, Utf8Bytes};

use super::contained;
use super::limits::TcpLimits;
use super::pool::Pool;
use super::stop::Stopping;
use crate::http::body_budget::{BodyBudget, Reservation};
use crate::http::long_lived::{Close, Message, SendQueue, Session, Terms, WebSocket};
use crate::http::message::Surface;
use crate::runtime::mutex::lock;
use pings::Pings;

/// How long the end of a socket may take: what still waits for the peer, our last frame, and the peer's.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How many bytes are read at once.
const READ_BYTES: usize = 4 << 10;
/// How many messages are sent in a row while there is something else to do.
const SENDS_MAX: u32 = 8;
/// Bytes of a control frame besides its payload, as a client sends it.
const CONTROL_HEADER: usize = 6;

/// The WebSockets of a listener.
pub(super) struct Sockets {
    pub(super) surface: Surface,
    pub(super) pool: Arc<Pool>,
    /// A permit for each message that is being taken in.
    pub(super) receiving: Arc<Semaphore>,
    /// Bounds what waits for peers, and messages that have not come to their end.
    pub(super) budget: Arc<BodyBudget>,
    pub(super) limits: Arc<TcpLimits>,
    pub(super) stopping: Stopping,
}

type Stream<T> = WebSocketStream<Metered<T>>;
type Shared = Arc<Mutex<dyn Session>>;

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
                // Apart from the budget of bodies, so that uploads of strangers cannot end a socket.
                let held = self.budget.reserve(client);
                let stream = Metered::new(TokioIo::new(upgraded), held, message_bytes_max);
                let config = WebSocketConfig::default()
                    .read_buffer_size(READ_BYTES)
                    // 0 passes each frame on at once; by default tungstenite collects 128 KiB first.
                    .write_buffer_size(0)
                    .max_message_size(Some(message_bytes_max))
                    .max_frame_size(Some(message_bytes_max));
                let mut stream =
                    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
                let terms = lock(&session).terms();
                stream.get_mut().limit(terms.bytes_max);
                let ended = tokio::select! {
                    ended = self.serve_messages(&mut stream, &mut queue, &session, terms) => ended,
                    // At once and not after the grace: the page has to connect to another process.
                    _grace = self.stopping.wait() => Err(Close::RESTART),
                };
                if let Err(close) = ended {
                    // Whatever fails now, the socket ends.
                    drop(timeout(CLOSE_TIMEOUT, end(&mut stream, &mut queue, close)).await);
                }
            }
            // Before the session is dropped, which may wait for a handler's thread.
            drop((queue, permit, held));
            self.discard(session).await;
        });
    }

    /// Has a handler drop a session.
    pub(super) async fn discard(&self, session: Shared) {
        let Ok(permit) = Arc::clone(&self.receiving).acquire_owned().await else { return };
        let surface = self.surface.as_str();
        let work = move || drop((contained(surface, || drop(session)), permit));
        self.pool.submit_soon(work).await;
    }

    /// Serves a socket until its peer has gone. It can be dropped at any time: a frame that was written in
    /// part is finished by whatever is written next.
    ///
    /// # Errors
    /// How to close it instead.
    async fn serve_messages<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut Stream<T>,
        queue: &mut SendQueue<Message>,
        session: &Shared,
        mut terms: Terms,
    ) -> Result<(), Close> {
        let mut stall_checks = interval(self.limits.message_stall);
        stall_checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        stall_checks.reset();
        // What was read of a message at the last check, when it had begun by then.
        let mut unread_before = None;
        let mut pings = Pings::new(self.limits.keep_alive);
        // Messages that were sent since something else was done.
        let mut sends = 0_u32;
        // The message that is being taken in, if there is one; the next is not read before.
        let mut taken = pin!(Fuse::terminated());
        loop {
            // A thousand small frames may be there at once.
            consume_budget().await;
            let is_free = taken.is_terminated();
            let sent = tokio::select! {
                // In this order: a peer that sends without end cannot put off its close, and a peer whose bytes wait here is
                // not taken for one that stalls or has gone, because the process was late to read them.
                biased;
                item = next(queue, sends) => match item {
                    // `_held` lives to the end of the arm, so the bytes count until the stream has taken the message.
                    Some((Message::Text(text), _held)) => {
                        pings.note_sent();
                        sends = sends.saturating_add(1);
                        stream.send(Frame::text(text)).await
                    }
                    Some((Message::Close(close), _)) => {
                        // `end` sends what still waits, and nothing may follow a close.
                        while queue.try_recv().is_ok() {}
                        return Err(close);
                    }
                    None => return Err(Close::NORMAL),
                },
                received = stream.next(), if is_free => {
                    sends = 0;
                    unread_before = None;
                    pings.note_heard();
                    match received {
                        Some(Ok(Frame::Text(text))) => {
                            taken.set(self.receive(session, text).fuse());
                            Ok(())
                        }
                        Some(Ok(frame)) => answer(stream, frame).await?,
                        Some(Err(error)) => return refuse(&error, terms.too_long),
                        None => return Ok(()),
                    }
                }
                result = &mut taken, if !is_free => {
                    sends = 0;
                    // The next message may have begun, but no more of it was read ahead than `READ_BYTES`.
                    stream.get_mut().let_go(usize::MAX);
                    terms = result?;
                    stream.get_mut().limit(terms.bytes_max);
                    unread_before = None;
                    pings.note_heard();
                    Ok(())
                }
                _ = stall_checks.tick(), if is_free && terms.too_slow.is_some() => {
                    let unread = Some(stream.get_ref().unread).filter(|unread| *unread > 0);
                    if let Some(close) = terms.too_slow.filter(|_| unread.is_some() && unread == unread_before) {
                        return Err(close);
                    }
                    unread_before = unread;
                    Ok(())
                }
                () = pings.due() => {
                    // Its answer is not read before the message is taken in.
                    if !pings.begin(is_free) {
                        return Ok(());
                    }
                    stream.send(Frame::Ping(Bytes::new())).await
                }
            };
            // A failed write: the peer has gone, and there is no reason to send it.
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    /// Has a handler take a message in. Returns what the next one is held to.
    async fn receive(&self, session: &Shared, text: Utf8Bytes) -> Result<Terms, Close> {
        let taken = timeout(self.limits.handler_timeout, async {
            // Held by the handler: one that hangs keeps its permit, even when its caller no longer waits.
            let permit = Arc::clone(&self.receiving).acquire_owned().await.ok()?;
            let (session, surface) = (Arc::clone(session), self.surface.as_str());
            let work = move || {
                let taken = contained(surface, || {
                    let mut session = lock(&session);
                    session.receive(&text).map(|()| session.terms())
                });
                drop((session, permit));
                taken
            };
            self.pool.submit_soon(work).await.flatten()
        });
        taken.await.ok().flatten().unwrap_or(Err(Close::INTERNAL))
    }
}

/// Answers a frame that is no text.
async fn answer<T: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut Stream<T>,
    frame: Frame,
) -> Result<Result<(), tungstenite::Error>, Close> {
    match frame {
        Frame::Ping(payload) => {
            stream.get_mut().let_go(CONTROL_HEADER + payload.len());
            // The answer leaves before another ping is read: a peer that does not read it asks for no more.
            Ok(SinkExt::<Frame>::flush(stream).await)
        }
        Frame::Pong(payload) => {
            stream.get_mut().let_go(CONTROL_HEADER + payload.len());
            Ok(Ok(()))
        }
        Frame::Close(_) => Err(Close::NORMAL),
        Frame::Text(_) | Frame::Binary(_) | Frame::Frame(_) => Err(Close::BINARY),
    }
}

/// Returns how to close a socket after an error, unless its peer has gone.
fn refuse(error: &tungstenite::Error, too_long: Close) -> Result<(), Close> {
    match error {
        tungstenite::Error::Capacity(_) => Err(too_long),
        tungstenite::Error::Utf8(_) => Err(Close::NOT_TEXT),
        // A close frame could not reach a peer that is gone.
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ok(()),
        tungstenite::Error::Protocol(_) => Err(Close::PROTOCOL),
        tungstenite::Error::Io(error) => match error.kind() {
            // `Metered` fails with these two kinds; the kernel reports neither for a socket.
            io::ErrorKind::QuotaExceeded => Err(Close::OVERLOADED),
            io::ErrorKind::FileTooLarge => Err(too_long),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Returns what is sent next. After so many messages in a row, whatever else can be done goes first: a sender that always has
/// something to send cannot keep the peer from being heard.
async fn next<T>(queue: &mut Receiver<T>, sends: u32) -> Option<T> {
    if sends >= SENDS_MAX {
        yield_now().await;
    }
    queue.recv().await
}

/// Closes a socket: sends what still waits, says why, waits for the peer's word, and lets it read ours.
async fn end<T: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut Stream<T>,
    queue: &mut SendQueue<Message>,
    close: Close,
) {
    queue.close();
    while let Ok((Message::Text(text), _held)) = queue.try_recv() {
        if stream.send(Frame::text(text)).await.is_err() {
            return;
        }
    }
    let frame = CloseFrame { code: close.code.into(), reason: close.reason.into() };
    // Fails when the peer closed first; then the next line sends the reply to its close frame.
    drop(stream.close(Some(frame)).await);
    drop(SinkExt::<Frame>::close(stream).await);
    // Bounded by `CLOSE_TIMEOUT`, in which the caller waits for all of this.
    while let Some(Ok(_)) = stream.next().await {}
    drop(stream.get_mut().shutdown().await);
}

/// A stream whose bytes are counted until the message they belong to was taken in.
struct Metered<T> {
    stream: T,
    held: Reservation,
    /// Bytes that were read and not let go of.
    unread: usize,
    /// Of a message, in either case.
    bytes_max: usize,
    bytes_max_now: usize,
}

impl<T> Metered<T> {
    /// Returns a stream of messages of up to `message_bytes_max` bytes, which may come in parts.
    fn new(stream: T, held: Reservation, bytes_max: usize) -> Self {
        Self { stream, held, unread: 0, bytes_max, bytes_max_now: bytes_max }
    }

    /// Limits the next message to so many bytes, or to what all messages are limited to.
    fn limit(&mut self, bytes: usize) {
        self.bytes_max_now = bytes.min(self.bytes_max);
    }

    /// Returns how many bytes may be read of a message: a quarter more for the headers of its parts, and what is read
    /// ahead.
    const fn unread_max(&self) -> usize {
        self.bytes_max_now + self.bytes_max_now / 4 + 2 * READ_BYTES
    }

    /// Counts so many bytes no more.
    fn let_go(&mut self, bytes: usize) {
        self.unread = self.unread.saturating_sub(bytes);
        let _fits = self.charge();
    }

    /// Reserves what is counted; the first few bytes are what every socket may have.
    fn charge(&mut self) -> bool {
        self.held.resize(self.unread.saturating_sub(READ_BYTES))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Metered<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.unread += buffer.filled().len() - before;
        Poll::Ready(if self.unread > self.unread_max() {
            Err(io::ErrorKind::FileTooLarge.into())
        } else if self.charge() {
            Ok(())
        } else {
            Err(io::ErrorKind::QuotaExceeded.into())
        })
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

#[cfg(test)]
mod tests;
