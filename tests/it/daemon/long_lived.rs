//! Streams and WebSockets of the real daemon, with its own limits: they live on, they end when it stops, and
//! thousands of them cost webhooks nothing and leave nothing behind.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::process::{Resource, Signal, getrlimit, setrlimit};
use svc::runtime::notify::Notify;
use tokio_tungstenite::tungstenite::Message;

use super::ask::Endpoint;
use super::process::Daemon;
use super::site::Site;
use super::{letters, say};
use crate::hostile::probes::{Held, Probes};
use crate::http_server::events::{self, wait_for_open};
use crate::http_server::web_sockets::{self, close_code, frame};

/// Half of the connections there may be, and as many as there may be of answers that last.
const MANY: u16 = 2_000;

fn address(daemon: &Daemon) -> SocketAddr {
    match &daemon.public {
        Endpoint::Tcp(address) => *address,
        Endpoint::Unix(_) => panic!("no TCP"),
    }
}

#[test]
fn a_stream_and_a_socket_that_receive_a_byte_live_on_for_twenty_seconds() {
    let site = Site::new();
    let daemon = site.start();
    let address = address(&daemon);
    let mut stream = events::open_stream(address, "/fixture/ticks");
    let mut socket = web_sockets::open(address);
    let message = frame(0x81, b"slow");
    let (first, rest) = message.split_at(1);
    stream.write_all(b"G").unwrap();
    socket.get_mut().write_all(first).unwrap();
    assert!(Notify::new().pause(Duration::from_secs(20)));
    socket.get_mut().write_all(rest).unwrap();
    let echo = std::iter::repeat_with(|| socket.read().unwrap()).find(Message::is_text);
    assert_eq!(echo, Some(Message::text("slow")));
    let mut ticks = [0; 15 * 17];
    stream.read_exact(&mut ticks).unwrap();
    assert_eq!(ticks.as_slice(), b"C\r\ndata: tick\n\n\r\n".repeat(15));
}

#[test]
fn a_stop_tells_streams_and_sockets_and_does_not_wait_for_them() {
    let mut site = Site::new();
    // Longer than the end is waited for.
    site.set("SVC_STOP_SECONDS", "60");
    let mut daemon = site.start();
    let address = address(&daemon);
    let mut stream = events::open_stream(address, "/fixture/events");
    let socket = web_sockets::open(address);
    let deaf = web_sockets::open_stream(address);
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("event: stopped\n"), "{rest:?}");
    assert_eq!(close_code(socket), Some(1012));
    drop(deaf);
    assert!(!daemon.log().contains("handlers_left"), "{}", daemon.log());
}

#[test]
fn thousands_of_streams_and_sockets_leave_webhooks_alone_and_nothing_behind() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    let daemon = site.start();
    let address = address(&daemon);
    let mut webhooks = 0;
    let mut push = || {
        letters::push(&daemon, &site.webhooks, webhooks);
        webhooks += 1;
    };
    push();
    let (before, mut probes, mut after) = (Held::of(&daemon), Probes::new(), Vec::new());
    for round in 0..10 {
        let open = |_| -> TcpStream {
            match round % 2 {
                0 => events::open_stream(address, "/fixture/ticks"),
                _ => web_sockets::open_stream(address),
            }
        };
        let peers: Vec<TcpStream> = (0..MANY).map(open).collect();
        wait_for_open(address, usize::from(MANY));
        for _ in 0..10 {
            push();
            probes.ask(&daemon.public, "many peers");
            assert!(Notify::new().pause(Duration::from_millis(100)));
        }
        let during = Held::of(&daemon);
        // A call to the forge may have one, for as long as it takes.
        assert!(during.threads < before.threads + 20, "{during:?}, before {before:?}");
        assert!(during.descriptors >= usize::from(MANY), "{during:?}");
        drop(peers);
        wait_for_open(address, 0);
        let held = Held::of(&daemon);
        say(&format!("{MANY} of round {round}: {before:?}, then {during:?}, then {held:?}"));
        assert!(held.descriptors < before.descriptors + 20, "{held:?}, before {before:?}");
        after.push(held.rss_kib);
    }
    say(&probes.verdict());
    // What the allocator keeps of the first ones is nearly enough for all that follow: it grows less and less, and by
    // less than half a KiB for each of the last.
    assert!(after[9] < after[7] + (2 << 10), "{after:?}");
}
