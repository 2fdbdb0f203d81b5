//! The pauses, by a clock that is set.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;
use crate::domain::time::Timestamp;

#[derive(Default)]
struct Millis(AtomicU64);

impl Clock for Millis {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

impl Millis {
    fn advance(&self, millis: u64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

fn reach() -> (Reach, Arc<Millis>, Arc<Metrics>) {
    let (clock, metrics) = (Arc::<Millis>::default(), Arc::<Metrics>::default());
    (Reach::new(Arc::<Millis>::clone(&clock), Arc::clone(&metrics)), clock, metrics)
}

#[test]
fn pauses_grow_to_the_longest_and_begin_anew_after_a_connection() {
    let (reach, clock, metrics) = reach();
    for seconds in [1, 2, 4, 8, 15, 15] {
        let tries = reach.clearance();
        assert!(tries.is_some(), "{seconds}");
        reach.failed(FailureCause::Refused);
        // Of calls that had begun before: the same outage.
        reach.failed(FailureCause::Timeout);
        drop(tries);
        assert!(metrics.render().contains("\nsvc_forge_paused 1\n"));
        clock.advance(seconds * 1_000 - 1);
        assert!(reach.clearance().is_none(), "{seconds}");
        clock.advance(1);
    }
    let tries = reach.clearance().expect("the pause is over");
    assert!(reach.clearance().is_none(), "one caller tries");
    assert!(!tries.has_ended_a_pause());
    reach.succeeded();
    assert!(tries.has_ended_a_pause());
    assert!(!reach.clearance().expect("there is no pause").has_ended_a_pause());
    assert!(metrics.render().contains("\nsvc_forge_paused 0\n"));
    drop(tries);
    reach.failed(FailureCause::Dns);
    clock.advance(1_000);
    assert!(reach.clearance().is_some(), "the first pause is the shortest");
}

#[test]
fn who_was_under_way_before_a_pause_ends_it_for_the_others_too() {
    let (reach, _, _) = reach();
    let under_way = reach.clearance().expect("there is no pause");
    reach.failed(FailureCause::Dns);
    assert!(reach.clearance().is_none() && !under_way.has_ended_a_pause());
    reach.succeeded();
    assert!(under_way.has_ended_a_pause());
}

#[test]
fn a_pause_ends_when_nothing_waits_for_the_forge() {
    let (reach, clock, metrics) = reach();
    let under_way = reach.clearance().expect("there is no pause");
    reach.failed(FailureCause::Dns);
    under_way.nothing_waits();
    assert!(metrics.render().contains("\nsvc_forge_paused 1\n"), "it does not try");
    clock.advance(1_000);
    reach.clearance().expect("the pause is over").nothing_waits();
    assert!(metrics.render().contains("\nsvc_forge_paused 0\n"));
    reach.failed(FailureCause::Dns);
    clock.advance(1_000);
    assert!(reach.clearance().is_some(), "the first pause is the shortest");
}

#[test]
fn who_tries_and_panics_lets_another_try() {
    let (reach, clock, _) = reach();
    reach.failed(FailureCause::Refused);
    clock.advance(1_000);
    let work = std::panic::AssertUnwindSafe(|| {
        let _tries = reach.clearance().expect("the pause is over");
        std::panic::resume_unwind(Box::new("at work"));
    });
    assert!(std::panic::catch_unwind(work).is_err());
    assert!(reach.clearance().is_some());
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Advance(u64),
    Ask,
    /// Who was given leave first is done.
    Done,
    Failed,
    Succeeded,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..20_000_u64).prop_map(Event::Advance),
        Just(Event::Ask),
        Just(Event::Done),
        Just(Event::Failed),
        Just(Event::Succeeded),
    ]
}

proptest! {
    #[test]
    fn one_at_a_time_tries_between_pauses_and_all_call_once_there_was_a_connection(
        events in prop::collection::vec(event(), 0..80),
    ) {
        let (reach, clock, _) = reach();
        let mut given = VecDeque::new();
        // The first and the last failure since there was a connection.
        let mut failed: Option<(Duration, Duration)> = None;
        for event in events {
            let now = clock.monotonic();
            match event {
                Event::Advance(millis) => clock.advance(millis),
                Event::Failed => {
                    reach.failed(FailureCause::Refused);
                    failed = Some((failed.map_or(now, |(first, _)| first), now));
                }
                Event::Succeeded => {
                    reach.succeeded();
                    failed = None;
                }
                Event::Done => drop(given.pop_front()),
                Event::Ask => {
                    let asked = reach.clearance();
                    let is_tried = given.iter().any(tries);
                    match failed {
                        None => prop_assert!(asked.as_ref().is_some_and(|it| !tries(it))),
                        Some((first, _)) if now < first + PAUSES.delay_base => {
                            prop_assert!(asked.is_none());
                        }
                        Some(_) if is_tried => prop_assert!(asked.is_none()),
                        Some((_, last)) => {
                            prop_assert!(now < last + PAUSES.delay_max || asked.is_some());
                        }
                    }
                    given.extend(asked);
                }
            }
            prop_assert!(given.iter().filter(|it| tries(it)).count() <= 1);
        }
    }
}

const fn tries(clearance: &Clearance<'_>) -> bool {
    clearance.is_try
}
