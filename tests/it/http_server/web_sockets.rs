//! WebSockets: the handshake, messages, deadlines of their own, and every way they end.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use svc::http::server::limits::TcpLimits;
use svc::runtime::notify::Notify;
use svc::runtime::thread;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket};

use super::events::wait_for_open;
use super::tcp::{connect, half_sent, read_until, start_small, start_tcp, tcp_limits};
use super::{PATIENCE, SHORT, assert_status, closing, is_turned_away, served, talk, wait_for};

pub(crate) const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
/// The mask of every frame: none that is seen.
const MASK: [u8; 4] = [0; 4];

/// Opens a socket; returns its bare stream. Asks again where the limits are too short for the request.
pub(crate) fn open_stream(address: SocketAddr) -> TcpStream {
    let request = format!("GET /fixture/socket HTTP/1.1\r\nHost: a\r\n{UPGRADE}\r\n");
    let (stream, answer) = wait_for("a socket", || {
        let mut stream = send(address, &request);
        let answer = read_until(&mut stream, "\r\n\r\n");
        (!is_turned_away(&answer)).then_some((stream, answer))
    });
    assert_status(&answer, "101");
    let accept = "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
    assert!(answer.to_ascii_lowercase().contains(&accept.to_ascii_lowercase()), "{answer}");
    stream
}

pub(crate) fn open(address: SocketAddr) -> WebSocket<TcpStream> {
    WebSocket::from_raw_socket(open_stream(address), Role::Client, None)
}

fn assert_echoes(socket: &mut WebSocket<TcpStream>, text: &str) {
    socket.send(Message::text(text)).unwrap();
    let answer = std::iter::repeat_with(|| socket.read().unwrap()).find(Message::is_text);
    assert_eq!(answer, Some(Message::text(text)));
}

/// A frame of a client with its first byte as given.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[first, 0x80 | length], &MASK[..], payload].concat()
}

/// Reads until the end; returns the code that the server closed with.
pub(crate) fn close_code(mut socket: WebSocket<TcpStream>) -> Option<u16> {
    loop {
        match socket.read() {
            Ok(Message::Close(frame)) => return frame.map(|it| it.code.into()),
            Ok(_) => {}
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                panic!("the socket stays open")
            }
            Err(_) => return None,
        }
    }
}

#[test]
fn a_socket_outlives_every_deadline_of_requests() {
    let limits = TcpLimits {
        head_timeout: SHORT,
        idle: SHORT,
        handler_timeout: SHORT,
        handler_threads: 1,
        ..tcp_limits()
    };
    let (server, address, _held) = start_tcp(limits);
    let (mut first, mut second) = (open(address), open(address));
    for text in ["one", "two \u{e9}", &"x".repeat(60_000)] {
        assert_echoes(&mut first, text);
    }
    // A frame that takes longer than a head may.
    let [begin, rest] = [&frame(0x81, b"slow")[..1], &frame(0x81, b"slow")[1..]];
    first.get_mut().write_all(begin).unwrap();
    assert!(Notify::new().pause(SHORT * 4));
    assert_echoes(&mut second, "meanwhile");
    first.get_mut().write_all(rest).unwrap();
    assert_eq!(first.read().unwrap(), Message::text("slow"));
    // One thread answers everybody, so a socket has none.
    assert_status(&served(|| connect(address), &closing("/")), "200");
    let reason = CloseFrame { code: CloseCode::Normal, reason: "".into() };
    first.close(Some(reason)).unwrap();
    assert_eq!(close_code(first), Some(1000));
    server.stop(PATIENCE);
}

#[test]
fn what_breaks_the_rules_ends_the_socket_and_says_why() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let long = [&[0x81, 0xff][..], &65_537_u64.to_be_bytes(), &MASK, &[b'x'; 65_537]].concat();
    for (sent, code) in [
        (frame(0x82, b"binary"), 1003),
        (frame(0x81, &[0xff, 0xfe]), 1007),
        (frame(0xc1, b"compressed"), 1002),
        (frame(0x83, b"no such kind"), 1002),
        (frame(0x80, b"the rest of nothing"), 1002),
        (vec![0x81, 1, b'x'], 1002),
        (long, 1009),
        (frame(0x81, b"panic"), 1011),
        // Parts that hold nothing, and cost all the more.
        ([frame(0x01, b""), frame(0x00, b"").repeat(20_000)].concat(), 1009),
    ] {
        let mut socket = open(address);
        drop(socket.get_mut().write_all(&sent));
        assert_eq!(close_code(socket), Some(code), "{:?}", &sent[..sent.len().min(20)]);
    }
    wait_for_open(address, 0);
    server.stop(PATIENCE);
}

#[test]
fn a_message_that_does_not_come_to_its_end_ends_a_strict_socket() {
    let limits = TcpLimits { message_stall: SHORT, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    let whole = frame(0x81, b"slow");
    for sent in [&whole[..1], &whole[..8], &frame(0x01, b"a part")] {
        let mut socket = open(address);
        socket.send(Message::text("strict")).unwrap();
        assert_echoes(&mut socket, "as strict");
        socket.get_mut().write_all(sent).unwrap();
        assert_eq!(close_code(socket), Some(1008), "{sent:?}");
    }
    // One that comes slowly, and does come.
    let mut socket = open(address);
    socket.send(Message::text("strict")).unwrap();
    for byte in &frame(0x81, b"some twenty bytes in all") {
        socket.get_mut().write_all(&[*byte]).unwrap();
        assert!(Notify::new().pause(SHORT / 4));
    }
    assert_eq!(socket.read().unwrap(), Message::text("some twenty bytes in all"));
    server.stop(PATIENCE);
}

#[test]
fn a_session_says_what_the_next_message_is_held_to() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let mut socket = open(address);
    assert_echoes(&mut socket, &"x".repeat(60_000));
    socket.send(Message::text("strict")).unwrap();
    assert_echoes(&mut socket, &"x".repeat(16_000));
    drop(socket.send(Message::text("x".repeat(60_000))));
    assert_eq!(close_code(socket), Some(1009));
    server.stop(PATIENCE);
}

#[test]
fn a_handshake_that_is_none_is_refused() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let request = |line: &str, headers: &str| {
        format!("{line}\r\nHost: a\r\nConnection: close\r\n{headers}\r\n")
    };
    let get = "GET /fixture/socket HTTP/1.1";
    let without_key = UPGRADE.replace("Sec-WebSocket-Key", "X-Key");
    for (request, status) in [
        (request(get, ""), "426"),
        (request(get, "Upgrade: websocket\r\n"), "426"),
        (request(get, &UPGRADE.replace("13", "12")), "426"),
        (request(get, &without_key), "400"),
        (request("POST /fixture/socket HTTP/1.1", UPGRADE), "400"),
        (request(get, &format!("{UPGRADE}Content-Length: 1\r\n")), "413"),
        // HTTP/1.0 knows no upgrade.
        (request("GET /fixture/socket HTTP/1.0", UPGRADE), "426"),
    ] {
        let answer = talk(connect(address), &request);
        assert_status(&answer.replace("HTTP/1.0", "HTTP/1.1"), status);
    }
    wait_for_open(address, 0);
    server.stop(PATIENCE);
}

#[test]
fn a_peer_that_answers_no_ping_is_gone_and_one_that_does_is_not() {
    let limits = TcpLimits { keep_alive: SHORT, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    // It reads from the start, and to the end.
    let mut alive = open(address);
    let living = thread::spawn("alive", move || {
        let pings = std::iter::repeat_with(|| alive.read().unwrap());
        assert_eq!(pings.filter(Message::is_ping).take(8).count(), 8);
        assert_echoes(&mut alive, "still here");
    });
    let [gone, mut silent] = [0; 2].map(|_| open_stream(address));
    drop(gone);
    // Two pings and the end.
    let mut answer = Vec::new();
    silent.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, [0x89, 0, 0x89, 0]);
    living.unwrap().join().unwrap();
    wait_for_open(address, 0);
    server.stop(PATIENCE);
}

#[test]
fn a_peer_that_does_not_read_is_cut() {
    let limits = TcpLimits { write_stall: SHORT, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    let mut stuck = open_stream(address);
    stuck.set_write_timeout(Some(PATIENCE)).unwrap();
    let message = [&[0x81, 0xfe][..], &60_000_u16.to_be_bytes(), &MASK, &[b'x'; 60_000]].concat();
    // It ends with an error when the server has cut it, and never when it has not.
    let clean = (0..1_000).all(|_| stuck.write_all(&message).is_ok());
    assert!(!clean, "sixty megabytes wait for a peer that reads nothing");
    wait_for_open(address, 0);
    assert_status(&talk(connect(address), &closing("/")), "200");
    server.stop(PATIENCE);
}

#[test]
fn a_peer_that_asks_for_answers_and_reads_none_is_not_read_either() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let mut deaf = open_stream(address);
    deaf.set_write_timeout(Some(SHORT * 2)).unwrap();
    let pings = frame(0x89, &[b'x'; 125]).repeat(1_000);
    // What sockets take in between is far less.
    let all_sent = (0..500).all(|_| deaf.write_all(&pings).is_ok());
    assert!(
        !all_sent,
        "the answers to sixty megabytes of pings wait for a peer that reads nothing"
    );
    drop(deaf);
    wait_for_open(address, 0);
    server.stop(PATIENCE);
}

#[test]
fn an_unfinished_message_counts_until_its_end_whatever_comes_between() {
    let limits = TcpLimits { long_lived_bytes_max: 100_000, ..tcp_limits() };
    let (server, address, _held) = start_tcp(limits);
    let part = [&[0x01, 0xfe][..], &60_000_u16.to_be_bytes(), &MASK, &[b'x'; 60_000]].concat();
    let (mut first, mut second) = (open(address), open(address));
    first.get_mut().write_all(&part).unwrap();
    first.get_mut().write_all(&frame(0x89, b"ping")).unwrap();
    assert_eq!(first.read().unwrap(), Message::Pong("ping".into()));
    second.get_mut().write_all(&part).unwrap();
    assert_eq!(close_code(second), Some(1013));
    wait_for_open(address, 1);
    first.get_mut().write_all(&frame(0x89, b"still")).unwrap();
    assert_eq!(first.read().unwrap(), Message::Pong("still".into()));
    drop(first);
    wait_for_open(address, 0);
    assert_echoes(&mut open(address), &"x".repeat(40_000));
    server.stop(PATIENCE);
}

#[test]
fn a_message_that_takes_long_holds_up_no_other() {
    let (server, address, _held) = start_tcp(TcpLimits { handler_timeout: SHORT, ..tcp_limits() });
    let mut slow = open(address);
    slow.send(Message::text("wait")).unwrap();
    assert_eq!(close_code(slow), Some(1011));
    server.stop(PATIENCE);

    let (server, address, _held) = start_tcp(TcpLimits { messages_max: 2, ..tcp_limits() });
    let (mut slow, mut other) = (open(address), open(address));
    slow.send(Message::text("wait")).unwrap();
    assert_echoes(&mut other, "meanwhile");
    let stopping = thread::spawn("stopping", move || server.stop(PATIENCE)).unwrap();
    assert_eq!(close_code(slow), Some(1012));
    stopping.join().unwrap();
}

#[test]
fn what_was_sent_before_the_end_reaches_the_peer() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let mut socket = open(address);
    socket.send(Message::text("end")).unwrap();
    assert_eq!(socket.read().unwrap(), Message::text("farewell"));
    assert_eq!(close_code(socket), Some(4_000));
    server.stop(PATIENCE);
}

#[test]
fn a_stop_closes_sockets_and_does_not_wait_for_them() {
    let (server, address, _held) = start_tcp(tcp_limits());
    let socket = open(address);
    let _deaf = open_stream(address);
    wait_for_open(address, 2);
    // A stop that had to wait for either would take its whole grace.
    let stopping = thread::spawn("stopping", move || server.stop(PATIENCE * 100)).unwrap();
    assert_eq!(close_code(socket), Some(1012));
    stopping.join().unwrap();
}

#[test]
fn sockets_count_as_connections_to_their_end() {
    let (server, address, _held) = start_small(4, tcp_limits());
    let sockets = [0; 2].map(|_| open(address));
    let request = format!("GET /fixture/socket HTTP/1.1\r\nHost: a\r\n{UPGRADE}\r\n");
    assert_status(&read_until(&mut send(address, &request), "refused"), "503");
    // Two more are all; their requests are under way, so none of them makes room.
    let others = [0; 2].map(|_| half_sent(address));
    assert_eq!(talk(connect(address), &closing("/")), "");
    drop(others);
    drop(sockets);
    assert_status(&served(|| connect(address), &closing("/")), "200");
    wait_for_open(address, 0);
    server.stop(PATIENCE);
}

fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    stream
}
