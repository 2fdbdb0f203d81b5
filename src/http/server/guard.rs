//! The guard in front of `tiny_http`, which aborts the process over a large `Content-Length`, waits
//! for ever, and reads framing leniently. The guard reads one whole request per connection, strictly
//! and by a deadline, and passes its very bytes on; `tiny_http` meets no peer but the guard.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tiny_http::{Method, Server};

use super::deadline::{Deadline, Timed};
use super::framing::{self, Opening};
use super::limits::ControlLimits;
use super::open_connections::OpenConnections;
use crate::http::message::{Refusal, Response, Service, Surface};
use crate::runtime::{mutex::lock, notify::Notify, semaphore::Semaphore, thread};

/// Most requests inside `tiny_http` at once: with more, one may wait there for a thread of another.
const INSIDE_MAX: usize = 4;
/// How long a request waits for its turn inside.
const INSIDE_WAIT: Duration = Duration::from_secs(2);
/// How long a peer may go on sending after our last byte.
const LINGER: Duration = Duration::from_millis(500);
/// How long accepting rests after an error.
const ACCEPT_REST: Duration = Duration::from_millis(50);

type Refused = Box<Response>;

/// What all connections share.
pub(super) struct Guard {
    service: Arc<dyn Service>,
    limits: ControlLimits,
    pub(super) stopping: Notify,
    open: OpenConnections,
    /// A permit for each request inside `tiny_http`, until it is answered.
    inside: Semaphore,
    /// The directory of its sockets: each start has another, because each removes its own.
    pub(super) directory: PathBuf,
    running: Mutex<Option<(u16, Arc<Server>)>>,
}

impl Guard {
    /// Returns a guard, with `tiny_http` running in an empty directory of its own.
    pub(super) fn start(
        directory: PathBuf,
        service: Arc<dyn Service>,
        limits: ControlLimits,
    ) -> io::Result<Self> {
        let open = OpenConnections::new(&limits);
        let (inside, stopping) = (Semaphore::new(INSIDE_MAX), Notify::new());
        let running = Mutex::new(Some((0, serve(&directory.join("0"))?)));
        Ok(Self { service, limits, stopping, open, inside, directory, running })
    }

    /// Accepts connections until the end is asked for and the listener is shut down.
    pub(super) fn accept_loop(self: &Arc<Self>, listener: &UnixListener) {
        while !self.stopping.is_stopped() {
            let accepted = listener.accept().and_then(|(stream, _)| self.accept(stream));
            let Err(error) = accepted else { continue };
            if self.stopping.pause(ACCEPT_REST) {
                log::warn!(event = "http.accept_failed", surface = "control", error:% = error; "accepting a connection failed");
            }
        }
    }

    /// Waits until connections and handlers have ended, and ends `tiny_http`. Returns whether they have.
    pub(super) fn join(&self, deadline: &Deadline) -> bool {
        let ended = [self.open.join(deadline), self.inside.wait_free(deadline.left())];
        lock(&self.running).take();
        ended == [true, true]
    }

    /// Serves a connection on a thread of its own, or closes it when there are too many.
    fn accept(self: &Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let Some(connection) = self.open.add(stream) else { return Ok(()) };
        let guard = Arc::clone(self);
        let serve = move || {
            // Whatever failed was the peer's doing, and it is gone.
            drop(guard.serve_connection(&connection.stream));
            drop((guard, connection));
        };
        thread::spawn("control-peer", serve).map(drop)
    }

    fn serve_connection(&self, stream: &UnixStream) -> io::Result<()> {
        let mut bytes = Vec::new();
        let answer = self.read(stream, &mut bytes)?.and_then(|()| {
            // Whole before the peer sees any of it, so that a slow reader holds nothing inside.
            match self.exchange(&bytes) {
                Ok(answer) if answer.is_empty() => Err(self.refuse(Refusal::Internal)),
                Ok(answer) => Ok(answer),
                Err(_late) => Err(self.refuse(Refusal::Overloaded)),
            }
        });
        let is_head = bytes.trim_ascii_start().starts_with(b"HEAD ");
        let answer = answer.or_else(|refusal| framing::write(&refusal, is_head))?;
        let answer = super::counted(&*self.service, &answer);
        Timed::new(stream, self.limits.write_timeout).write_all(answer)?;
        // The peer may still send: a socket closed over unread bytes is an error to it, which may hide the answer.
        stream.shutdown(Shutdown::Write)?;
        io::copy(&mut Timed::new(stream, LINGER), &mut io::sink()).map(drop)
    }

    /// Reads the bytes of one whole request. Fails if the peer has gone.
    fn read(&self, stream: &UnixStream, bytes: &mut Vec<u8>) -> io::Result<Result<(), Refused>> {
        let mut timed = Timed::new(stream, self.limits.head_timeout);
        let mut chunk = [0; 4 << 10];
        let opening = loop {
            match timed.read(&mut chunk) {
                Ok(0) if bytes.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(0) => break Err(Refusal::BadRequest),
                Ok(count) => bytes.extend(chunk.iter().take(count)),
                Err(_late) => break Err(Refusal::Timeout),
            }
            if let Some(opening) = framing::read(bytes).transpose() {
                break opening;
            }
        };
        Ok(opening.map_err(|it| self.refuse(it)).and_then(|it| self.read_body(stream, bytes, it)))
    }

    fn read_body(
        &self,
        stream: &UnixStream,
        bytes: &mut Vec<u8>,
        opening: Opening,
    ) -> Result<(), Refused> {
        let Opening { head, start, end, body_len, waits } = opening;
        if body_len > self.service.body_max(Surface::Control, &head.method) {
            // It is refused in any case; but who has no token, or means no route, hears that first.
            self.service.admit(head)?;
            return Err(self.refuse(Refusal::PayloadTooLarge));
        }
        // One request a connection: what follows the body is dropped.
        bytes.truncate(end + body_len);
        let missing = end + body_len - bytes.len();
        if waits && missing > 0 {
            let mut timed = Timed::new(stream, self.limits.write_timeout);
            let told = timed.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
            told.map_err(|_| self.refuse(Refusal::Timeout))?;
        }
        let rest = u64::try_from(missing).unwrap_or(u64::MAX);
        let rest = Timed::new(stream, self.limits.body_timeout).take(rest).read_to_end(bytes);
        bytes.drain(..start);
        match rest {
            Ok(count) if count == missing => Ok(()),
            Ok(_) => Err(self.refuse(Refusal::BadRequest)),
            Err(_late) => Err(self.refuse(Refusal::Timeout)),
        }
    }

    /// Returns the whole answer of `tiny_http` to the bytes of a request.
    fn exchange(&self, request: &[u8]) -> io::Result<Vec<u8>> {
        let permit = self.inside.take(INSIDE_WAIT).ok_or(ErrorKind::TimedOut)?;
        let (server, stream) = self.connect()?;
        let (service, timeout) = (Arc::clone(&self.service), self.limits.handler_timeout);
        // Of several requests inside, each of these threads takes one, not necessarily this one.
        thread::spawn("control-handler", move || {
            match server.recv_timeout(timeout) {
                // An error means that the guard waits no more.
                Ok(Some(request)) => drop(answer(&*service, request)),
                Ok(None) => {}
                // It has given up, so the others wait in vain as well.
                Err(_) => (0..INSIDE_MAX).for_each(|_| server.unblock()),
            }
            drop((server, permit));
        })?;
        let mut timed = Timed::new(&stream, timeout);
        timed.write_all(request)?;
        // Otherwise tiny_http would wait for another request on a connection that is kept alive.
        stream.shutdown(Shutdown::Write)?;
        let mut answer = Vec::new();
        timed.read_to_end(&mut answer)?;
        // tiny_http sends "100 Continue" if the request expects it; the guard has sent it already.
        if answer.get(9..12) == Some(b"100") {
            let end = memchr::memmem::find(&answer, b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
            answer.drain(..end);
        }
        Ok(answer)
    }

    /// Connects to `tiny_http`, and starts it again if it has given up: its accept loop ends at the
    /// first error, for instance when the process is short of descriptors for a moment.
    fn connect(&self) -> io::Result<(Arc<Server>, UnixStream)> {
        let mut running = lock(&self.running);
        let (number, server) = running.as_mut().ok_or(ErrorKind::NotConnected)?;
        let path = |number: u16| self.directory.join(format!("{number:x}"));
        let stream = UnixStream::connect(path(*number)).or_else(|error| {
            log::error!(event = "http.control_restarted", error:% = error; "starting the control server again");
            let next = number.wrapping_add(1);
            (*server, *number) = (serve(&path(next))?, next);
            UnixStream::connect(path(next))
        })?;
        Ok((Arc::clone(server), stream))
    }

    fn refuse(&self, refusal: Refusal) -> Refused {
        Box::new(self.service.refuse(refusal))
    }
}

fn serve(path: &Path) -> io::Result<Arc<Server>> {
    Server::from_listener(UnixListener::bind(path)?, None).map(Arc::new).map_err(io::Error::other)
}

/// Answers a request as it comes out of `tiny_http`, whose body the guard has bounded and sent.
fn answer(service: &dyn Service, mut request: tiny_http::Request) -> io::Result<()> {
    let mut body = vec![0; request.body_length().unwrap_or_default()];
    request.as_reader().read_exact(&mut body)?;
    let lines =
        request.headers().iter().map(|it| (it.field.as_str().as_str(), it.value.as_bytes()));
    let head = framing::head(request.method().as_str(), request.url(), lines);
    let response = match head.map(|head| service.admit(head)) {
        Some(Ok(it)) if body.len() <= it.body_max() => super::answer_whole(service, it, body),
        Some(Ok(_)) => service.refuse(Refusal::PayloadTooLarge),
        Some(Err(refusal)) => *refusal,
        None => service.refuse(Refusal::BadRequest),
    };
    let bytes = framing::write(&response, *request.method() == Method::Head)?;
    let mut writer = request.into_writer();
    writer.write_all(&bytes).and_then(|()| writer.flush())
}

#[cfg(test)]
mod tests;
