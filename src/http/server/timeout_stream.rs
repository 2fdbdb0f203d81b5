//! A TCP stream that cuts a peer which keeps us waiting: one that dribbles a head, or does not read
//! its answer. hyper's own header timeout starts with the wait for a request, so on a connection
//! kept alive it cannot tell an idle peer from a slow one; here the first byte starts the deadline.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::pending_heads::PendingHead;
use super::targets::Targets;

/// How long, and for how many bytes, a peer may go on sending after our last byte. A socket closed
/// over unread bytes resets the connection, and the reset can overtake the answer.
const LINGER: Duration = Duration::from_millis(500);
const LINGER_BYTES: usize = 256 << 10;

/// The phase of a connection: reading a head (even) at first, responding (odd) while a request is answered, however
/// long that takes, and responding for good once the connection is a WebSocket.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase(Arc<AtomicUsize>);

/// The phase of responding, which ends when this is dropped: until then nothing that the peer sends is a head, so
/// nothing is late.
#[derive(Debug)]
pub(super) struct Responding(Phase);

impl Phase {
    /// Begins the phase of responding.
    pub(super) fn begin_response(&self) -> Responding {
        self.advance();
        Responding(self.clone())
    }

    fn advance(&self) {
        // All of a connection runs on the runtime's one thread, so no ordering is needed.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn is_responding(&self) -> bool {
        self.number() % 2 == 1
    }

    fn number(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Responding {
    fn drop(&mut self) {
        self.0.advance();
    }
}

/// The stream. Created and used inside the runtime.
#[derive(Debug)]
pub(super) struct TimeoutStream {
    stream: TcpStream,
    phase: Phase,
    phase_seen: usize,
    pending_head: Arc<PendingHead>,
    targets: Arc<Targets>,
    head_timeout: Duration,
    write_stall: Duration,
    head: Timer,
    write: Timer,
    linger: Timer,
    lingered: usize,
}

impl TimeoutStream {
    /// Returns the stream of a new connection, whose first head is due after `head_timeout`.
    pub(super) fn new(
        stream: TcpStream,
        (phase, pending_head, targets): (Phase, Arc<PendingHead>, Arc<Targets>),
        head_timeout: Duration,
        write_stall: Duration,
    ) -> Self {
        let mut head = Timer::default();
        // From the start, so that a peer that never sends a byte is cut too.
        head.set(head_timeout);
        Self {
            stream,
            phase_seen: phase.number(),
            phase,
            pending_head,
            targets,
            head_timeout,
            write_stall,
            head,
            write: Timer::default(),
            linger: Timer::default(),
            lingered: 0,
        }
    }

    fn watch_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        // An answer is under way until it is flushed.
        self.pending_head.not_due();
        if written.is_ready() {
            self.write.clear();
            return written;
        }
        // A timer that runs is not moved: only a write that makes progress clears it.
        self.write.set(self.write_stall);
        self.write.poll(cx)
    }
}

impl AsyncRead for TimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let held = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.targets.note(buffer.filled().get(held..).unwrap_or_default());
        let phase = self.phase.number();
        // The phase has changed since the last read, so the deadline that runs is that of an earlier head.
        if phase != self.phase_seen {
            self.phase_seen = phase;
            self.head.clear();
        }
        // No head is due: the body that hyper reads now has a deadline of its own, `body_timeout`.
        if self.phase.is_responding() {
            return read;
        }
        if read.is_pending() {
            return self.head.poll(cx);
        }
        self.pending_head.begun();
        let head_timeout = self.head_timeout;
        // Does not move a timer that runs: the first byte of the head has set the deadline.
        self.head.set(head_timeout);
        read
    }
}

impl AsyncWrite for TimeoutStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watch_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        // hyper flushes when it has written all it has.
        if !self.phase.is_responding() {
            self.pending_head.due();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The write side is closed once; later polls only go on reading what the peer still sends.
        if !self.linger.is_set() {
            self.pending_head.not_due();
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            self.linger.set(LINGER);
        }
        let mut scratch = [0; 4 << 10];
        while self.lingered < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                // Fails when the time is over, which ends the connection as well.
                Poll::Pending => return self.linger.poll(cx),
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.lingered += buffer.filled().len();
                }
                Poll::Ready(_) => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// A timer. Setting it again does not move it.
#[derive(Debug, Default)]
struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    fn is_set(&self) -> bool {
        self.0.is_some()
    }

    fn set(&mut self, after: Duration) {
        self.0.get_or_insert_with(|| Box::pin(sleep(after)));
    }

    fn clear(&mut self) {
        self.0 = None;
    }

    /// Fails once the timer has expired.
    fn poll<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into())),
            None => Poll::Pending,
        }
    }
}
