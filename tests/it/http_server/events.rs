//! Answers that outlast their handlers over TCP: streams of events, and answers that are handed in later.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use svc::http::server::limits::TcpLimits;
use svc::runtime::notify::Notify;
use svc::runtime::thread;

use super::tcp::{
    behind_a_proxy, connect, forwarded, read_until, start_small, start_tcp, tcp_limits,
};
use super::{
    PATIENCE, SHORT, assert_status, closing, is_turned_away, post, served, talk, wait_for,
};

const HELLO: &str = "data: hello\n\n\r\n";
const COMMENT: &str = "3\r\n:\n\n\r\n";

/// Every limit that must not meet an answer that lasts is over before the test is.
fn short_limits() -> TcpLimits {
    TcpLimits {
        head_timeout: SHORT,
        idle: SHORT,
        handler_timeout: SHORT,
        handler_threads: 1,
        keep_alive: SHORT,
        ..tcp_limits()
    }
}

/// Asks for a path on a connection that stays open.
fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
    stream
}

fn open(address: SocketAddr) -> TcpStream {
    open_stream(address, "/fixture/events")
}

/// Opens a stream and reads its first event; asks again where the limits are too short for the request.
pub(crate) fn open_stream(address: SocketAddr, path: &str) -> TcpStream {
    let (stream, answer) = wait_for("a stream", || {
        let mut stream = ask(address, path);
        let answer = read_until(&mut stream, HELLO);
        (!is_turned_away(&answer)).then_some((stream, answer))
    });
    assert_status(&answer, "200");
    let headers = answer.to_ascii_lowercase();
    for header in [
        "content-type: text/event-stream\r\n",
        "cache-control: no-cache, no-transform\r\n",
        "x-accel-buffering: no\r\n",
        "transfer-encoding: chunked\r\n",
    ] {
        assert!(headers.contains(header), "{header}: {answer}");
    }
    stream
}

/// Returns how many answers last, or `None` if the request came too late or found no room.
pub(crate) fn open_count(address: SocketAddr) -> Option<usize> {
    let answer = talk(connect(address), &closing("/fixture/open"));
    if is_turned_away(&answer) {
        return None;
    }
    let count = answer.lines().last().and_then(|count| count.parse().ok());
    Some(count.unwrap_or_else(|| panic!("{answer}")))
}

/// Waits until so many answers last: a state that stays, for this may look too late for any other.
pub(crate) fn wait_for_open(address: SocketAddr, count: usize) {
    wait_for(&format!("{count} open"), || (open_count(address) == Some(count)).then_some(()));
}

/// Asks for an answer that is handed in later, the `count`th that lasts; asks again where the limits are too short for
/// the request.
fn ask_late(address: SocketAddr, count: usize) -> TcpStream {
    wait_for("a late answer", || {
        let stream = ask(address, "/fixture/late");
        stream.set_nonblocking(true).unwrap();
        let lasts = wait_for("an answer that lasts, or a refusal", || {
            let is_refused = stream.peek(&mut [0]).is_ok();
            (is_refused || open_count(address) == Some(count)).then_some(!is_refused)
        });
        stream.set_nonblocking(false).unwrap();
        lasts.then_some(stream)
    })
}

#[test]
fn a_stream_outlives_every_deadline_of_requests_whatever_its_peer_sends() {
    let (server, address, _held) = start_tcp(short_limits());
    let [mut quiet, mut talkative] = [0; 2].map(|_| open(address));
    talkative.write_all(b"G").unwrap();
    for stream in [&mut quiet, &mut talkative] {
        for _ in 0..6 {
            assert_eq!(read_until(stream, "\n\n\r\n"), COMMENT);
        }
    }
    // One thread answers everybody, so a stream has none.
    assert_status(&served(|| connect(address), &closing("/")), "200");
    server.stop(PATIENCE);
}

#[test]
fn a_stream_ends_with_its_sender_and_the_connection_goes_on() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let mut stream = open(address);
    assert_status(&talk(connect(address), &closing("/fixture/forget")), "200");
    assert_eq!(read_until(&mut stream, "0\r\n\r\n"), "0\r\n\r\n");
    stream.write_all(post("3", "one").as_bytes()).unwrap();
    assert!(read_until(&mut stream, "one").ends_with("one"));
    server.stop(PATIENCE);
}

#[test]
fn a_stop_ends_streams_with_their_last_event_and_late_answers_with_503() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let mut stream = open(address);
    let late = ask(address, "/fixture/late");
    wait_for_open(address, 2);
    // A stop that had to wait for either would take its whole grace.
    let stopping = thread::spawn("stopping", move || server.stop(PATIENCE * 100)).unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "17\r\nevent: stopped\ndata: \n\n\r\n0\r\n\r\n");
    assert_status(&talk(late, ""), "503");
    stopping.join().unwrap();
}

#[test]
fn a_peer_that_has_gone_is_noticed() {
    let limits = TcpLimits { keep_alive: SHORT, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    let [gone, mut half, mut more] = [0; 3].map(|_| open(address));
    let reset = open(address);
    wait_for_open(address, 4);
    drop(gone);
    wait_for_open(address, 3);
    // Half an end is one: a peer that says no more is not missed.
    half.shutdown(std::net::Shutdown::Write).unwrap();
    wait_for_open(address, 2);
    half.read_to_end(&mut Vec::new()).unwrap();
    reset.set_nonblocking(true).unwrap();
    rustix::net::sockopt::set_socket_linger(&reset, Some(std::time::Duration::ZERO)).unwrap();
    drop(reset);
    wait_for_open(address, 1);
    // What was sent beyond the request hides the end behind it, until something is written.
    more.write_all(b"G").unwrap();
    drop(more);
    wait_for_open(address, 0);
    server.stop(PATIENCE);
}

#[test]
fn a_peer_that_does_not_read_is_cut_and_what_waited_for_it_is_given_back() {
    // Room for all that may wait for one peer, more than sockets take, and hardly more.
    let events = 15 << 20;
    let limits =
        TcpLimits { write_stall: SHORT, long_lived_bytes_max: events + 1_000, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    for _ in 0..3 {
        let mut deaf = ask(address, "/fixture/flood");
        assert_status(&read_until(&mut deaf, "\r\n\r\n"), "200");
        wait_for_open(address, 0);
        drop(deaf);
    }
    // All of them fit once more. This thread may be too slow as well, and is cut then like the others.
    wait_for("all events", || {
        wait_for_open(address, 0);
        let mut stream = ask(address, "/fixture/flood");
        stream.read_exact(&mut vec![0; events]).ok()
    });
    server.stop(PATIENCE);
}

#[test]
fn a_late_answer_holds_no_thread_and_is_handed_in_whenever_it_is_there() {
    let (server, address, _held) = start_tcp(short_limits());
    let waiting = [1, 2, 3].map(|count| ask_late(address, count));
    assert!(Notify::new().pause(SHORT * 3));
    let released = served(|| connect(address), &closing("/fixture/release"));
    assert!(released.ends_with('3'), "{released}");
    for mut stream in waiting {
        let answer = read_until(&mut stream, "released");
        assert_status(&answer, "200");
        assert!(answer.to_ascii_lowercase().contains("content-length: 8\r\n"), "{answer}");
    }
    let forgotten = ask_late(address, 1);
    assert_status(&served(|| connect(address), &closing("/fixture/forget")), "200");
    assert_status(&talk(forgotten, ""), "500");
    server.stop(PATIENCE);

    let limits = TcpLimits { late_timeout: SHORT, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    assert_status(&talk(connect(address), &closing("/fixture/late")), "503");
    let gone = ask(address, "/fixture/late");
    drop(gone);
    wait_for_open(address, 0);
    server.stop(PATIENCE);
}

#[test]
fn answers_that_last_have_half_of_the_connections_and_requests_the_rest() {
    let (server, address, _held) = start_small(4, tcp_limits());
    let streams = [0; 2].map(|_| open(address));
    for path in ["/fixture/events", "/fixture/late"] {
        assert_status(&talk(connect(address), &closing(path)), "503");
    }
    assert_status(&talk(connect(address), &closing("/")), "200");
    drop(streams);
    wait_for_open(address, 0);
    drop(open(address));
    server.stop(PATIENCE);
}

#[test]
fn a_client_behind_a_proxy_has_its_place_until_its_stream_ends() {
    let limits = TcpLimits { connections_per_peer_max: 1, ..behind_a_proxy() };
    let (server, address, _held) = start_tcp(limits);
    let mut stream = connect(address);
    stream.write_all(forwarded("GET", "/fixture/events", "192.0.2.1", "").as_bytes()).unwrap();
    read_until(&mut stream, HELLO);
    assert_status(&talk(connect(address), &forwarded("GET", "/", "192.0.2.1", "")), "503");
    assert_status(&talk(connect(address), &forwarded("GET", "/", "192.0.2.2", "")), "200");
    drop(stream);
    wait_for_open(address, 0);
    assert_status(&talk(connect(address), &forwarded("GET", "/", "192.0.2.1", "")), "200");
    server.stop(PATIENCE);
}
