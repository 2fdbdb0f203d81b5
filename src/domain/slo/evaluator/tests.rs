use proptest::prelude::*;

use super::*;
use crate::domain::slo::Signal;

fn at(second: u64) -> Now {
    let wall = Timestamp::from_micros(1_795_251_600_000_000);
    Now { wall: wall.plus(Duration::from_secs(second)), monotonic: Duration::from_secs(second) }
}

fn jobs(seconds: Option<u64>) -> Snapshot {
    Snapshot { oldest_job_seconds: seconds, ..Snapshot::MISSING }
}

fn turns(evaluator: &mut Evaluator, snapshot: &Snapshot, now: Now) -> Vec<Turn> {
    evaluator.evaluate(snapshot, now).iter().map(|transition| transition.turn).collect()
}

fn status(evaluator: &Evaluator, signal: Signal) -> SignalStatus {
    *evaluator.report().signals.iter().find(|status| status.rule.signal == signal).unwrap()
}

#[test]
fn nothing_is_known_before_the_first_snapshot() {
    let report = Evaluator::default().report();
    assert_eq!((report.evaluated_at, report.health()), (None, Health::Healthy));
    assert!(report.signals.iter().all(|status| status.since.is_none() && status.value.is_none()));
}

#[test]
fn a_duration_is_measured_from_the_first_bad_value() {
    let mut evaluator = Evaluator::default();
    assert!(evaluator.evaluate(&jobs(Some(300)), at(0)).is_empty());
    assert_eq!(status(&evaluator, Signal::OldestJob).state, SignalState::Pending);
    assert!(evaluator.evaluate(&jobs(Some(299)), at(30)).is_empty());
    assert!(evaluator.evaluate(&jobs(Some(400)), at(45)).is_empty());
    assert!(evaluator.evaluate(&jobs(Some(400)), at(104)).is_empty());
    assert_eq!(turns(&mut evaluator, &jobs(Some(400)), at(105)), [Turn::Firing]);
    let report = evaluator.report();
    assert_eq!(report.health(), Health::Critical);
    assert_eq!(status(&evaluator, Signal::OldestJob).since, Some(at(105).wall));
    assert!(evaluator.evaluate(&jobs(Some(61)), at(120)).is_empty(), "better is not healthy");
    assert_eq!(turns(&mut evaluator, &jobs(Some(60)), at(135)), [Turn::Recovered]);
    assert_eq!(evaluator.report().health(), Health::Healthy);
}

#[test]
fn a_missing_value_neither_fires_nor_recovers_nor_forgets() {
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&jobs(Some(300)), at(0));
    assert!(evaluator.evaluate(&jobs(None), at(60)).is_empty());
    assert_eq!(turns(&mut evaluator, &jobs(Some(300)), at(75)), [Turn::Firing]);
    assert!(evaluator.evaluate(&jobs(None), at(90)).is_empty());
    assert_eq!(status(&evaluator, Signal::OldestJob).state, SignalState::Firing);
    assert_eq!(status(&evaluator, Signal::OldestJob).value, Some(300));
}

#[test]
fn what_came_before_the_first_snapshot_does_not_count() {
    let mut evaluator = Evaluator::default();
    let letters = |count| Snapshot { dead_letters: Some(count), ..Snapshot::MISSING };
    assert!(evaluator.evaluate(&letters(1_000), at(0)).is_empty());
    assert_eq!(turns(&mut evaluator, &letters(1_001), at(15)), [Turn::Firing]);
    assert_eq!(evaluator.report().health(), Health::Degraded);
    for second in (30..900).step_by(15) {
        assert!(evaluator.evaluate(&letters(1_001), at(second)).is_empty(), "{second}");
    }
    let over = (900..1_000)
        .step_by(15)
        .find(|second| turns(&mut evaluator, &letters(1_001), at(*second)) == [Turn::Recovered]);
    assert!(over.is_some_and(|second| second >= 915), "{over:?}");
}

#[test]
fn a_backlog_that_jumps_and_stays_is_not_growth() {
    let mut evaluator = Evaluator::default();
    for second in (0..3_000).step_by(15) {
        let level = if second < 900 { 0 } else { 5_000 };
        let snapshot = Snapshot { backlog: Reading::Exact(level), ..Snapshot::MISSING };
        assert!(evaluator.evaluate(&snapshot, at(second)).is_empty(), "{second}");
    }
}

#[test]
fn a_backlog_that_was_not_counted_to_its_end_fires_and_does_not_recover() {
    let mut evaluator = Evaluator::default();
    let mut fired = 0;
    for second in (0..6_000).step_by(15) {
        let level = (second * 20).min(10_000);
        let level = if second < 500 { Reading::Exact(level) } else { Reading::AtLeast(level) };
        let snapshot = Snapshot { backlog: level, ..Snapshot::MISSING };
        let turns = turns(&mut evaluator, &snapshot, at(second));
        assert!(turns.iter().all(|turn| *turn == Turn::Firing), "{second}");
        fired += turns.len();
    }
    assert_eq!(fired, 1);
    let empty = Snapshot { backlog: Reading::Exact(0), ..Snapshot::MISSING };
    assert_eq!(turns(&mut evaluator, &empty, at(6_000)), [Turn::Recovered]);
}

#[test]
fn what_is_bad_when_it_is_low_fires_when_it_is_low() {
    let mut evaluator = Evaluator::default();
    let disk = |bytes| Snapshot { disk_free_bytes: Some(bytes), ..Snapshot::MISSING };
    assert!(evaluator.evaluate(&disk(1 << 20), at(0)).is_empty());
    assert_eq!(turns(&mut evaluator, &disk(1 << 20), at(15)), [Turn::Firing]);
    assert!(evaluator.evaluate(&disk(300 << 20), at(30)).is_empty());
    assert_eq!(turns(&mut evaluator, &disk(512 << 20), at(45)), [Turn::Recovered]);
}

#[test]
fn a_wall_clock_that_is_set_fires_nothing() {
    let mut evaluator = Evaluator::default();
    for (second, days) in [(0, 0), (15, -900), (30, 900), (45, 0)] {
        let days: i64 = days;
        let wall = Timestamp::from_micros(at(second).wall.micros() + days * 86_400_000_000);
        let now = Now { wall, ..at(second) };
        assert!(evaluator.evaluate(&jobs(Some(400)), now).is_empty(), "{second}");
    }
}

/// Values around the bounds of every rule, and none.
fn value() -> impl Strategy<Value = Option<u64>> {
    let edges = [0, 1, 2, 60, 150, 256 << 20, 512 << 20, u64::MAX];
    prop_oneof![
        Just(None),
        (0_u64..1_200).prop_map(Some),
        proptest::sample::select(edges.to_vec()).prop_map(Some),
    ]
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let reading = (value(), any::<bool>()).prop_map(|(value, exact)| match (value, exact) {
        (Some(level), false) => Reading::AtLeast(level),
        (value, _) => value.into(),
    });
    (proptest::array::uniform12(value()), reading).prop_map(|(values, backlog)| {
        let [
            job,
            inbox,
            letters,
            leases,
            overdue,
            published,
            lookups,
            hooks,
            busy,
            disk,
            open,
            given_up,
        ] = values;
        Snapshot {
            oldest_job_seconds: job,
            oldest_inbox_seconds: inbox,
            dead_letters: letters,
            lease_expiries: leases,
            reconciliation_overdue_seconds: overdue,
            publication_failures: published,
            lookup_failures: lookups,
            webhook_rejections: hooks,
            database_busy_seconds: busy,
            disk_free_bytes: disk,
            oldest_dead_letter_seconds: open,
            given_up,
            backlog,
        }
    })
}

/// Seconds of both clocks; neither need go on.
fn moment() -> impl Strategy<Value = Now> {
    (0_u64..2_000, -100_000_i64..100_000).prop_map(|(monotonic, wall)| Now {
        wall: Timestamp::from_micros(wall * 1_000_000),
        monotonic: Duration::from_secs(monotonic),
    })
}

proptest! {
    #[test]
    fn firing_and_recovered_take_turns(
        steps in proptest::collection::vec((snapshot(), moment()), 1..60),
    ) {
        let mut evaluator = Evaluator::default();
        for (snapshot, now) in steps {
            let before = evaluator.report();
            let transitions = evaluator.evaluate(&snapshot, now);
            for (old, new) in before.signals.iter().zip(evaluator.report().signals) {
                let own: Vec<_> = transitions
                    .iter()
                    .filter(|transition| transition.rule.signal == new.rule.signal)
                    .collect();
                let was = old.state == SignalState::Firing;
                let is = new.state == SignalState::Firing;
                let expected = match (was, is) {
                    (false, true) => Some(Turn::Firing),
                    (true, false) => Some(Turn::Recovered),
                    _ => None,
                };
                prop_assert_eq!(own.first().map(|own| own.turn), expected);
                prop_assert!(own.len() <= 1);
                for transition in own {
                    prop_assert_eq!(Some(transition.value), new.value);
                    let holds = match transition.turn {
                        Turn::Firing => new.rule.is_bad(transition.value),
                        Turn::Recovered => new.rule.is_healthy(transition.value),
                    };
                    prop_assert!(holds);
                }
                if snapshot.reading(new.rule.signal) == Reading::Missing {
                    prop_assert_eq!((old.state, old.value), (new.state, new.value));
                }
            }
        }
    }

    #[test]
    fn histories_are_bounded(step in 0_u64..100_000, level in 0_u64..3) {
        let mut evaluator = Evaluator::default();
        for number in 0..400 {
            let now = Now { monotonic: Duration::from_millis(step * number), ..at(0) };
            let levels = Snapshot { dead_letters: Some(level * number), ..Snapshot::MISSING };
            evaluator.evaluate(&levels, now);
        }
        for track in &evaluator.tracks {
            prop_assert!(track.history.as_ref().is_none_or(|history| history.len() <= 36));
        }
    }
}
