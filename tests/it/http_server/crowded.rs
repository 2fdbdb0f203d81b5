//! Peers that take all they can get, and the room that others still find.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use svc::http::server::limits::TcpLimits;

use super::tcp::{
    behind_a_proxy, connect, forwarded, read_until, start_small, start_tcp, tcp_limits,
};
use super::{PATIENCE, assert_status, closing, post, talk};
use crate::hostile::wire::Crowd;

/// Sends a request and reads its answer; the connection is idle from then on.
fn speak(stream: &mut TcpStream, word: &str) {
    stream.write_all(post("3", word).as_bytes()).unwrap();
    assert!(read_until(stream, word).ends_with(word));
}

fn idle(address: SocketAddr) -> TcpStream {
    let mut stream = connect(address);
    speak(&mut stream, "one");
    stream
}

#[test]
fn the_connection_that_has_been_idle_longest_makes_room() {
    let (server, address, _held) = start_small(3, tcp_limits());
    let [mut first, second, mut third] = [0; 3].map(|_| idle(address));
    speak(&mut first, "two");
    assert_status(&talk(connect(address), &closing("/")), "200");
    assert_eq!(talk(second, ""), "", "it was idle for the longest time");
    for stream in [&mut first, &mut third] {
        speak(stream, "two");
    }
    server.stop(PATIENCE);
}

#[test]
fn a_connection_whose_answer_is_not_read_yet_makes_no_room() {
    let (server, address, _held) = start_small(2, tcp_limits());
    let mut unread = connect(address);
    unread.write_all(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    assert!(read_until(&mut unread, "\r\n\r\n").starts_with("HTTP/1.1 200"));
    let newer = idle(address);
    assert_status(&talk(connect(address), &closing("/")), "200");
    assert_eq!(talk(newer, ""), "", "it made room");
    unread.read_exact(&mut vec![0; super::BIG]).unwrap();
    server.stop(PATIENCE);
}

#[test]
fn a_peer_that_holds_no_connection_finds_a_place_among_those_that_are_busy() {
    let limits = TcpLimits { connections_per_peer_max: 1_000, ..tcp_limits() };
    let (server, address, _held) = start_small(32, limits);
    let crowd = Crowd::new();
    let greedy = Ipv4Addr::new(127, 0, 0, 2);
    let mut busy: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = crowd.connect(greedy, address).unwrap();
            // A request whose body does not come to its end; those that are turned away cannot send it.
            drop(stream.write_all(post("5", "unfi").as_bytes()));
            stream
        })
        .collect();
    for last in 3..5 {
        let stream = crowd.connect(Ipv4Addr::new(127, 0, 0, last), address).unwrap();
        assert_status(&talk(stream, &closing("/")), "200");
    }
    let again = crowd.connect(greedy, address).unwrap();
    assert_eq!(talk(again, &closing("/")), "", "it holds all it may");
    for stream in busy.iter_mut().take(30) {
        stream.write_all(b"n").unwrap();
        assert!(read_until(stream, "unfin").ends_with("unfin"));
    }
    server.stop(PATIENCE);
}

#[test]
fn large_bodies_leave_room_for_small_ones() {
    let limits = TcpLimits { body_bytes_max: 140_000, ..behind_a_proxy() };
    let (server, address, held) = start_tcp(limits);
    let large = "x".repeat(70_000);
    let mut first = connect(address);
    first.write_all(forwarded("POST", "/wait", "192.0.2.1", &large).as_bytes()).unwrap();
    held.entered.recv_timeout(PATIENCE).unwrap();
    let second = talk(connect(address), &forwarded("POST", "/wait", "192.0.2.2", &large));
    assert_status(&second, "503");
    let small = "x".repeat(64 << 10);
    let third = talk(connect(address), &forwarded("POST", "/", "192.0.2.3", &small));
    assert!(third.ends_with(&small));
    held.gate.stop();
    assert!(read_until(&mut first, "waited").ends_with("waited"));
    server.stop(PATIENCE);
}
