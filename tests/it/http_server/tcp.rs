//! The server for TCP.

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;

use svc::http::fixture;
use svc::http::message::Surface;
use svc::http::server::limits::TcpLimits;
use svc::http::server::tcp::{self, Listener, TcpServer};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;
use svc::runtime::thread;

use super::{
    BIG, GET_WAIT, Held, PATIENCE, SHORT, assert_status, begins, closing, echo, post, refused,
    served, talk,
};

/// Limits no test reaches by chance.
pub(super) fn tcp_limits() -> TcpLimits {
    TcpLimits { handler_threads: 4, ..TcpLimits::default() }
}

pub(super) fn start_tcp(limits: TcpLimits) -> (TcpServer, SocketAddr, Held) {
    start_small(1_024, limits)
}

/// Starts a server with room for so many connections.
pub(super) fn start_small(
    connections_max: u16,
    limits: TcpLimits,
) -> (TcpServer, SocketAddr, Held) {
    let (server, [address], held) = start_listeners([Surface::Public], connections_max, limits);
    (server, address, held)
}

fn start_listeners<const N: usize>(
    surfaces: [Surface; N],
    connections_max: u16,
    limits: TcpLimits,
) -> (TcpServer, [SocketAddr; N], Held) {
    let listeners = surfaces.map(|surface| {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
        Listener { surface, socket, connections_max }
    });
    let addresses = listeners.each_ref().map(|it| it.socket.local_addr().expect("an address"));
    let (service, held) = echo();
    let server = tcp::start(listeners.into(), &fixture::over(service), limits);
    (server.expect("the server starts"), addresses, held)
}

pub(super) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server accepts");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout that is not zero");
    stream
}

/// Reads one answer with a body that ends in `end`, and leaves the connection open.
pub(super) fn read_until(stream: &mut impl Read, end: &str) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(end.as_bytes()) {
        let mut byte = [0];
        if stream.read(&mut byte).expect("more of the answer") == 0 {
            break;
        }
        answer.extend(byte);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn refuses_doubtful_requests_and_goes_on() {
    let (server, address, _held) = start_tcp(tcp_limits());
    for (request, status) in refused("411") {
        let answer = talk(connect(address), &request);
        assert_status(&answer, status);
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{request:?}: {answer:?}");
    }
    for lines in ["X: y\r\n".repeat(65), format!("X: {}\r\n", "y".repeat(20_000))] {
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
        assert_status(&talk(connect(address), &request), "431");
    }
    assert_status(&talk(connect(address), &closing("/")), "200");
    server.stop(PATIENCE);
}

#[test]
fn answers_a_refused_upload_that_keeps_coming() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let upgrade = "Content-Length: 300000\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n";
    for lines in ["Content-Length: 300000\r\n", upgrade] {
        let mut stream = connect(address);
        let request = format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        assert_status(&read_until(&mut stream, "refused"), "413");
        // A closed socket would reset the connection at the first and refuse the second.
        for _ in 0..2 {
            stream.write_all(&[b'x'; 50_000]).unwrap();
        }
    }
    server.stop(PATIENCE);
}

#[test]
fn echoes_pipelined_requests_in_order() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let last = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\ntwo";
    let answer = talk(connect(address), &format!("{}{last}", post("3", "one")));
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 2, "{answer:?}");
    assert!(answer.find("one") < answer.find("two") && answer.ends_with("two"), "{answer:?}");
    let head = "HEAD /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let answer = talk(connect(address), head).to_lowercase();
    assert!(answer.contains(&format!("content-length: {BIG}\r\n")), "{answer:?}");
    assert!(answer.contains("allow: get\r\n") && answer.ends_with("\r\n\r\n"), "{answer:?}");
    server.stop(PATIENCE);
}

#[test]
fn cuts_slow_heads_and_slow_bodies() {
    let limits = TcpLimits { head_timeout: SHORT, body_timeout: SHORT, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    assert_eq!(talk(connect(address), "GET / HT"), "");
    assert_eq!(talk(connect(address), ""), "");
    assert_status(&talk(connect(address), &post("5", "hell")), "408");
    // Between two requests a connection may rest longer, but the second head may not.
    let mut stream = connect(address);
    stream.write_all(post("3", "one").as_bytes()).unwrap();
    read_until(&mut stream, "one");
    assert!(Notify::new().pause(SHORT * 3));
    stream.write_all(post("3", "two").as_bytes()).unwrap();
    assert!(read_until(&mut stream, "two").ends_with("two"));
    assert_eq!(talk(&stream, "GET / HT"), "");
    server.stop(PATIENCE);
}

#[test]
fn cuts_idle_connections() {
    let (server, address, _held) = start_tcp(TcpLimits { idle: SHORT, ..tcp_limits() });
    let answer = talk(connect(address), &post("3", "one"));
    assert!(answer.ends_with("one"), "{answer:?}");
    server.stop(PATIENCE);
}

#[test]
fn cuts_a_peer_that_does_not_read() {
    let limits = TcpLimits { write_stall: SHORT, ..tcp_limits() };
    let (server, address, _held) = start_small(1, limits);
    let mut stuck = connect(address);
    assert!(begins(&mut stuck, "/big"));
    // There is one place, and it is taken until the stuck peer is cut.
    assert_status(&served(|| connect(address), &closing("/")), "200");
    server.stop(PATIENCE);
}

#[test]
fn survives_a_panicking_handler() {
    let (server, address, _held) = start_tcp(TcpLimits { handler_threads: 1, ..tcp_limits() });
    for _ in 0..3 {
        assert_status(&talk(connect(address), &closing("/panic")), "500");
    }
    assert_status(&talk(connect(address), &closing("/")), "200");
    server.stop(PATIENCE);
}

#[test]
fn refuses_what_it_cannot_handle_in_time() {
    let limits = TcpLimits { handler_threads: 1, queue_max: 1, ..tcp_limits() };
    let (server, address, held) = start_tcp(limits);
    let (answering, answers) = channel();
    let ask = || {
        let answering = answering.clone();
        thread::spawn("asking", move || answering.send(talk(connect(address), &closing("/wait"))))
            .unwrap();
    };
    ask();
    held.entered.recv_timeout(PATIENCE).unwrap();
    ask();
    ask();
    // One of the two fits in the queue.
    assert_status(&answers.recv_timeout(PATIENCE).unwrap(), "503");
    held.gate.stop();
    for _ in 0..2 {
        assert_status(&answers.recv_timeout(PATIENCE).unwrap(), "200");
    }
    server.stop(PATIENCE);

    let (server, address, held) = start_tcp(TcpLimits { handler_timeout: SHORT, ..tcp_limits() });
    assert_status(&talk(connect(address), &closing("/wait")), "503");
    held.gate.stop();
    server.stop(PATIENCE);
}

#[test]
fn caps_connections_but_not_those_of_a_proxy() {
    let limits = TcpLimits { connections_per_peer_max: 1, ..tcp_limits() };
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let trusting = TcpLimits { trusted_proxies, ..limits.clone() };
    for (limits, second) in [(limits, ""), (trusting, "HTTP/1.1 200 OK")] {
        let (server, address, _held) = start_tcp(limits);
        let mut first = connect(address);
        first.write_all(post("3", "one").as_bytes()).unwrap();
        read_until(&mut first, "one");
        let answer = talk(connect(address), &closing("/"));
        assert_eq!(answer.lines().next().unwrap_or_default(), second);
        server.stop(PATIENCE);
    }
}

#[test]
fn a_full_listener_opens_for_a_peer_that_speaks_and_not_for_those_that_follow() {
    let (server, address, _held) = start_small(3, tcp_limits());
    let [oldest, mut newer] = [0; 2].map(|_| {
        let mut stream = connect(address);
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a").unwrap();
        stream
    });
    // They are let in one after the other, so the answer to a third says that both are.
    let mut spoken = connect(address);
    spoken.write_all(post("3", "one").as_bytes()).unwrap();
    read_until(&mut spoken, "one");
    assert_status(&talk(connect(address), &closing("/")), "200");
    assert_eq!(talk(&oldest, ""), "", "it made room");
    newer.write_all(b"\r\nConnection: close\r\n\r\n").unwrap();
    assert_status(&talk(&newer, ""), "200");
    spoken.write_all(post("3", "two").as_bytes()).unwrap();
    assert!(read_until(&mut spoken, "two").ends_with("two"), "its head has been due for less time");
    server.stop(PATIENCE);

    let (server, address, _held) = start_small(2, tcp_limits());
    let busy = [0; 2].map(|_| half_sent(address));
    assert_eq!(talk(connect(address), &closing("/")), "", "all have a request under way");
    for mut stream in busy {
        stream.write_all(b"hello").unwrap();
        assert!(read_until(&mut stream, "hello").ends_with("hello"));
    }
    server.stop(PATIENCE);
}

/// Returns a connection whose request waits for the five bytes of its body.
pub(super) fn half_sent(address: SocketAddr) -> TcpStream {
    let mut stream = connect(address);
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert!(read_until(&mut stream, "\r\n\r\n").starts_with("HTTP/1.1 100 "));
    stream
}

#[test]
fn stops_with_grace() {
    let (server, address, held) = start_tcp(tcp_limits());
    let mut idle = connect(address);
    idle.write_all(post("3", "one").as_bytes()).unwrap();
    read_until(&mut idle, "one");
    let waiting = thread::spawn("asking", move || talk(connect(address), GET_WAIT)).unwrap();
    held.entered.recv_timeout(PATIENCE).unwrap();
    let stopping = thread::spawn("stopping", move || server.stop(PATIENCE)).unwrap();
    assert_eq!(talk(&idle, ""), "");
    let clock = SystemClock::new();
    while TcpStream::connect(address).is_ok() {
        assert!(clock.monotonic() < PATIENCE);
    }
    held.gate.stop();
    let answer = waiting.join().unwrap();
    assert_status(&answer, "200");
    assert!(answer.to_lowercase().contains("connection: close"), "{answer:?}");
    stopping.join().unwrap();
}

#[test]
fn leaves_a_stuck_handler_behind() {
    let (server, address, held) = start_tcp(tcp_limits());
    let mut stuck = connect(address);
    stuck.write_all(GET_WAIT.as_bytes()).unwrap();
    held.entered.recv_timeout(PATIENCE).unwrap();
    server.stop(SHORT);
    assert_eq!(talk(&stuck, ""), "", "a stop that waits for the handler lets it answer");
    held.gate.stop();
}

#[test]
fn bodies_share_a_bound_and_count_what_has_arrived() {
    let limits = TcpLimits { body_bytes_max: 8, handler_threads: 1, ..tcp_limits() };
    let (server, address, held) = start_tcp(limits);
    let mut first = connect(address);
    let waiting =
        "POST /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nfirst";
    first.write_all(waiting.as_bytes()).unwrap();
    held.entered.recv_timeout(PATIENCE).unwrap();
    assert_status(&talk(connect(address), &post("4", "more")), "503");
    held.gate.stop();
    assert!(read_until(&mut first, "waited").ends_with("waited"));
    let small = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nmore";
    assert!(talk(connect(address), small).ends_with("more"));
    server.stop(PATIENCE);
}

#[test]
fn the_body_of_a_handler_that_goes_on_counts_until_its_end() {
    let limits = TcpLimits { body_bytes_max: 8, handler_timeout: SHORT, ..tcp_limits() };
    let (server, address, held) = start_tcp(limits);
    let waiting =
        "POST /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nfirst";
    assert_status(&talk(connect(address), waiting), "503");
    let small = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nmore";
    assert_status(&talk(connect(address), small), "503");
    held.gate.stop();
    // It ends a moment after it may.
    while !talk(connect(address), small).ends_with("more") {}
    server.stop(PATIENCE);
}

/// Limits under which every request says whose it is.
pub(super) fn behind_a_proxy() -> TcpLimits {
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    TcpLimits { trusted_proxies, ..tcp_limits() }
}

pub(super) fn forwarded(method: &str, path: &str, client: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: {client}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_client_that_holds_its_part_of_the_bodies_leaves_the_others_theirs() {
    let limits = TcpLimits { body_bytes_max: 8, body_bytes_per_client_max: 4, ..behind_a_proxy() };
    let (server, address, held) = start_tcp(limits);
    let mut first = connect(address);
    first.write_all(forwarded("POST", "/wait", "192.0.2.1", "four").as_bytes()).unwrap();
    held.entered.recv_timeout(PATIENCE).unwrap();
    assert_status(&talk(connect(address), &forwarded("POST", "/", "192.0.2.1", "x")), "503");
    let other = talk(connect(address), &forwarded("POST", "/", "192.0.2.2", "more"));
    assert!(other.ends_with("more"), "{other:?}");
    held.gate.stop();
    assert!(read_until(&mut first, "waited").ends_with("waited"));
    server.stop(PATIENCE);
}

#[test]
fn a_request_is_charged_to_the_subscriber_behind_the_proxy() {
    let (server, address, _held) = start_tcp(behind_a_proxy());
    for (client, charged) in [("192.0.2.1", "192.0.2.1"), ("2001:db8::1:2:3:4", "2001:db8::")] {
        let answer = talk(connect(address), &forwarded("GET", "/peer", client, ""));
        assert!(answer.ends_with(&format!("\r\n\r\n{charged}")), "{answer:?}");
    }
    server.stop(PATIENCE);
}

#[test]
fn large_answers_are_held_within_the_same_bounds_until_they_are_read() {
    let limits =
        TcpLimits { body_bytes_max: 3 * BIG, body_bytes_per_client_max: BIG, ..behind_a_proxy() };
    let (server, address, _held) = start_tcp(limits);
    let mut slow = connect(address);
    slow.write_all(forwarded("GET", "/big", "192.0.2.1", "").as_bytes()).unwrap();
    assert!(read_until(&mut slow, "\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
    let again = talk(connect(address), &forwarded("GET", "/big", "192.0.2.1", ""));
    assert_status(&again, "503");
    assert_status(&talk(connect(address), &forwarded("GET", "/", "192.0.2.1", "")), "200");
    let other = talk(connect(address), &forwarded("GET", "/big", "192.0.2.2", ""));
    assert!(other.starts_with("HTTP/1.1 200 OK") && other.len() > BIG);
    assert_eq!(talk(slow, "").len(), BIG);
    let at_last = talk(connect(address), &forwarded("GET", "/big", "192.0.2.1", ""));
    assert!(at_last.starts_with("HTTP/1.1 200 OK") && at_last.len() > BIG);
    server.stop(PATIENCE);
}

#[test]
fn a_listener_whose_handlers_are_all_busy_takes_none_from_another() {
    let limits = TcpLimits { handler_threads: 1, queue_max: 1, ..tcp_limits() };
    let endpoints = [Surface::Operator, Surface::Public];
    let (server, [operator, public], held) = start_listeners(endpoints, 1_024, limits);
    let [mut busy, mut waiting] = [0; 2].map(|_| connect(operator));
    busy.write_all(closing("/wait").as_bytes()).unwrap();
    held.entered.recv_timeout(PATIENCE).unwrap();
    waiting.write_all(closing("/").as_bytes()).unwrap();
    for _ in 0..3 {
        assert_status(&talk(connect(public), &closing("/")), "200");
    }
    held.gate.stop();
    for stream in [busy, waiting] {
        assert_status(&talk(stream, ""), "200");
    }
    server.stop(PATIENCE);
}
