//! Both servers over real sockets, with peers that mean harm. Whatever such a peer does, the next
//! request of another one is served.

pub(crate) mod events;
pub(crate) mod web_sockets;

mod control;
mod counted;
mod crowded;
mod stop;
mod tcp;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use http::header::{ALLOW, HeaderValue};
use http::{Method, StatusCode};
use svc::http::message::{Admitted, Head, Refusal, Request, Response, Service, Surface};
use svc::runtime::notify::Notify;

use crate::daemon::{PATIENCE, wait_for};

/// A deadline short enough to wait for.
const SHORT: Duration = Duration::from_millis(150);
const BODY_MAX: usize = 100_000;
const BIG: usize = 32 << 20;
const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const GET_WAIT: &str = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n";

/// Answers with what it was sent.
struct EchoService {
    entered: Sender<()>,
    gate: Notify,
    answered: Sender<(Surface, u16)>,
}

/// What a test holds of the service: news of waiting handlers, the end of their wait, and the status of every answer.
struct Held {
    entered: Receiver<()>,
    gate: Notify,
    answered: Receiver<(Surface, u16)>,
}

fn echo() -> (Arc<dyn Service>, Held) {
    let (entering, entered) = channel();
    let (answering, answered) = channel();
    let gate = Notify::new();
    let service = EchoService { entered: entering, gate: gate.clone(), answered: answering };
    (Arc::new(service), Held { entered, gate, answered })
}

impl Service for EchoService {
    fn admit(&self, head: Head) -> Result<Admitted, Box<Response>> {
        if head.path == "/forbidden" {
            return Err(Box::new(Response::new(StatusCode::FORBIDDEN, "text/plain", "forbidden")));
        }
        let (entered, gate) = (self.entered.clone(), self.gate.clone());
        Ok(Admitted::new(head, BODY_MAX, move |request| echoed(request, &entered, &gate)))
    }

    fn body_max(&self, _surface: Surface, _method: &Method) -> usize {
        BODY_MAX
    }

    fn refuse(&self, refusal: Refusal) -> Response {
        let status = match refusal {
            Refusal::BadRequest => StatusCode::BAD_REQUEST,
            Refusal::LengthRequired => StatusCode::LENGTH_REQUIRED,
            Refusal::Timeout => StatusCode::REQUEST_TIMEOUT,
            Refusal::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::UpgradeRequired => StatusCode::UPGRADE_REQUIRED,
            Refusal::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Refusal::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        };
        Response::new(status, "text/plain", "refused")
    }

    fn answered(&self, surface: Surface, status: StatusCode) {
        // A test that is over does not listen any more.
        let _over = self.answered.send((surface, status.as_u16()));
    }
}

#[expect(clippy::panic, reason = "servers survive handlers that do")]
fn echoed(request: &Request, entered: &Sender<()>, gate: &Notify) -> Response {
    let body = match request.head.path.as_str() {
        "/panic" => panic!("the handler was asked to"),
        "/peer" => request.head.peer.map_or_else(Vec::new, |it| it.to_string().into_bytes()),
        "/big" => vec![b'x'; BIG],
        "/wait" => {
            entered.send(()).expect("the test holds the other end");
            let _released = gate.pause(PATIENCE);
            b"waited".to_vec()
        }
        _ => request.body.clone(),
    };
    let allow = HeaderValue::from_static("GET");
    Response::new(StatusCode::OK, "text/plain", body).with(ALLOW, allow)
}

/// Sends all and reads to the end; a reset is an end as well. A server that leaves the connection open fails
/// the test.
fn talk(mut stream: impl Read + Write, request: &str) -> String {
    let sent = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let waited = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
    assert!(!read.as_ref().is_err_and(waited), "the connection stays open: {answer:?}");
    drop((sent, read));
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends a request until it is served: for a place that is given back a little later, and for limits so short that any
/// request may miss them.
fn served<S: Read + Write>(connect: impl Fn() -> S, request: &str) -> String {
    wait_for("an answer that is no refusal", || {
        let answer = talk(connect(), request);
        (!is_turned_away(&answer)).then_some(answer)
    })
}

/// Says whether an answer is that to a request which comes too late or finds no room.
fn is_turned_away(answer: &str) -> bool {
    answer.is_empty() || ["408", "503"].contains(&answer.get(9..12).unwrap_or_default())
}

fn post(length: &str, body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn closing(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
}

/// Requests that both servers refuse, and how; `chunked` is the answer to chunks, whatever stands beside them.
fn refused(chunked: &'static str) -> Vec<(String, &'static str)> {
    let headers = |lines: &str| format!("POST / HTTP/1.1\r\n{lines}\r\n\r\nhello");
    vec![
        (headers("X: no host"), "400"),
        (headers("Host: a\r\nHost: b"), "400"),
        (headers("Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5"), chunked),
        (headers("Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"), chunked),
        (headers("Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0"), chunked),
        (headers("Host: a\r\nTransfer-Encoding: xchunked"), "400"),
        (headers("Host: a\r\nContent-Length: 5\r\nContent-Length: 6"), "400"),
        (headers("Host: a\r\nContent-Length: 5, 5"), "400"),
        (headers("Host: a\r\nContent-Length: +5"), "400"),
        (headers("Host: a\r\nContent-Length: 5x"), "400"),
        (headers("Host: a\r\nContent-Length : 5"), "400"),
        (headers("Host: a\r\nX: folded\r\n line"), "400"),
        (headers("Host: a\r\nX: a\0b"), "400"),
        ("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n".into(), "400"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n".into(), "400"),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n".into(), "400"),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n".into(), "400"),
        (post("100001", ""), "413"),
        (post("1000000000000", ""), "413"),
        (post("9223372036854775807", ""), "413"),
        (closing("/forbidden"), "403"),
    ]
}

/// Asks for a path and reads no more than the first byte of the answer, if there is one.
fn begins(stream: &mut (impl Read + Write), path: &str) -> bool {
    stream.write_all(closing(path).as_bytes()).is_ok()
        && stream.read(&mut [0]).is_ok_and(|count| count == 1)
}

fn assert_status(answer: &str, status: &str) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "expected {status}: {answer:?}");
}
