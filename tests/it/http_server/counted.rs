//! Each answer is counted once, with the status that the peer sees.

use std::sync::mpsc::TryRecvError;

use svc::http::message::Surface;
use svc::http::server::limits::{ControlLimits, TcpLimits};

use super::control::{connect_unix, start_control};
use super::tcp::{connect, start_tcp, tcp_limits};
use super::{Held, PATIENCE, SHORT, closing, post, refused, talk};

/// Asserts that the last answer was counted, once and as it was given. Returns its status.
fn assert_counted(held: &Held, surface: Surface, request: &str, answer: &str) -> u16 {
    let status = answer.get(9..12).and_then(|digits| digits.parse().ok()).expect("an answer");
    assert_eq!(held.answered.recv_timeout(PATIENCE), Ok((surface, status)), "{request:?}");
    assert_eq!(held.answered.try_recv(), Err(TryRecvError::Empty), "{request:?}");
    status
}

#[test]
fn over_tcp() {
    let quick = TcpLimits {
        body_timeout: SHORT,
        body_bytes_max: 1 << 20,
        body_bytes_per_client_max: 1 << 20,
        ..tcp_limits()
    };
    let (server, address, held) = start_tcp(quick);
    let too_long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "y".repeat(20_000));
    let mut requests: Vec<String> =
        refused("411").into_iter().map(|(request, _)| request).collect();
    requests.extend(["/", "/panic", "/big", "/fixture/socket"].map(closing));
    requests.extend([too_long, post("5", "hell")]);
    let mut seen = Vec::new();
    for request in requests {
        let answer = talk(connect(address), &request);
        seen.push(assert_counted(&held, Surface::Public, &request, &answer));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen, [200, 400, 403, 408, 411, 413, 426, 431, 500, 503]);
    // Nothing was asked, so nothing is answered.
    drop(connect(address));
    server.stop(PATIENCE);
    assert_eq!(held.answered.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn over_tcp_what_is_not_handled_in_time() {
    let limits =
        TcpLimits { handler_threads: 1, queue_max: 1, handler_timeout: SHORT, ..tcp_limits() };
    let (server, address, held) = start_tcp(limits);
    // One has the thread, one is in the queue, and for the third there is no room.
    for name in ["has begun", "is queued", "is refused"] {
        let answer = talk(connect(address), &closing("/wait"));
        assert_eq!(assert_counted(&held, Surface::Public, name, &answer), 503, "{name}");
    }
    held.gate.stop();
    server.stop(PATIENCE);
    assert!(held.answered.try_recv().is_err(), "the handler that came too late is not counted");
}

#[test]
fn over_the_control_socket() {
    let limits = ControlLimits { body_timeout: SHORT, ..ControlLimits::default() };
    let control = start_control(limits);
    let mut requests: Vec<String> =
        refused("400").into_iter().map(|(request, _)| request).collect();
    requests.extend(["/", "/panic"].map(closing));
    requests.push(post("5", "hell"));
    let mut seen = Vec::new();
    for request in requests {
        let answer = talk(connect_unix(&control.path), &request);
        seen.push(assert_counted(&control.held, Surface::Control, &request, &answer));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen, [200, 400, 403, 408, 413, 500]);
    control.server.stop(PATIENCE);
    // By itself: any other request may take longer than a limit that is so short.
    let limits = ControlLimits { handler_timeout: SHORT, ..ControlLimits::default() };
    let control = start_control(limits);
    let answer = talk(connect_unix(&control.path), &closing("/wait"));
    assert_eq!(assert_counted(&control.held, Surface::Control, "/wait", &answer), 503);
    control.held.gate.stop();
    control.server.stop(PATIENCE);
}
