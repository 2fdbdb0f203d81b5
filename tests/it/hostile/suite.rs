//! Every case on every surface: an answer it may get, no more answers than requests, the same
//! process afterwards, and every surface answers the next peer.

use std::collections::BTreeMap;

use svc::runtime::clock::{Clock as _, SystemClock};

use super::cases::{Case, Surface};
use super::probes::{Probes, assert_sound, endpoints};
use super::wire::exchange_messages;
use super::{framing, headers, request_line};
use crate::daemon::ask::Endpoint;
use crate::daemon::site::Site;

/// Fewer would mean that a table was lost.
const CASES_LEAST: usize = 200;

fn cases() -> Vec<Case> {
    [framing::cases(), request_line::cases(), headers::cases()].into_iter().flatten().collect()
}

/// Runs one case; returns what came, and what is wrong with that.
fn evaluate(endpoint: &Endpoint, surface: Surface, case: &Case) -> (String, Option<&'static str>) {
    let expected = case.expected(surface);
    let least = expected.iter().map(Vec::len).min().unwrap();
    let seen =
        exchange_messages(endpoint, &case.bytes(surface), (case.ends, case.head), least).unwrap();
    let mut words: Vec<String> = seen.statuses.iter().map(u16::to_string).collect();
    if seen.closed {
        words.push("closed".to_owned());
    }
    let told = seen.bytes.windows(4).any(|window| window == b"m4rk");
    let wrong = if !expected.contains(&seen.statuses) {
        Some("an unexpected answer")
    } else if !seen.clean && !seen.closed {
        Some("an answer without its end")
    } else if !seen.clean && !seen.bytes.is_empty() && least > 0 {
        Some("more than answers")
    } else if told {
        Some("an answer that repeats the request")
    } else {
        None
    };
    (words.join(" "), wrong)
}

fn hold(surface: Surface) {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    let mut daemon = site.start();
    let [public, operator, control] = endpoints(&daemon);
    let endpoint = match surface {
        Surface::Public => public,
        Surface::Operator => operator,
        Surface::Control => control,
    };
    let cases = cases();
    let clock = SystemClock::new();
    let (mut probes, mut failed) = (Probes::new(), Vec::new());
    let mut verdicts = BTreeMap::<String, usize>::new();
    for case in &cases {
        let (seen, wrong) = evaluate(&endpoint, surface, case);
        let verdict = wrong.map_or("holds", |wrong| wrong);
        println!("{surface:?}: {}: {seen}: {verdict}", case.name);
        if let Some(wrong) = wrong {
            let expected = case.expected(surface);
            failed.push(format!("{}: {seen}, not {expected:?}: {wrong}", case.name));
        }
        *verdicts.entry(seen).or_default() += 1;
        assert_sound(&mut daemon, &case.name);
        probes.ask_all(&daemon, &case.name);
    }
    println!(
        "{surface:?}: {} cases, {} failed, {:?}; {verdicts:?}; {}",
        cases.len(),
        failed.len(),
        clock.monotonic(),
        probes.verdict()
    );
    assert!(cases.len() >= CASES_LEAST);
    assert!(failed.is_empty(), "{surface:?}:\n{}", failed.join("\n"));
}

#[test]
fn every_case_holds_on_the_public_address() {
    hold(Surface::Public);
}

#[test]
fn every_case_holds_on_the_operator_address() {
    hold(Surface::Operator);
}

#[test]
fn every_case_holds_on_the_control_socket() {
    hold(Surface::Control);
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let mut names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}
