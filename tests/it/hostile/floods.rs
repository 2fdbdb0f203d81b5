//! Many peers at once: resets, connections that say nothing, endless pipelines, and a daemon that
//! runs out of descriptors. One peer of good will is served meanwhile, and operators get through.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;

use super::PATIENCE;
use super::probes::{Held, Probes, assert_sound, endpoints};
use super::wire::{Crowd, Socket, reset};
use crate::daemon::ask::{Ask, Endpoint};
use crate::daemon::commit;
use crate::daemon::process::{Daemon, delivery};
use crate::daemon::site::{Site, svcd};

const HEAD: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: local";
const RESETS: usize = 3_000;
const SILENT: usize = 10_000;
const PROBES: usize = 30;
const WEBHOOKS: usize = 30;
/// The threads of the daemon, with one for each connection of the control socket.
const THREADS_MAX: usize = 96;

fn start() -> (Site, Daemon) {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    // Loopback is where the proxy is; here it is where the strangers are.
    site.set("SVC_TRUSTED_PROXIES", "192.0.2.0/24");
    site.set("SVC_PUBLIC_CONNECTIONS_MAX", "1024");
    let daemon = site.start();
    (site, daemon)
}

fn address(endpoint: &Endpoint) -> SocketAddr {
    match endpoint {
        Endpoint::Tcp(address) => *address,
        Endpoint::Unix(_) => panic!("no TCP"),
    }
}

/// One of many peers: 127.1.x.y.
fn stranger(number: usize) -> Ipv4Addr {
    let number = u32::try_from(number).unwrap();
    Ipv4Addr::from_bits(Ipv4Addr::new(127, 1, 0, 1).to_bits() + number)
}

/// Asks as the operator does, by the program and by the socket.
fn assert_operator_served(site: &Site, daemon: &Daemon, probes: &mut Probes, what: &str) {
    let url = format!("unix:{}", site.socket().display());
    let ended = site.svcctl(&url, &["status"]);
    assert_eq!(ended.code, Some(0), "during {what}: {ended:?}");
    for _ in 0..PROBES {
        probes.ask_for("/health/ready", &daemon.control, what);
    }
}

/// Sends webhooks one after the other; prints the time of the slowest answer.
fn assert_webhooks_pass(site: &Site, daemon: &Daemon, what: &str) {
    let mut slowest = Duration::ZERO;
    for number in 0..WEBHOOKS {
        let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
        let clock = SystemClock::new();
        let answer = daemon.public.try_ask(&delivery(&format!("during-{number}"), &push));
        assert_eq!(answer.map(|it| it.status).ok(), Some(202), "{what}: webhook {number}");
        slowest = slowest.max(clock.monotonic());
    }
    println!("{what}: {WEBHOOKS} webhooks answered, the slowest after {slowest:?}");
}

/// Waits until an endpoint serves again; returns how long that took.
fn recovery(endpoint: &Endpoint) -> Duration {
    let clock = SystemClock::new();
    while !endpoint.try_ask(&Ask::get("/health/live")).is_ok_and(|answer| answer.status == 200) {
        assert!(clock.monotonic() < PATIENCE, "{endpoint:?} is dead");
        assert!(Notify::new().pause(Duration::from_millis(20)));
    }
    clock.monotonic()
}

#[test]
fn early_resets_cost_nothing() {
    let (site, mut daemon) = start();
    let (crowd, before, mut probes) = (Crowd::new(), Held::of(&daemon), Probes::new());
    let endpoints = endpoints(&daemon);
    for number in 0..RESETS {
        let mut stream =
            crowd.connect(stranger(number % 50), address(&endpoints[number % 2])).unwrap();
        // After nothing, half a head, a whole request, a request and a half.
        let sent: &[u8] = match number % 4 {
            0 => b"",
            1 => HEAD,
            2 => b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n",
            _ => {
                b"POST /webhooks/forge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf"
            }
        };
        drop(stream.write_all(sent));
        reset(stream, &crowd).unwrap();
        // The same on the socket, where there is no reset but an end at once.
        if number % 10 == 0 {
            let mut socket = Socket::connect(&daemon.control).unwrap();
            drop(socket.write_all(sent));
        }
        if number % 100 == 0 {
            probes.ask_all(&daemon, "resets");
        }
    }
    assert_operator_served(&site, &daemon, &mut probes, "resets");
    assert_sound(&mut daemon, "resets");
    let held = Held::of(&daemon);
    println!("{RESETS} resets: {}; {before:?} to {held:?}", probes.verdict());
    held.assert_bounded(before, THREADS_MAX);
}

#[test]
fn ten_thousand_that_say_nothing_cost_nothing() {
    let (site, mut daemon) = start();
    let own = raise_descriptors();
    let silent = SILENT.min(own.saturating_sub(1_500));
    let (crowd, before, mut probes) = (Crowd::new(), Held::of(&daemon), Probes::new());
    let public = address(&daemon.public);
    let streams: Vec<TcpStream> = (0..silent)
        .map(|number| {
            // Ten addresses: each has its cap, and all of them leave room for others.
            let mut stream = crowd.connect(stranger(number % 10), public).unwrap();
            drop(stream.write_all(if number % 2 == 0 { HEAD } else { b"" }));
            stream
        })
        .collect();
    let during = Held::of(&daemon);
    for _ in 0..PROBES {
        probes.ask_all(&daemon, "silent peers");
    }
    assert_operator_served(&site, &daemon, &mut probes, "silent peers");
    assert_sound(&mut daemon, "silent peers");
    println!("{silent} silent peers: {}; {before:?} to {during:?}", probes.verdict());
    during.assert_bounded(before, THREADS_MAX);
    drop(streams);
    recovery(&daemon.public);
}

#[test]
fn a_full_listener_is_no_other_listener_and_opens_for_a_peer_that_speaks() {
    let (site, mut daemon) = start();
    let (crowd, before, mut probes) = (Crowd::new(), Held::of(&daemon), Probes::new());
    let public = address(&daemon.public);
    let silent = |number| {
        let mut stream = crowd.connect(stranger(number), public).unwrap();
        drop(stream.write_all(HEAD));
        stream
    };
    raise_descriptors();
    let mut streams: Vec<_> = (0..1_500).map(silent).collect();
    for _ in 0..PROBES {
        probes.ask_all(&daemon, "a full public listener");
        // More of them come all the time.
        streams.extend((streams.len()..streams.len() + 20).map(silent));
    }
    let push = site.webhooks.push_tag("v1", &commit(1));
    assert_eq!(daemon.deliver("through-the-crowd", &push).status, 202);
    assert_operator_served(&site, &daemon, &mut probes, "a full public listener");
    let during = Held::of(&daemon);
    println!("a full listener: {}; {before:?} to {during:?}", probes.verdict());
    during.assert_bounded(before, THREADS_MAX);
    assert_sound(&mut daemon, "a full public listener");
    drop(streams);
}

#[test]
fn idle_connections_keep_no_webhook_out() {
    let (site, mut daemon) = start();
    let crowd = Crowd::new();
    let public = address(&daemon.public);
    raise_descriptors();
    // 16 addresses are enough for every place; the 17th takes those that the daemon's own questions have freed.
    let streams: Vec<_> = (0..17)
        .map(|address| {
            let mut streams: Vec<_> =
                (0..64).map(|_| crowd.connect(stranger(address), public).unwrap()).collect();
            for stream in &mut streams {
                let asked = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
                // A few of them have made room.
                if stream.write_all(asked.as_bytes()).is_ok() {
                    drop(stream.read(&mut [0; 4 << 10]));
                }
            }
            streams
        })
        .collect();
    assert_webhooks_pass(&site, &daemon, "1,088 idle connections");
    assert_sound(&mut daemon, "idle connections");
    drop(streams);
}

#[test]
fn unfinished_bodies_leave_room_for_a_webhook() {
    let (site, mut daemon) = start();
    let crowd = Crowd::new();
    let public = address(&daemon.public);
    // Two addresses, each with all it may hold.
    let head =
        "POST /webhooks/forge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 25000000\r\n\r\n";
    let part = vec![b'x'; (64 << 20) / 3];
    let mut streams: Vec<_> = (0..6)
        .map(|number| {
            let mut stream = crowd.connect(stranger(number % 2), public).unwrap();
            // What is refused resets the connection.
            drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&part)));
            stream.set_nonblocking(true).unwrap();
            stream
        })
        .collect();
    let probe = "POST /webhooks/forge HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                 Content-Length: 2\r\n\r\nxx";
    // Until all has arrived: each then has all it may hold, or one of its bodies was refused.
    for number in 0..2 {
        let is_refused = |stream: &mut TcpStream| {
            let read = stream.read(&mut [0]);
            !read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        };
        while !streams.iter_mut().skip(number).step_by(2).any(is_refused) {
            let mut stream = crowd.connect(stranger(number), public).unwrap();
            let (mut answer, sent) = (String::new(), stream.write_all(probe.as_bytes()));
            drop((sent, stream.read_to_string(&mut answer)));
            if answer.starts_with("HTTP/1.1 503") {
                break;
            }
        }
    }
    assert_webhooks_pass(&site, &daemon, "128 MiB of unfinished bodies");
    assert_sound(&mut daemon, "unfinished bodies");
    drop(streams);
}

#[test]
fn without_descriptors_operators_get_through_and_no_listener_dies() {
    let limit = 128;
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    let mut command = site.command("/bin/sh");
    command.args(["-c", &format!("ulimit -n {limit} && exec {}", svcd())]);
    let mut daemon = Daemon::start(&mut command, site.socket()).unwrap();
    let (crowd, before, mut probes) = (Crowd::new(), Held::of(&daemon), Probes::new());
    let [public, operator, _] = endpoints(&daemon);
    let connect = |number: usize| {
        let endpoint = if number.is_multiple_of(3) { &operator } else { &public };
        let mut stream = crowd.connect(stranger(number), address(endpoint))?;
        stream.write_all(HEAD)?;
        io::Result::Ok(stream)
    };
    let streams: Vec<_> = (0..400).map(connect).collect();
    assert_operator_served(&site, &daemon, &mut probes, "a lack of descriptors");
    let during = Held::of(&daemon);
    assert!(during.descriptors < limit, "{during:?}");
    let recovered = [recovery(&public), recovery(&operator)];
    println!(
        "{limit} descriptors: {}; {before:?} to {during:?}; served again after {recovered:?}",
        probes.verdict()
    );
    during.assert_bounded(before, THREADS_MAX);
    assert_sound(&mut daemon, "a lack of descriptors");
    drop(streams);
}

#[test]
fn endless_pipelines_are_not_read_ahead() {
    let (site, mut daemon) = start();
    let (crowd, before, mut probes) = (Crowd::new(), Held::of(&daemon), Probes::new());
    let endpoints = endpoints(&daemon);
    let request = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500);
    let mut streams: Vec<_> = (0..16)
        .map(|number| {
            let stream = crowd.connect(stranger(number), address(&endpoints[number % 2])).unwrap();
            stream.set_nonblocking(true).unwrap();
            stream
        })
        .collect();
    let (clock, mut sent) = (SystemClock::new(), 0);
    while clock.monotonic() < Duration::from_secs(4) {
        for stream in &mut streams {
            sent += stream.write(&request).unwrap_or(0);
        }
        probes.ask_all(&daemon, "pipelines");
        assert!(Notify::new().pause(Duration::from_millis(20)));
    }
    assert_operator_served(&site, &daemon, &mut probes, "pipelines");
    let during = Held::of(&daemon);
    println!("{sent} bytes of pipelines: {}; {before:?} to {during:?}", probes.verdict());
    during.assert_bounded(before, THREADS_MAX);
    assert_sound(&mut daemon, "pipelines");
}

/// Allows this process as many descriptors as it may have; returns how many.
fn raise_descriptors() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let raised = setrlimit(Resource::Nofile, limit);
    println!("raising the limit of descriptors: {raised:?}");
    let current = getrlimit(Resource::Nofile).current;
    current.map_or(usize::MAX, |current| usize::try_from(current).unwrap_or(usize::MAX))
}
