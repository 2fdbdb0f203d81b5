//! Peers that are slow on purpose, in every way there is, some of each on every surface at once. Each
//! is cut by its deadline, whether it drips or stops, and no other peer waits for it.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::Ipv4Addr;
use std::time::Duration;

use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;

use super::probes::{Held, Probes, assert_sound, endpoints};
use super::wire::{Crowd, Socket};
use crate::daemon::TOKEN;
use crate::daemon::ask::Endpoint;
use crate::daemon::site::Site;

/// Of each kind on each TCP surface.
const EACH: usize = 12;
/// Of each kind on the control socket, which has fewer places.
const EACH_ON_CONTROL: usize = 3;
/// How often a dripping peer sends a byte.
const DRIP: Duration = Duration::from_millis(250);
/// The longest deadline is that of bodies; a peer that reads nothing has its own from its last byte.
const CUT_WITHIN: Duration = Duration::from_secs(30);

/// What a slow peer sends at once, and then in drips.
#[derive(Clone)]
struct Kind {
    name: &'static str,
    first: Vec<u8>,
    drip: &'static [u8],
    within: Duration,
}

fn kinds() -> Vec<Kind> {
    let post = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Idempotency-Key: slow\r\n",
        "/api/v1/operator/installations/4711/dead-letters/job/0199f3a0-0000-7000-8000-00000000000a/replay"
    );
    let webhook = "POST /webhooks/forge HTTP/1.1\r\nHost: localhost\r\n".to_owned();
    let body = |lines: &str| [post.as_str(), lines, "\r\n\r\n"].concat().into_bytes();
    let hook = |lines: &str| [webhook.as_str(), lines, "\r\n\r\n"].concat().into_bytes();
    // Deadlines of heads are 5 s, of bodies 15 s; a lingering end and a busy machine have the rest.
    let (head, whole) = (Duration::from_secs(9), Duration::from_secs(21));
    let kind = |name, first: Vec<u8>, drip, within| Kind { name, first, drip, within };
    vec![
        kind("says nothing", Vec::new(), b"", head),
        kind("stops in the first line", b"GET /heal".to_vec(), b"", head),
        kind("drips the first line", b"GET /".to_vec(), b"a", head),
        kind("stops in a header", b"GET / HTTP/1.1\r\nHost: loc".to_vec(), b"", head),
        kind("drips a header", b"GET / HTTP/1.1\r\nHost: ".to_vec(), b"a", head),
        kind("drips headers", b"GET / HTTP/1.1\r\nHost: a\r\n".to_vec(), b"X:y\r\n", head),
        kind("drips empty lines", Vec::new(), b"\r\n", head),
        kind("stops in a small body", body("Content-Length: 9"), b"", whole),
        kind("drips a body", body("Content-Length: 4000"), b"a", whole),
        kind("stops in a large body", hook("Content-Length: 20000000"), b"", whole),
        kind("drips a large body", hook("Content-Length: 20000000"), b"a", whole),
        kind("waits to be told", hook("Expect: 100-continue\r\nContent-Length: 9"), b"", whole),
    ]
}

struct Peer {
    kind: Kind,
    socket: Socket,
    cut_after: Option<Duration>,
}

impl Peer {
    /// Sends the next drip, and looks whether the server has had enough.
    fn step(&mut self, now: Duration) {
        if self.cut_after.is_some() {
            return;
        }
        let sent = match self.socket.write_all(self.kind.drip) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
        let mut buffer = [0; 4 << 10];
        let read = loop {
            match self.socket.read(&mut buffer) {
                Ok(count) if count > 0 => {}
                other => break other,
            }
        };
        let waits = matches!(&read, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        if sent.is_err() || !waits {
            self.cut_after = Some(now);
        }
    }
}

fn gather(endpoints: &[Endpoint; 3]) -> Vec<Peer> {
    let crowd = Crowd::new();
    let mut peers = Vec::new();
    for (surface, endpoint) in endpoints.iter().enumerate() {
        for (number, kind) in kinds().into_iter().enumerate() {
            let count = match endpoint {
                Endpoint::Tcp(_) => EACH,
                // So many at once that operators are left some.
                Endpoint::Unix(_) if number % 2 == 0 => EACH_ON_CONTROL,
                Endpoint::Unix(_) => 1,
            };
            for _ in 0..count {
                let from = Ipv4Addr::new(
                    127,
                    2,
                    u8::try_from(surface).unwrap(),
                    u8::try_from(number + 1).unwrap(),
                );
                let mut socket = match endpoint {
                    Endpoint::Tcp(address) => Socket::Tcp(crowd.connect(from, *address).unwrap()),
                    Endpoint::Unix(_) => Socket::connect(endpoint).unwrap(),
                };
                socket.write_all(&kind.first).unwrap();
                socket.never_wait().unwrap();
                peers.push(Peer { kind: kind.clone(), socket, cut_after: None });
            }
        }
    }
    peers
}

#[test]
fn slow_peers_are_cut_and_no_other_waits_for_them() {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    site.set("SVC_TRUSTED_PROXIES", "192.0.2.0/24");
    let mut daemon = site.start();
    let url = format!("unix:{}", site.socket().display());
    let (before, mut during) = (Held::of(&daemon), Held::of(&daemon));
    let endpoints = endpoints(&daemon);
    let (mut probes, clock) = (Probes::new(), SystemClock::new());
    let mut peers = gather(&endpoints);
    let mut rounds = 0;
    while peers.iter().any(|peer| peer.cut_after.is_none()) && clock.monotonic() < CUT_WITHIN {
        for peer in &mut peers {
            peer.step(clock.monotonic());
        }
        probes.ask_all(&daemon, "slow peers");
        if rounds % 8 == 0 {
            let ended = site.svcctl(&url, &["status"]);
            assert_eq!(ended.code, Some(0), "during slow peers: {ended:?}");
            let now = Held::of(&daemon);
            during = if now.threads > during.threads { now } else { during };
        }
        rounds += 1;
        assert!(Notify::new().pause(DRIP));
    }
    let mut worst = BTreeMap::new();
    for peer in &peers {
        let cut_after = peer.cut_after.unwrap_or(Duration::MAX);
        let longest = worst.entry(peer.kind.name).or_insert((Duration::ZERO, peer.kind.within));
        longest.0 = longest.0.max(cut_after);
    }
    for (name, (longest, within)) in &worst {
        println!("a peer that {name}: cut after {longest:?}, bound {within:?}");
    }
    println!("{} slow peers: {}; {before:?} to {during:?}", peers.len(), probes.verdict());
    during.assert_bounded(before, 96);
    assert_sound(&mut daemon, "slow peers");
    let late: Vec<_> = worst.iter().filter(|(_, (longest, within))| longest > within).collect();
    assert!(late.is_empty(), "{late:?}");
}

#[test]
fn who_does_not_read_its_answers_is_cut() {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    site.set("SVC_TRUSTED_PROXIES", "192.0.2.0/24");
    let mut daemon = site.start();
    let (crowd, before, mut probes) = (Crowd::new(), Held::of(&daemon), Probes::new());
    let [_, operator, _] = endpoints(&daemon);
    let Endpoint::Tcp(address) = operator else { panic!("no TCP") };
    // An answer of some size, asked for again and again.
    let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500);
    let mut sockets: Vec<_> = (0..8)
        .map(|number| {
            let stream = crowd.connect(Ipv4Addr::new(127, 3, 0, number + 1), address).unwrap();
            stream.set_nonblocking(true).unwrap();
            Some(stream)
        })
        .collect();
    let clock = SystemClock::new();
    while sockets.iter().any(Option::is_some) {
        assert!(clock.monotonic() < Duration::from_secs(40), "a peer that never reads is kept");
        for socket in &mut sockets {
            let Some(stream) = socket else { continue };
            let sent = stream.write(&request);
            if sent.is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock) {
                *socket = None;
            }
        }
        probes.ask_all(&daemon, "unread answers");
        assert!(Notify::new().pause(Duration::from_millis(20)));
    }
    let held = Held::of(&daemon);
    println!(
        "8 unread answers: all cut after {:?}: {}; {before:?} to {held:?}",
        clock.monotonic(),
        probes.verdict()
    );
    held.assert_bounded(before, 96);
    assert_sound(&mut daemon, "unread answers");
}
