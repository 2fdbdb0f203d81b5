//! Which failed deliveries the forge is asked to send again, every combination.

use std::fmt::Write as _;
use std::time::Duration;

use svc::domain::redelivery::{Decision, Facts, REQUESTS_MAX, WINDOW, decide};

use super::{NOW, check};

#[test]
fn redelivery() {
    let mut table = String::new();
    let ages = [("now", Duration::ZERO), ("3 days ago", WINDOW), ("earlier", WINDOW + TICK)];
    for (event, is_ours) in [("our event", true), ("another event", false)] {
        for (inbox, is_recorded) in [("not in the inbox", false), ("in the inbox", true)] {
            for (when, age) in ages {
                for (asked, request_count, requested_at) in requests() {
                    let delivered_at = NOW.minus(age);
                    let facts =
                        Facts { is_ours, delivered_at, is_recorded, request_count, requested_at };
                    let outcome = match decide(&facts, NOW) {
                        Decision::Ask => "ask".to_owned(),
                        Decision::Leave(why) => format!("leave it: {why}"),
                    };
                    writeln!(table, "{event}; {inbox}; failed {when}; {asked} -> {outcome}")
                        .unwrap();
                }
            }
        }
    }
    check("redelivery", &table);
}

const TICK: Duration = Duration::from_micros(1);

/// How often it was asked for, and when last: on both sides of each wait.
fn requests() -> Vec<(String, u32, Option<svc::domain::time::Timestamp>)> {
    let mut requests = vec![("never asked for".to_owned(), 0, None)];
    for (count, minutes) in (1..REQUESTS_MAX).zip([5, 15, 45, 135, 405, 1_215, 3_645]) {
        let wait = Duration::from_mins(minutes);
        let asked = format!("asked for {count} times, last");
        requests.push((format!("{asked} {minutes} min ago"), count, Some(NOW.minus(wait))));
        let lately = NOW.minus(wait - TICK);
        requests.push((format!("{asked} less than {minutes} min ago"), count, Some(lately)));
        requests.push((format!("{asked} in the future"), count, Some(NOW.plus(TICK))));
    }
    let long_ago = Some(NOW.minus(Duration::from_hours(10_000)));
    requests.push((
        format!("asked for {REQUESTS_MAX} times, last long ago"),
        REQUESTS_MAX,
        long_ago,
    ));
    requests
}
