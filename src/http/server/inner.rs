//! `tiny_http` on its private socket, and the threads that answer what the guard lets through.

use std::io;
use std::os::unix::net::UnixListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tiny_http::{Header, Server};

use super::framing;
use super::guard::INSIDE_MAX;
use crate::http::message::{Admitted, Body, Head, Refusal, Response, Service, Surface};
use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;
use crate::runtime::semaphore::{Permit, Semaphore};
use crate::runtime::thread;

/// How long to wait before `tiny_http` is started again.
const RESTART_REST: Duration = Duration::from_millis(50);

/// `tiny_http`, started again whenever it gives up: its accept loop ends at the first error, for
/// instance when the process is short of descriptors for a moment.
pub(super) struct Inner {
    service: Arc<dyn Service>,
    path: PathBuf,
    wake: Notify,
    server: Mutex<Option<Arc<Server>>>,
}

impl Inner {
    /// Starts it on a socket at `path`, which must be free. The seats are free once it has ended.
    ///
    /// # Errors
    /// When the socket cannot be bound, or the system gives no thread.
    pub(super) fn start(
        path: PathBuf,
        service: Arc<dyn Service>,
        wake: Notify,
    ) -> io::Result<(Arc<Self>, Semaphore)> {
        let inner = Arc::new(Self { service, path, wake, server: Mutex::default() });
        let server = inner.listen()?;
        let seats = Semaphore::new(1);
        let (seat, supervised) = (seats.take(Duration::ZERO), Arc::clone(&inner));
        thread::spawn("control-inner", move || supervised.run(server, seat))?;
        Ok((inner, seats))
    }

    /// Ends it, once the end was asked for by the wake.
    pub(super) fn stop(&self) {
        if let Some(server) = &*lock(&self.server) {
            server.unblock();
        }
    }

    fn listen(&self) -> io::Result<Arc<Server>> {
        let listener = UnixListener::bind(&self.path)?;
        let server = Server::from_listener(listener, None).map_err(io::Error::other)?;
        let server = Arc::new(server);
        let current = Some(Arc::clone(&server));
        *lock(&self.server) = current;
        Ok(server)
    }

    fn run(&self, server: Arc<Server>, seat: Option<Permit>) {
        let mut listening = Ok(server);
        while !self.wake.is_stopped() {
            let ended = listening.and_then(|server| self.serve(&server));
            // The last holder removes the socket, so that the path is free again.
            *lock(&self.server) = None;
            if !self.wake.pause(RESTART_REST) {
                break;
            }
            let error = ended.err().map_or_else(String::new, |error| error.to_string());
            log::error!(
                event = "http.control_restarted", error:% = error;
                "starting the control server again"
            );
            listening = self.listen();
        }
        drop(seat);
    }

    /// Runs the handlers until `tiny_http` gives up or the end is asked for.
    fn serve(&self, server: &Arc<Server>) -> io::Result<()> {
        let handlers: Vec<_> = (0..INSIDE_MAX)
            .map(|number| {
                let (server, service) = (Arc::clone(server), Arc::clone(&self.service));
                thread::spawn(&format!("control-{number}"), move || answer_all(&server, &*service))
            })
            .collect();
        let mut ended = Ok(());
        for handler in handlers {
            match handler.map(std::thread::JoinHandle::join) {
                Ok(Ok(result)) => ended = ended.and(result),
                Ok(Err(_panic)) => server.unblock(),
                Err(error) => {
                    server.unblock();
                    ended = Err(error);
                }
            }
        }
        ended
    }
}

fn answer_all(server: &Server, service: &dyn Service) -> io::Result<()> {
    let error = loop {
        match server.recv() {
            Ok(request) => {
                // Only tiny_http itself can panic here; the request's own end answers with a 500.
                drop(catch_unwind(AssertUnwindSafe(|| answer(service, request))));
            }
            Err(error) => break error,
        }
    };
    // One call wakes one thread; each passes it on.
    server.unblock();
    Err(error)
}

fn answer(service: &dyn Service, mut request: tiny_http::Request) {
    let response = match read(service, &mut request) {
        Ok((admitted, body)) => super::answer(service, admitted, body),
        Err(refusal) => *refusal,
    };
    let Body::Whole(body) = response.body;
    let mut answer = tiny_http::Response::from_data(body)
        .with_status_code(response.status.as_u16())
        .with_chunked_threshold(usize::MAX);
    for (name, value) in &response.headers {
        match Header::from_bytes(name.as_str(), value.as_bytes()) {
            Ok(header) => answer.add_header(header),
            Err(()) => {
                let header = name.as_str();
                log::error!(
                    event = "http.header_dropped", header;
                    "a header of an answer is not ASCII"
                );
            }
        }
    }
    // Only the guard listens, and it has its own deadline for this.
    drop(request.respond(answer));
}

/// Returns the request, admitted once more so that no way around the guard is a way around that.
fn read(
    service: &dyn Service,
    request: &mut tiny_http::Request,
) -> Result<(Admitted, Vec<u8>), Box<Response>> {
    let refuse = |refusal| Box::new(service.refuse(refusal));
    let head = head(request).ok_or_else(|| refuse(Refusal::BadRequest))?;
    let admitted = service.admit(head)?;
    let length = request.body_length().unwrap_or(0);
    if length > admitted.body_max() {
        return Err(refuse(Refusal::PayloadTooLarge));
    }
    // The guard has sent all of it.
    let mut body = Vec::with_capacity(length);
    match request.as_reader().read_to_end(&mut body) {
        Ok(_) => Ok((admitted, body)),
        Err(_broken) => Err(refuse(Refusal::BadRequest)),
    }
}

fn head(request: &tiny_http::Request) -> Option<Head> {
    let mut headers = HeaderMap::new();
    for line in request.headers() {
        let name = HeaderName::from_bytes(line.field.as_str().as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_str(line.value.as_str()).ok()?);
    }
    let (path, query) = framing::target(request.url())?;
    let method = Method::from_bytes(request.method().as_str().as_bytes()).ok()?;
    Some(Head { surface: Surface::Control, method, path, query, headers, peer: None })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use http::StatusCode;

    use super::*;

    struct Plain;

    impl Service for Plain {
        fn admit(&self, head: Head) -> Result<Admitted, Box<Response>> {
            Ok(Admitted::new(head, 0, |_| Response::new(StatusCode::OK, "text/plain", "fine")))
        }

        fn refuse(&self, _refusal: Refusal) -> Response {
            Response::new(StatusCode::BAD_REQUEST, "text/plain", "refused")
        }
    }

    fn ask(path: &PathBuf) -> io::Result<String> {
        let mut stream = UnixStream::connect(path)?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    #[test]
    fn it_is_started_again_when_it_gives_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let wake = Notify::new();
        let (inner, running) = Inner::start(path.clone(), Arc::new(Plain), wake.clone()).unwrap();
        assert!(ask(&path).unwrap().ends_with("fine"));
        // Without the wake this looks as if the accept loop had failed.
        inner.stop();
        let back = (0..200).any(|_| {
            Notify::new().pause(RESTART_REST / 5) && ask(&path).is_ok_and(|a| a.ends_with("fine"))
        });
        assert!(back);
        wake.stop();
        inner.stop();
        assert!(running.wait_free(Duration::from_secs(5)));
        assert!(!path.exists());
    }
}
