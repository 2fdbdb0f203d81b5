//! Cards that mean harm, sent to be checked: each gets its verdict in time; many at once keep no other
//! request from being served, and what cannot be checked now is told so.

use std::thread::scope;

use svc::runtime::clock::{Clock as _, SystemClock};

use super::probes::{Probes, assert_sound};
use crate::cards::hostile::{BOUND, texts};
use crate::daemon::ask::{Answer, Ask, Endpoint};
use crate::daemon::site::Site;

const PATH: &str = "/api/v1/agent-cards/validate";
/// Peers that send cards without end.
const PEERS: usize = 12;
/// Requests of each.
const REQUESTS: usize = 6;

fn quiet() -> Site {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    site
}

fn check(endpoint: &Endpoint, media_type: &str, body: &str) -> Answer {
    endpoint.ask(&Ask::post(PATH).header("Content-Type", media_type).body(body))
}

#[test]
fn every_text_gets_its_verdict_in_time_on_both_surfaces() {
    let site = quiet();
    let mut daemon = site.start();
    for endpoint in daemon.operator_endpoints() {
        for text in texts() {
            let start: String = text.chars().take(60).collect();
            let clock = SystemClock::new();
            let one = check(&endpoint, "application/json", &text);
            assert!([200, 400].contains(&one.status), "{start}: {one:?}");
            let lines = check(&endpoint, "application/x-ndjson", &text);
            assert!([200, 413].contains(&lines.status), "{start}: {lines:?}");
            assert!(clock.monotonic() < 2 * BOUND, "{start}: {:?}", clock.monotonic());
        }
        assert_sound(&mut daemon, "cards that mean harm");
    }
}

#[test]
fn many_at_once_keep_no_other_from_being_served() {
    let site = quiet();
    let mut daemon = site.start();
    let text = texts().into_iter().max_by_key(String::len).unwrap();
    let [control, operator] = daemon.operator_endpoints();
    let mut probes = Probes::new();
    let mut statuses = scope(|scope| {
        let peers: Vec<_> = (0..PEERS)
            .map(|_| {
                let send = || (0..REQUESTS).map(|_| check(&operator, "application/json", &text));
                scope.spawn(move || send().collect::<Vec<_>>())
            })
            .collect();
        while peers.iter().any(|peer| !peer.is_finished()) {
            for endpoint in [&daemon.public, &operator, &control] {
                probes.ask_for("/health/ready", endpoint, "many cards");
            }
        }
        peers.into_iter().flat_map(|peer| peer.join().unwrap()).collect::<Vec<_>>()
    });
    println!("cards that mean harm, {PEERS} peers: {}", probes.verdict());
    statuses.retain(|answer| answer.status != 200 && answer.status != 400);
    for busy in statuses {
        busy.assert_problem(503, "unavailable", "");
        assert_eq!(busy.header("retry-after"), "1");
    }
    assert_sound(&mut daemon, "many cards that mean harm");
}
