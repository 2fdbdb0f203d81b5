//! Peers that open streams and sockets and mean no good with them, of every kind at once. Each is bounded,
//! and webhooks are taken in meanwhile as ever.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;
use svc::runtime::notify::Notify;

use super::probes::{Held, Probes, assert_sound};
use super::wire::{Crowd, exchange_messages, reset};
use crate::daemon::ask::{Ask, Endpoint};
use crate::daemon::letters;
use crate::daemon::site::Site;
use crate::daemon::wait_within;
use crate::http_server::events::{open_count, wait_for_open};
use crate::http_server::web_sockets::{self, UPGRADE, frame};

/// Of each kind of peer.
const EACH: usize = 6;
/// Of each kind that takes a flood: no more than have room for all of it in the budget of a listener.
const FLOODED: usize = 2;
/// Longer than a peer that takes nothing is waited for.
const SECONDS: usize = 15;
/// Longer than our system waits for a peer's.
const BY_THE_SYSTEM: Duration = Duration::from_secs(40);

fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    stream
}

/// Asks for more than a peer takes, whose system keeps little for it: left to itself, it may take in all of a
/// flood for a peer that reads a byte a second.
fn ask_for_flood(address: SocketAddr) -> TcpStream {
    let stream = ask(address, "/fixture/flood");
    set_socket_recv_buffer_size(&stream, 4 << 10).unwrap();
    stream
}

#[test]
fn streams_and_sockets_that_mean_harm_are_bounded_and_webhooks_do_not_notice() {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    // Half of these for whatever lasts, and no more than the peers below need.
    site.set("SVC_PUBLIC_CONNECTIONS_MAX", &(2 * 5 * EACH).to_string());
    let mut daemon = site.start();
    let Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
    let (crowd, before, mut probes) = (Crowd::new(), Held::of(&daemon), Probes::new());
    let deaf: Vec<_> = (0..FLOODED).map(|_| ask_for_flood(address)).collect();
    let mut slow: Vec<_> = (0..FLOODED).map(|_| ask_for_flood(address)).collect();
    let mut late: Vec<_> = (0..EACH).map(|_| ask(address, "/fixture/late")).collect();
    let mut dribbling: Vec<_> = (0..EACH).map(|_| web_sockets::open_stream(address)).collect();
    wait_for_open(address, 2 * EACH + 2 * FLOODED);
    for second in 0..SECONDS {
        for stream in &mut slow {
            drop(stream.read(&mut [0]));
        }
        // A frame of 125 bytes, a byte a second. A daemon that has waited long enough for these peers may have cut them.
        let message = frame(0x81, &[b'x'; 125]);
        for stream in &mut dribbling {
            drop(stream.write_all(&message[second..=second]));
        }
        // What follows a request is not read while it waits for its answer.
        for stream in &mut late {
            drop(stream.write_all(b"G"));
        }
        let [half, gone] = [0; 2].map(|_| ask(address, "/fixture/ticks"));
        half.shutdown(Shutdown::Write).unwrap();
        reset(gone, &crowd).unwrap();
        for tenth in 0..10 {
            let number = second * 10 + tenth;
            probes.push(&daemon, &site.webhooks, number);
            assert!(Notify::new().pause(Duration::from_millis(100)));
        }
        drop(half);
    }
    let during = Held::of(&daemon);
    println!("streams and sockets that mean harm: {}; {before:?} to {during:?}", probes.verdict());
    during.assert_bounded(before, 200);
    // Once the others have gone, what is left are the peers that took nothing, or as good as nothing. They are cut: by us
    // where a stream waits for room, by our system where it has taken in all of one.
    drop(dribbling);
    wait_within(BY_THE_SYSTEM, "deaf and slow peers to be cut", || {
        drop(daemon.public.try_ask(&Ask::get("/fixture/release")));
        (open_count(address) == Some(0)).then_some(())
    });
    drop((deaf, slow, late));
    assert_sound(&mut daemon, "streams and sockets that mean harm");
}

#[test]
fn more_of_them_than_there_may_be_get_503_and_webhooks_have_the_rest() {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    site.set("SVC_PUBLIC_CONNECTIONS_MAX", "16");
    let daemon = site.start();
    let Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
    let streams: Vec<_> = (0..8).map(|_| ask(address, "/fixture/events")).collect();
    wait_for_open(address, 8);
    let upgrade = format!("GET /fixture/socket HTTP/1.1\r\nHost: localhost\r\n{UPGRADE}\r\n");
    for request in [
        "GET /fixture/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /fixture/late HTTP/1.1\r\nHost: localhost\r\n\r\n",
        &upgrade,
    ] {
        let seen =
            exchange_messages(&daemon.public, request.as_bytes(), (false, false), 1).unwrap();
        assert_eq!(seen.statuses, [503], "{request}");
    }
    for number in 0..20 {
        letters::push(&daemon, &site.webhooks, number);
    }
    // Over the control socket there is nothing that lasts, and no other protocol.
    for request in [&upgrade, "GET /fixture/events HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
        let seen =
            exchange_messages(&daemon.control, request.as_bytes(), (false, false), 1).unwrap();
        let expected = if request.contains("Upgrade") { 400 } else { 404 };
        assert_eq!(seen.statuses, [expected], "{request}");
    }
    drop(streams);
    wait_for_open(address, 0);
}
