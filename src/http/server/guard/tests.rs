//! Exchanges with `tiny_http` on its private socket.

use std::fs;

use http::{Method, StatusCode};
use proptest::prelude::*;
use tempfile::TempDir;

use super::framing::tests::{CORPUS, pieces};
use super::*;
use crate::http::message::{Admitted, Head};

const PATIENCE: Duration = Duration::from_secs(5);
const BIG: usize = 300 << 10;

/// Answers with what it was asked.
struct Echo;

impl Service for Echo {
    fn admit(&self, head: Head) -> Result<Admitted, Box<Response>> {
        Ok(Admitted::new(head, usize::MAX, |request| match request.head.path.as_str() {
            "/big" => Response::new(StatusCode::OK, "text/plain", vec![b'x'; BIG]),
            _ => {
                let asked = asked(&request.head);
                let body = [asked.as_bytes(), b"\n", request.body.as_slice()].concat();
                Response::new(StatusCode::OK, "text/plain", body)
            }
        }))
    }

    fn body_max(&self, _surface: Surface, _method: &Method) -> usize {
        usize::MAX
    }

    fn refuse(&self, refusal: Refusal) -> Response {
        Response::new(StatusCode::BAD_REQUEST, "text/plain", format!("{refusal:?}"))
    }
}

/// Returns all that is known of a head, for a comparison.
fn asked(head: &Head) -> String {
    format!("{} {} {:?} {:?}", head.method, head.path, head.query, head.headers)
}

fn start() -> (Guard, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let limits = ControlLimits { handler_timeout: PATIENCE, ..ControlLimits::default() };
    (Guard::start(directory.path().to_owned(), Arc::new(Echo), limits).unwrap(), directory)
}

fn ask(guard: &Guard, request: impl AsRef<[u8]>) -> String {
    String::from_utf8(guard.exchange(request.as_ref()).unwrap()).unwrap()
}

#[test]
fn it_is_started_again_when_it_gives_up() {
    let (guard, directory) = start();
    let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    assert!(ask(&guard, get).starts_with("HTTP/1.1 200 OK\r\n"));
    for _ in 0..3 {
        // As a listener looks that is gone.
        for socket in fs::read_dir(directory.path()).unwrap() {
            fs::remove_file(socket.unwrap().path()).unwrap();
        }
        assert!(ask(&guard, get).starts_with("HTTP/1.1 200 OK\r\n"));
    }
    assert!(guard.join(&Deadline::after(PATIENCE)));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "it removes its sockets");
    assert!(guard.exchange(get.as_bytes()).is_err(), "it has ended");
}

#[test]
fn one_answer_ends_the_exchange_however_it_was_asked_for() {
    let (guard, _directory) = start();
    for version in ["1.1", "1.0"] {
        for lines in
            ["", "Connection: keep-alive\r\n", "TE: chunked\r\n", "Connection: upgrade\r\n"]
        {
            let lines = format!(" HTTP/{version}\r\nHost: a\r\n{lines}");
            let answer = ask(&guard, format!("GET /big{lines}\r\n"));
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
            assert!(head.contains(&format!("\r\nContent-Length: {BIG}")), "{head}");
            assert_eq!(body.len(), BIG);
            let answer = ask(&guard, format!("HEAD /big{lines}\r\n"));
            assert!(answer.contains(&format!("\r\nContent-Length: {BIG}\r\n")), "{answer}");
            assert!(answer.ends_with("\r\n\r\n"), "{answer}");
            for length in [1, 1_024, 1_025, BIG] {
                let body = "y".repeat(length);
                for expect in ["", "Expect: 100-continue\r\n"] {
                    let lines = format!("{lines}{expect}Content-Length: {length}");
                    let answer = ask(&guard, format!("POST /a{lines}\r\n\r\n{body}"));
                    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
                    assert!(answer.ends_with(&format!("\n{body}")), "{length}");
                }
            }
        }
    }
    assert!(guard.join(&Deadline::after(PATIENCE)));
}

/// What the guard lets through is the same request to `tiny_http`.
fn check(guard: &Guard, bytes: &[u8]) {
    let Ok(Some(opening)) = framing::read(bytes) else { return };
    if opening.body_len > 1 << 10 {
        return;
    }
    let mut request = bytes[opening.start..].to_vec();
    request.resize(opening.end - opening.start + opening.body_len, b'z');
    let body = &request[request.len() - opening.body_len..];
    // A body is bytes, which come back as they are.
    let answer = guard.exchange(&request).unwrap();
    let expected = [asked(&opening.head).as_bytes(), b"\n", body].concat();
    let length = format!("\r\nContent-Length: {}", expected.len());
    let has_length = memchr::memmem::find(&answer, length.as_bytes()).is_some();
    assert!(has_length, "{}: {}", bytes.escape_ascii(), answer.escape_ascii());
    if opening.head.method != Method::HEAD && opening.head.path != "/big" {
        let ends = answer.ends_with(&expected);
        assert!(ends, "{}: {}", bytes.escape_ascii(), answer.escape_ascii());
    }
}

#[test]
fn the_corpus_is_read_the_same_by_both() {
    let (guard, _directory) = start();
    for line in CORPUS.lines() {
        let text: String = serde_json::from_str(line).unwrap();
        let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
        check(&guard, &bytes);
    }
    assert!(guard.join(&Deadline::after(PATIENCE)));
}

#[test]
fn any_request_is_read_the_same_by_both() {
    let (guard, _directory) = start();
    proptest!(|(bytes in pieces())| check(&guard, &bytes));
    // Any bytes are rarely a whole request; headers of any kind behind a good beginning often are.
    let lines = prop::collection::vec(("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,9}", "[ -~\t]{0,12}"), 0..6);
    proptest!(|(lines in lines, target in "/[!-~]{0,9}")| {
        let lines: String = lines.iter().map(|(name, value)| format!("{name}:{value}\r\n")).collect();
        check(&guard, format!("GET {target} HTTP/1.1\r\nHost: a\r\n{lines}\r\n").as_bytes());
    });
    assert!(guard.join(&Deadline::after(PATIENCE)));
}
