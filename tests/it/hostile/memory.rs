//! What the daemon takes at most while large bodies arrive, and what it keeps of it afterwards.
//!
//! `cargo test --test it hostile::memory -- --nocapture` prints a table; `SVC_MEMORY_ROUNDS=10` is a campaign. The bounds
//! hold for a debug build too: what counts are bodies and what is made of them, not the size of the program.

use std::fs;
use std::thread::scope;

use svc::simulator::sign;

use super::probes::{Held, assert_sound};
use crate::daemon::ask::{Ask, Endpoint};
use crate::daemon::process::Daemon;
use crate::daemon::site::Site;
use crate::daemon::wait_for;
use crate::support::campaign::number_or;

const MIB: usize = 1 << 20;
/// A large card. The largest are 16 MiB, for which a debug build takes ten seconds; one of 6 MiB takes too many where
/// the machine is shared.
const CARD: usize = if cfg!(debug_assertions) { 2 * MIB } else { 6 * MIB };
/// A webhook that is nearly as large as is read.
const WEBHOOK: usize = 24 * MIB;
/// Peers at once.
const PEERS: usize = 8;
/// How often each flood comes.
const ROUNDS: usize = 1;

/// A flood: how it is called, and one round of it.
struct Flood {
    name: &'static str,
    round: fn(&Daemon),
    /// What it may take at most beside [`KEPT_MAX`], in MiB.
    over_kept_max: usize,
}

/// What is kept after a flood may be so many MiB: the program, its threads, the cache of the database, and the
/// allocator's small blocks. It was 29 when this was written, and 24 before the first flood.
const KEPT_MAX: usize = 48;

const FLOODS: &[Flood] = &[
    // The card, and 24 bytes for each of its names, of six bytes, in a vector that doubles when it is full.
    Flood { name: "one card of duplicate names", round: one_card, over_kept_max: 8 * CARD / MIB },
    // Two are checked at once, and the bodies of others wait.
    Flood { name: "large cards, 8 at once", round: cards, over_kept_max: 21 * CARD / MIB },
    // All bodies together may take 128 MiB.
    Flood { name: "forged webhooks, 8 at once", round: forged, over_kept_max: 176 },
];

/// Returns an object of `member`s that is as large as a card may be.
fn object(member: impl Fn(usize) -> String) -> String {
    let mut text = "{".to_owned();
    for number in 0.. {
        if text.len() >= CARD {
            break;
        }
        text.push_str(&member(number));
    }
    text.push_str("\"last\":0}");
    text
}

/// Sends a card to be checked; returns whether it was. Otherwise it was turned away, or its turn did not come.
fn check(endpoint: &Endpoint, card: &str) -> bool {
    let ask = Ask::post("/api/v1/agent-cards/validate").header("Content-Type", "application/json");
    endpoint.try_ask(&ask.body(card)).is_ok_and(|answer| answer.status == 200)
}

fn one_card(daemon: &Daemon) {
    let [_, operator] = daemon.operator_endpoints();
    assert!(check(&operator, &object(|_| "\"a\":0,".to_owned())));
}

fn cards(daemon: &Daemon) {
    let [control, operator] = daemon.operator_endpoints();
    let same = object(|_| "\"a\":0,".to_owned());
    let others = object(|number| format!("\"{number}\":0,"));
    let strings = object(|number| format!("\"s{}\":\"{}\",", number % 7, "x".repeat(900)));
    let texts = [same, others, strings];
    let checked = scope(|scope| {
        let peer = |number: usize| {
            let endpoint = if number.is_multiple_of(2) { &control } else { &operator };
            let text = &texts[number % texts.len()];
            scope.spawn(move || check(endpoint, text))
        };
        let peers: Vec<_> = (0..PEERS).map(peer).collect();
        peers.into_iter().filter_map(|peer| peer.join().unwrap().then_some(())).count()
    });
    assert!(checked > 0, "none of {PEERS}");
}

fn forged(daemon: &Daemon) {
    let body = vec![b' '; WEBHOOK];
    let ask = Ask::post("/webhooks/forge")
        .header("Content-Type", "application/json")
        .header("X-GitHub-Event", "push")
        .header("X-GitHub-Delivery", "forged")
        .header("X-Hub-Signature-256", sign("a wrong secret", &body))
        .body(&body);
    scope(|scope| {
        for _ in 0..PEERS {
            // Some are turned away while bodies take what they may.
            scope.spawn(|| drop(daemon.public.try_ask(&ask)));
        }
    });
}

#[test]
fn memory_is_bounded_in_a_flood_and_given_back_after_it() {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    let mut daemon = site.start();
    let begin = Held::of(&daemon).rss_kib >> 10;
    println!("{:40} {:>9} {:>9} MiB", "", "peak", "kept");
    println!("{:40} {:>9} {begin:>9}", "at rest", "");
    for flood in FLOODS {
        // From here on the peak is that of this flood.
        fs::write(format!("/proc/{}/clear_refs", daemon.pid().as_raw_nonzero()), "5").unwrap();
        for _ in 0..number_or("SVC_MEMORY_ROUNDS", ROUNDS) {
            (flood.round)(&daemon);
        }
        let peak = Held::peak_kib(&daemon) >> 10;
        let kept = || Held::of(&daemon).rss_kib >> 10;
        assert!(peak <= KEPT_MAX + flood.over_kept_max, "{}: {peak} MiB at most", flood.name);
        // An answer can arrive before its handler has let go of the body.
        wait_for("memory to be given back", || (kept() <= KEPT_MAX).then_some(()));
        println!("{:40} {peak:>9} {:>9}", flood.name, kept());
    }
    assert_sound(&mut daemon, "floods");
}
