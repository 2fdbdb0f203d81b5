//! The policy, a line a signal, and a small script for each: what its gate makes of values that come
//! one after the other.

use std::fmt::Write as _;
use std::time::Duration;

use svc::domain::slo::{
    Evaluator, Gate, Now, POLICY, POLICY_VERSION, Reading, Rule, Side, Signal, SignalState,
    Snapshot, Turn,
};

use super::{NOW, check};

/// Between two snapshots of a script, where it does not matter.
const NEXT: u64 = 15;
/// Counts of a script go on from here: what was before the first snapshot does not count.
const BEFORE: u64 = 1_000;

/// A step: what it shows, seconds since the step before, and the level then.
type Step = (String, u64, Option<u64>);

#[test]
fn slo() {
    let mut table = format!("policy {POLICY_VERSION}\n");
    for rule in &POLICY {
        writeln!(table, "{}", row(rule)).unwrap();
    }
    for rule in &POLICY {
        play(&mut table, rule);
    }
    check("slo", &table);
}

fn row(rule: &Rule) -> String {
    let gate = match rule.gate {
        Gate::Duration(time) => format!("for {} s", time.as_secs()),
        Gate::Consecutive(count) => format!("in {count} snapshots in a row"),
        Gate::Trend(time) => format!("rise over {} s, in each half", time.as_secs()),
        Gate::Volume(time) => format!("within {} s", time.as_secs()),
    };
    let (bad, healthy) = match rule.side {
        Side::High => (">=", "<="),
        Side::Low => ("<=", ">="),
    };
    format!(
        "{}; {}; {}; fires at {bad} {} {} {gate}, recovers at {healthy} {}; {}",
        rule.signal.as_str(),
        rule.severity.as_str(),
        rule.gate.kind(),
        rule.threshold,
        rule.unit.as_str(),
        rule.healthy,
        rule.owner,
    )
}

/// Plays a rule's script, and then a restart in the middle of it.
fn play(table: &mut String, rule: &Rule) {
    let name = rule.signal.as_str();
    let (mut evaluator, mut now) = (Evaluator::default(), 0);
    let mut at_restart = None;
    for (what, later, level) in script(rule) {
        now += later;
        let outcome = step(&mut evaluator, rule.signal, level, now);
        writeln!(table, "{name}; {what} -> {outcome}").unwrap();
        if outcome == "firing" {
            at_restart = Some((now, level));
        }
    }
    let (fired, level) = at_restart.unwrap();
    let mut restarted = Evaluator::default();
    let level = match rule.gate {
        Gate::Duration(_) | Gate::Consecutive(_) => Some(rule.healthy),
        Gate::Trend(_) | Gate::Volume(_) => level,
    };
    let outcome = step(&mut restarted, rule.signal, level, fired + NEXT);
    writeln!(table, "{name}; a restart while it fires, then a healthy value -> {outcome}").unwrap();
}

fn step(evaluator: &mut Evaluator, signal: Signal, level: Option<u64>, second: u64) -> String {
    let now = Now { wall: NOW, monotonic: Duration::from_secs(second) };
    let transitions = evaluator.evaluate(&snapshot(signal, level), now);
    let report = evaluator.report();
    let state = report.signals.iter().find(|status| status.rule.signal == signal).unwrap().state;
    match transitions.as_slice() {
        [] => format!("nothing, {}", state.as_str()),
        [one] => {
            assert_eq!(one.rule.signal, signal);
            let (word, then) = match one.turn {
                Turn::Firing => ("firing", SignalState::Firing),
                Turn::Recovered => ("recovered", SignalState::Inactive),
            };
            assert_eq!(state, then);
            word.to_owned()
        }
        several => panic!("{several:?}"),
    }
}

fn script(rule: &Rule) -> Vec<Step> {
    let bad = rule.threshold;
    let not_bad = match rule.side {
        Side::High => bad - 1,
        Side::Low => bad + 1,
    };
    match rule.gate {
        Gate::Duration(time) => duration(time.as_secs(), bad, not_bad, rule.healthy),
        Gate::Consecutive(count) => consecutive(count, bad, not_bad, rule.healthy),
        Gate::Trend(time) => trend(time.as_secs(), bad),
        Gate::Volume(time) => volume(time.as_secs(), bad, not_bad),
    }
}

fn duration(time: u64, bad: u64, not_bad: u64, healthy: u64) -> Vec<Step> {
    vec![
        said("not bad", NEXT, not_bad),
        said("bad for 0 s", NEXT, bad),
        said("not bad in between", NEXT, not_bad),
        said("bad for 0 s again", NEXT, bad),
        said(&format!("bad for {} s", time - 1), time - 1, bad),
        said("the gate holds for the first time", 1, bad),
        said("the gate still holds", NEXT, bad),
        silent(),
        said("neither bad nor healthy", NEXT, not_bad),
        said("a healthy value", NEXT, healthy),
        said("healthy again", NEXT, healthy),
    ]
}

fn consecutive(count: u32, bad: u64, not_bad: u64, healthy: u64) -> Vec<Step> {
    let almost = |which: &str| {
        let which = which.to_owned();
        (1..count).map(move |number| said(&format!("bad snapshot {number}{which}"), NEXT, bad))
    };
    let mut steps = vec![said("not bad", NEXT, not_bad)];
    steps.extend(almost(""));
    steps.push(said("not bad in between", NEXT, not_bad));
    steps.extend(almost(" of the next row"));
    steps.extend([
        said("the gate holds for the first time", NEXT, bad),
        said("the gate still holds", NEXT, bad),
        silent(),
        said("neither bad nor healthy", NEXT, not_bad),
        said("a healthy value", NEXT, healthy),
        said("healthy again", NEXT, healthy),
    ]);
    steps
}

fn volume(time: u64, bad: u64, not_bad: u64) -> Vec<Step> {
    let early = BEFORE + not_bad;
    let late = early + bad;
    vec![
        said("the first snapshot", NEXT, BEFORE),
        said(&format!("{not_bad} within {time} s"), NEXT, early),
        said(
            &format!("{} more, twice that time later", not_bad.min(1)),
            2 * time,
            early + not_bad.min(1),
        ),
        said("the gate holds for the first time", NEXT, late),
        said("the gate still holds", NEXT, late + 1),
        silent(),
        said("a healthy value", 2 * time, late + 1),
        said("healthy again", NEXT, late + 1),
    ]
}

fn trend(time: u64, bad: u64) -> Vec<Step> {
    vec![
        said("the first snapshot", NEXT, BEFORE),
        said("risen by half, after half the time", time / 2, BEFORE + bad / 2),
        said("risen by all, before the time is over", time / 2 - 1, BEFORE + bad),
        said("the gate holds for the first time", 1, BEFORE + bad),
        said("the gate still holds", time / 2, BEFORE + 2 * bad),
        silent(),
        said("it rises less", time, BEFORE + 2 * bad + 1),
        said("a healthy value", time, BEFORE + 2 * bad + 1),
        said("healthy again", NEXT, BEFORE + 2 * bad),
        said("a jump", 2 * time, BEFORE + 9 * bad),
        said("it stays there", time / 2, BEFORE + 9 * bad),
    ]
}

fn said(what: &str, later: u64, level: u64) -> Step {
    (what.to_owned(), later, Some(level))
}

fn silent() -> Step {
    ("no value while it fires".to_owned(), NEXT, None)
}

/// A snapshot with one level and no other.
fn snapshot(signal: Signal, level: Option<u64>) -> Snapshot {
    let mut snapshot = Snapshot::MISSING;
    let slot = match signal {
        Signal::OldestJob => &mut snapshot.oldest_job_seconds,
        Signal::OldestInbox => &mut snapshot.oldest_inbox_seconds,
        Signal::DeadLetters => &mut snapshot.dead_letters,
        Signal::LeaseExpiries => &mut snapshot.lease_expiries,
        Signal::ReconciliationOverdue => &mut snapshot.reconciliation_overdue_seconds,
        Signal::PublicationFailures => &mut snapshot.publication_failures,
        Signal::LookupFailures => &mut snapshot.lookup_failures,
        Signal::WebhookRejections => &mut snapshot.webhook_rejections,
        Signal::DatabaseBusy => &mut snapshot.database_busy_seconds,
        Signal::DiskFree => &mut snapshot.disk_free_bytes,
        Signal::OpenDeadLetters => &mut snapshot.oldest_dead_letter_seconds,
        Signal::GivenUp => &mut snapshot.given_up,
        Signal::BacklogGrowth => {
            return Snapshot { backlog: Reading::from(level), ..snapshot };
        }
    };
    *slot = level;
    snapshot
}
