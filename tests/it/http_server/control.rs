//! The server for operators.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use svc::http::server::control::{self, ControlServer};
use svc::http::server::limits::ControlLimits;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;
use svc::runtime::thread;

use super::{
    BIG, BODY_MAX, GET, GET_WAIT, Held, PATIENCE, SHORT, assert_status, begins, closing, echo,
    post, refused, talk,
};

pub(super) struct Control {
    pub(super) server: ControlServer,
    pub(super) path: PathBuf,
    pub(super) held: Held,
    _directory: tempfile::TempDir,
}

pub(super) fn start_control(limits: ControlLimits) -> Control {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("s.sock");
    let (service, held) = echo();
    let server = control::start(&path, service, limits).expect("the server starts");
    Control { server, path, held, _directory: directory }
}

pub(super) fn connect_unix(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path).expect("the server accepts");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout that is not zero");
    stream
}

#[test]
fn refuses_doubtful_requests_and_goes_on() {
    let control = start_control(ControlLimits::default());
    let mut requests = refused("400");
    requests.push((post("5\r\nContent-Length: 5", "hello"), "400"));
    requests.push((post("5\r\nExpect: a-miracle", "hello"), "400"));
    requests.push((post("5\r\nUpgrade: websocket", "hello"), "400"));
    requests.push((format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "y".repeat(20_000)), "400"));
    // Its body is too large, but that is not the first thing that is wrong with it.
    requests.push((post("100001", "").replace("POST /", "POST /forbidden"), "403"));
    requests.push(("GET / HTTP/1.1\nHost: a\n\n".to_owned(), "400"));
    for (request, status) in requests {
        let answer = talk(connect_unix(&control.path), &request);
        assert_status(&answer, status);
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{request:?}: {answer:?}");
    }
    assert_status(&talk(connect_unix(&control.path), GET), "200");
    control.server.stop(PATIENCE);
}

#[test]
fn passes_whole_requests_and_answers() {
    let control = start_control(ControlLimits::default());
    for length in [3, BODY_MAX] {
        let body = "x".repeat(length);
        let smuggled = format!("{}{GET}", post(&length.to_string(), &body));
        let answer = talk(connect_unix(&control.path), &smuggled);
        assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 1);
        assert!(answer.ends_with(&format!("\r\n\r\n{body}")));
    }
    let head = "HEAD /big HTTP/1.1\r\nHost: a\r\nTE: chunked\r\n\r\n";
    let answer = talk(connect_unix(&control.path), head).to_lowercase();
    for line in ["allow: get", &format!("content-length: {BIG}")] {
        assert!(answer.contains(&format!("\r\n{line}\r\n")), "{answer:?}");
    }
    assert!(answer.ends_with("\r\n\r\n"), "{answer:?}");
    // Who asks for no body gets none with a refusal either, though there was no head to read.
    let answer = talk(connect_unix(&control.path), "HEAD * HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_status(&answer, "400");
    assert!(answer.ends_with("\r\n\r\n"), "{answer:?}");
    control.server.stop(PATIENCE);
}

/// As curl does it with a large body.
#[test]
fn tells_who_waits_with_a_body_to_go_on() {
    let control = start_control(ControlLimits::default());
    let mut stream = connect_unix(&control.path);
    stream.write_all(post("5\r\nExpect: 100-continue", "").as_bytes()).expect("it is taken");
    let mut told = [0; 25];
    stream.read_exact(&mut told).expect("a word before the body");
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    let answer = talk(stream, "hello");
    assert_status(&answer, "200");
    assert!(answer.ends_with("\r\n\r\nhello"), "{answer:?}");
    // Who would not be heard is told so at once.
    let large = format!("{}\r\nExpect: 100-continue", BODY_MAX + 1);
    assert_status(&talk(connect_unix(&control.path), &post(&large, "")), "413");
    control.server.stop(PATIENCE);
}

#[test]
fn cuts_slow_peers() {
    let limits = ControlLimits {
        connections_max: 1,
        head_timeout: SHORT,
        body_timeout: SHORT,
        write_timeout: SHORT,
        ..ControlLimits::default()
    };
    let control = start_control(limits);
    let served = |request: &str| {
        let clock = SystemClock::new();
        loop {
            let answer = talk(connect_unix(&control.path), request);
            if !answer.is_empty() {
                return answer;
            }
            // The last peer still has the one place.
            assert!(clock.monotonic() < PATIENCE && Notify::new().pause(SHORT / 10));
        }
    };
    assert_status(&served("GET / HT"), "408");
    assert_status(&served(&post("5", "hell")), "408");
    let mut stuck = connect_unix(&control.path);
    while !begins(&mut stuck, "/big") {
        stuck = connect_unix(&control.path);
    }
    assert_status(&served(GET), "200");
    control.server.stop(PATIENCE);
}

#[test]
fn survives_panicking_handlers() {
    let control = start_control(ControlLimits::default());
    for _ in 0..5 {
        assert_status(&talk(connect_unix(&control.path), &closing("/panic")), "500");
    }
    assert_status(&talk(connect_unix(&control.path), GET), "200");
    control.server.stop(PATIENCE);
}

#[test]
fn answers_sixteen_at_once() {
    let control = start_control(ControlLimits::default());
    for _ in 0..5 {
        let asking: Vec<_> = (0..16)
            .map(|_| {
                let path = control.path.clone();
                thread::spawn("asking", move || talk(connect_unix(&path), GET)).unwrap()
            })
            .collect();
        for answer in asking {
            assert_status(&answer.join().unwrap(), "200");
        }
    }
    control.server.stop(PATIENCE);
}

#[test]
fn has_its_path_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.sock");
    let start = || control::start(&path, echo().0, ControlLimits::default());
    // A socket that a killed server left behind.
    drop(UnixListener::bind(&path).unwrap());
    let server = start().unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o660);
    let problem = start().map(drop).unwrap_err();
    assert_eq!(problem.to_string(), format!("another svcd holds {}.lock", path.display()));
    assert_status(&talk(connect_unix(&path), GET), "200");
    server.stop(PATIENCE);
    assert!(!path.exists() && !path.with_extension("sock.inner").exists());
    start().unwrap().stop(PATIENCE);
    std::fs::write(&path, "not a socket").unwrap();
    let problem = start().map(drop).unwrap_err();
    assert_eq!(problem.kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn stops_with_grace() {
    let Control { server, path, held, _directory } = start_control(ControlLimits::default());
    let asked = path.clone();
    let waiting = thread::spawn("asking", move || talk(connect_unix(&asked), GET_WAIT)).unwrap();
    held.entered.recv_timeout(PATIENCE).unwrap();
    let stopping = thread::spawn("stopping", move || server.stop(PATIENCE)).unwrap();
    let clock = SystemClock::new();
    while UnixStream::connect(&path).is_ok_and(|stream| !talk(stream, GET).is_empty()) {
        assert!(clock.monotonic() < PATIENCE);
    }
    held.gate.stop();
    assert_status(&waiting.join().unwrap(), "200");
    stopping.join().unwrap();
    assert!(!path.exists());
}

#[test]
fn caps_connections() {
    let control = start_control(ControlLimits { connections_max: 1, ..ControlLimits::default() });
    let silent = connect_unix(&control.path);
    assert_eq!(talk(connect_unix(&control.path), GET), "");
    drop(silent);
    control.server.stop(PATIENCE);
}

#[test]
fn a_stop_does_not_wait_for_the_rest_of_a_request() {
    let far = PATIENCE * 100;
    let limits = ControlLimits {
        head_timeout: far,
        body_timeout: far,
        rest_at_stop: SHORT,
        ..ControlLimits::default()
    };
    let control = start_control(limits);
    let mut peers = [b"".as_slice(), b"GET / HT", post("5", "hell").as_bytes()].map(|sent| {
        let mut stream = connect_unix(&control.path);
        stream.write_all(sent).unwrap();
        stream
    });
    // They are accepted in order, so the answer to a later one says that these are.
    assert_status(&talk(connect_unix(&control.path), GET), "200");
    control.server.stop(far);
    for (peer, begin) in peers.iter_mut().zip(["", "HTTP/1.1 4", "HTTP/1.1 4"]) {
        assert!(talk(peer, "").starts_with(begin));
    }
}
