//! What a stop lets its peers finish, and for how long it waits for those that say nothing.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use svc::http::server::limits::TcpLimits;
use svc::http::server::tcp::TcpServer;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::thread;

use super::tcp::{connect, half_sent, read_until, start_tcp, tcp_limits};
use super::{GET, PATIENCE, SHORT, assert_status, closing, post, talk};

/// Longer than any test waits.
const FAR: Duration = Duration::from_secs(3_600);

/// Returns once the stop has begun.
fn stopping(server: TcpServer, address: SocketAddr) -> JoinHandle<()> {
    let stopping = thread::spawn("stopping", move || server.stop(FAR)).unwrap();
    let clock = SystemClock::new();
    // Without pauses: one that arrives as the stop begins must not evict those that the test is about.
    while TcpStream::connect(address).is_ok() {
        assert!(clock.monotonic() < PATIENCE);
    }
    stopping
}

/// Returns connections that were accepted, each after one answered request or none.
fn accepted<const N: usize>(address: SocketAddr, spoken: [bool; N]) -> [TcpStream; N] {
    let streams = spoken.map(|has_spoken| {
        let mut stream = connect(address);
        if has_spoken {
            stream.write_all(post("3", "one").as_bytes()).unwrap();
            assert!(read_until(&mut stream, "one").ends_with("one"));
        }
        stream
    });
    // They are accepted in order, so the answer to a later one says that these are.
    assert_status(&talk(connect(address), &closing("/")), "200");
    streams
}

#[test]
fn what_a_peer_sends_soon_after_the_stop_began_is_answered() {
    let limits = TcpLimits { silent_at_stop: FAR, rest_at_stop: FAR, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    let mut streams = accepted(address, [false, true, false, true]);
    let (first, rest) = GET.split_at(9);
    for half in &mut streams[2..] {
        half.write_all(first.as_bytes()).unwrap();
    }
    let stopping = stopping(server, address);
    for (stream, request) in streams.iter_mut().zip([GET, GET, rest, rest]) {
        let answer = talk(stream, request);
        assert_status(&answer, "200");
        assert!(answer.contains("connection: close\r\n"), "{answer:?}");
    }
    stopping.join().unwrap();
}

#[test]
fn a_stop_does_not_wait_for_peers_that_say_nothing_or_do_not_go_on() {
    let limits = TcpLimits {
        head_timeout: FAR,
        body_timeout: FAR,
        idle: FAR,
        silent_at_stop: SHORT,
        rest_at_stop: SHORT,
        ..tcp_limits()
    };
    let (server, address, _held) = start_tcp(limits);
    let mut streams = accepted(address, [false, true, false, true]);
    for half in &mut streams[2..] {
        half.write_all(b"GET / HT").unwrap();
    }
    let body = half_sent(address);
    let stopping = stopping(server, address);
    for stream in streams {
        assert_eq!(talk(stream, ""), "");
    }
    assert_status(&talk(body, "hell"), "408");
    stopping.join().unwrap();
}
