//! The guard in front of `tiny_http`, which aborts the process over a large `Content-Length`, waits
//! for ever, and reads framing leniently. The guard reads one whole request per connection,
//! strictly and by a deadline, and writes it anew; `tiny_http` meets no peer but the guard.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::Method;

use super::control::ControlLimits;
use super::deadline::Timed;
use super::framing::{self, HEAD_BYTES_MAX, Malformed, Opening};
use crate::http::message::{Refusal, Request, Response, Service};
use crate::runtime::notify::Notify;
use crate::runtime::semaphore::Semaphore;
use crate::runtime::thread;

/// Most requests inside `tiny_http` at once. With more, it may give two connections to one thread,
/// and the second waits until the first ends.
pub(super) const INSIDE_MAX: usize = 4;
/// How long a request waits for its turn inside.
const INSIDE_WAIT: Duration = Duration::from_secs(2);
/// What a peer is told that waits with its body.
const GO_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// How long a peer may go on sending after our last byte.
const LINGER: Duration = Duration::from_millis(500);
/// How long accepting rests after an error.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// What all connections share.
pub(super) struct Guard {
    pub(super) service: Arc<dyn Service>,
    pub(super) limits: ControlLimits,
    /// The socket `tiny_http` listens on.
    pub(super) inner: PathBuf,
    /// A seat for each connection.
    pub(super) connections: Semaphore,
    /// A seat for each request inside `tiny_http`.
    pub(super) inside: Semaphore,
    pub(super) wake: Notify,
}

impl Guard {
    /// Accepts connections until the end is asked for and the listener is shut down.
    pub(super) fn accept(self: &Arc<Self>, listener: &UnixListener) {
        while !self.wake.is_stopped() {
            let welcomed = listener.accept().and_then(|(stream, _)| self.welcome(stream));
            let Err(error) = welcomed else { continue };
            if self.wake.pause(ACCEPT_REST) {
                log::warn!(
                    event = "http.accept_failed", surface = "control", error:% = error;
                    "accepting a connection failed"
                );
            }
        }
    }

    /// Serves a connection on a thread of its own, or closes it when there are too many.
    fn welcome(self: &Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let Some(seat) = self.connections.take(Duration::ZERO) else { return Ok(()) };
        let guard = Arc::clone(self);
        let serve = move || {
            // Whatever failed was the peer's doing, and it is gone.
            drop(guard.converse(&stream));
            drop((stream, guard));
            drop(seat);
        };
        thread::spawn("control-peer", serve).map(drop)
    }

    fn converse(&self, stream: &UnixStream) -> io::Result<()> {
        let mut bytes = Vec::new();
        let answer = match self.open(stream, &mut bytes)? {
            Ok(opening) => {
                let method = opening.head.method.clone();
                match self.pass(stream, bytes, opening) {
                    Ok(answer) => answer,
                    Err(refusal) => framing::write_response(&refusal, Some(&method)),
                }
            }
            Err(refusal) => {
                // No head, but who asked for none gets no body either.
                let method = bytes.starts_with(b"HEAD ").then_some(&Method::HEAD);
                framing::write_response(&self.service.refuse(refusal), method)
            }
        };
        Timed::new(stream, self.limits.write_timeout).write_all(&answer)?;
        linger(stream)
    }

    /// Reads a whole head, and perhaps some bytes after it. Fails when there is nobody to answer.
    fn open(
        &self,
        stream: &UnixStream,
        bytes: &mut Vec<u8>,
    ) -> io::Result<Result<Opening, Refusal>> {
        let mut timed = Timed::new(stream, self.limits.head_timeout);
        let mut chunk = [0; 4 << 10];
        loop {
            let count = match timed.read(&mut chunk) {
                Ok(0) if bytes.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(0) => return Ok(Err(Refusal::BadRequest)),
                Ok(count) => count,
                // A signal; with a timeout set, the system does not resume the call by itself.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_late) => return Ok(Err(Refusal::Timeout)),
            };
            bytes.extend(chunk.iter().take(count));
            match framing::read(bytes) {
                Ok(Some(opening)) => return Ok(Ok(opening)),
                Ok(None) if bytes.len() < HEAD_BYTES_MAX => {}
                Ok(None) | Err(Malformed) => return Ok(Err(Refusal::BadRequest)),
            }
        }
    }

    /// Reads the body, and returns the answer from inside.
    fn pass(
        &self,
        stream: &UnixStream,
        mut bytes: Vec<u8>,
        opening: Opening,
    ) -> Result<Vec<u8>, Box<Response>> {
        let Opening { head, head_len, body_len, waits } = opening;
        let limit = self.service.admit(head.clone())?.body_max();
        let length = usize::try_from(body_len).ok().filter(|length| *length <= limit);
        let length = length.ok_or_else(|| self.refuse(Refusal::PayloadTooLarge))?;
        let mut body = bytes.split_off(head_len);
        // One request a connection: what follows the body is nobody's.
        body.truncate(length);
        if waits && body.len() < length {
            let told = Timed::new(stream, self.limits.write_timeout).write_all(GO_ON);
            told.map_err(|_| self.refuse(Refusal::Timeout))?;
        }
        let missing = u64::try_from(length - body.len()).unwrap_or(u64::MAX);
        let rest =
            Timed::new(stream, self.limits.body_timeout).take(missing).read_to_end(&mut body);
        match rest {
            Ok(_) if body.len() == length => self.ask(&Request { head, body }),
            Ok(_) => Err(self.refuse(Refusal::BadRequest)),
            Err(_late) => Err(self.refuse(Refusal::Timeout)),
        }
    }

    /// Returns the answer of `tiny_http`, whole before the peer sees any of it, so that a slow
    /// reader holds no seat inside.
    fn ask(&self, request: &Request) -> Result<Vec<u8>, Box<Response>> {
        let Some(seat) = self.inside.take(INSIDE_WAIT) else {
            return Err(self.refuse(Refusal::Overloaded));
        };
        let answer = self.exchange(request);
        drop(seat);
        match answer.map(framing::close_after) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(self.refuse(Refusal::Internal)),
            Err(_late) => Err(self.refuse(Refusal::Overloaded)),
        }
    }

    fn exchange(&self, request: &Request) -> io::Result<Vec<u8>> {
        let inner = UnixStream::connect(&self.inner)?;
        let mut timed = Timed::new(&inner, self.limits.handler_timeout);
        timed.write_all(&framing::write_head(&request.head))?;
        timed.write_all(&request.body)?;
        let mut answer = Vec::new();
        timed.read_to_end(&mut answer)?;
        Ok(answer)
    }

    fn refuse(&self, refusal: Refusal) -> Box<Response> {
        Box::new(self.service.refuse(refusal))
    }
}

/// Takes in what the peer still sends: a socket closed over unread bytes is an error to the peer,
/// which may then never look at its answer.
fn linger(stream: &UnixStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    io::copy(&mut Timed::new(stream, LINGER), &mut io::sink()).map(drop)
}
