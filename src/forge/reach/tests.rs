//! The pauses, by a clock that is set.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;

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
    let shared = Arc::<Millis>::clone(&clock);
    (Reach::new(shared, Arc::clone(&metrics), Notify::new()), clock, metrics)
}

/// Makes a call that gets no connection, at once.
fn fail(reach: &Reach, cause: FailureCause) {
    reach.failed(reach.call(), cause);
}

#[test]
fn the_last_answer_and_the_last_failure_are_kept() {
    let (reach, _, _) = reach();
    let nothing = Contact { last_answer_at: None, last_failure: None, is_paused: false };
    assert_eq!(reach.contact(), nothing);
    reach.answered();
    reach.call_failed(FailureCause::Http4xx);
    reach.call_failed(FailureCause::Dns);
    fail(&reach, FailureCause::Dns);
    let at = Timestamp::from_micros(0);
    let last_failure = Some((at, FailureCause::Dns));
    assert_eq!(
        reach.contact(),
        Contact { last_answer_at: Some(at), last_failure, is_paused: true }
    );
    reach.succeeded();
    assert!(!reach.contact().is_paused);
}

#[test]
fn pauses_grow_to_the_longest_and_begin_anew_after_a_connection() {
    let (reach, clock, metrics) = reach();
    for seconds in [1, 2, 4, 8, 15, 15] {
        let tries = reach.clearance();
        assert!(tries.is_some(), "{seconds}");
        fail(&reach, FailureCause::Refused);
        // Of calls that had begun before: the same outage.
        fail(&reach, FailureCause::Timeout);
        drop(tries);
        assert!(metrics.render().contains("\nsvc_forge_paused 1\n"));
        clock.advance(seconds * 1_000 - 1);
        assert!(reach.clearance().is_none(), "{seconds}");
        clock.advance(1);
    }
    let tries = reach.clearance().expect("the pause is over");
    assert!(reach.clearance().is_none(), "one caller tries");
    reach.succeeded();
    assert!(reach.clearance().is_some(), "all may call");
    assert!(metrics.render().contains("\nsvc_forge_paused 0\n"));
    drop(tries);
    fail(&reach, FailureCause::Dns);
    clock.advance(1_000);
    assert!(reach.clearance().is_some(), "the first pause is the shortest");
}

#[test]
fn calls_that_began_before_a_pause_do_not_make_it_longer() {
    let (reach, clock, metrics) = reach();
    // They time out one after the other, for longer than the first pauses last.
    let calls = [(); 4].map(|()| reach.call());
    for call in calls {
        clock.advance(1_500);
        reach.failed(call, FailureCause::Timeout);
    }
    let _tries = reach.clearance().expect("the first pause is over");
    let probe = reach.call();
    clock.advance(10_000);
    reach.failed(probe, FailureCause::Timeout);
    clock.advance(1_999);
    assert!(reach.clearance().is_none());
    drop(_tries);
    assert!(reach.clearance().is_none());
    clock.advance(1);
    assert!(reach.clearance().is_some(), "the second pause is the second shortest");
    // Nor does one that is older than the connection that ended it begin another.
    let call = reach.call();
    reach.succeeded();
    reach.failed(call, FailureCause::Timeout);
    assert!(metrics.render().contains("\nsvc_forge_paused 0\n"));
}

#[test]
fn a_connection_that_was_lost_ends_a_pause_only_if_it_was_made_since() {
    let (reach, _, metrics) = reach();
    let before = reach.call();
    fail(&reach, FailureCause::Refused);
    reach.lost(before);
    assert!(metrics.render().contains("\nsvc_forge_paused 1\n"));
    reach.lost(reach.call());
    assert!(metrics.render().contains("\nsvc_forge_paused 0\n"));
}

#[test]
fn the_end_of_a_pause_wakes_those_who_wait() {
    let (reach, _, _) = reach();
    reach.succeeded();
    let seen = reach.waiting.count();
    assert_eq!(seen, 0, "there was no pause");
    fail(&reach, FailureCause::Dns);
    assert!(reach.clearance().is_none());
    reach.succeeded();
    assert_ne!(reach.waiting.count(), seen);
}

#[test]
fn a_pause_ends_when_nothing_waits_for_the_forge() {
    let (reach, clock, metrics) = reach();
    let under_way = reach.clearance().expect("there is no pause");
    fail(&reach, FailureCause::Dns);
    under_way.end_unless(|| panic!("it does not try"));
    assert!(metrics.render().contains("\nsvc_forge_paused 1\n"));
    clock.advance(1_000);
    reach.clearance().expect("the pause is over").end_unless(|| true);
    assert!(metrics.render().contains("\nsvc_forge_paused 1\n"), "what waits is cut off");
    reach.clearance().expect("another one tries").end_unless(|| false);
    assert!(metrics.render().contains("\nsvc_forge_paused 0\n"));
    fail(&reach, FailureCause::Dns);
    clock.advance(1_000);
    assert!(reach.clearance().is_some(), "the first pause is the shortest");
}

#[test]
fn who_tries_and_panics_lets_another_try() {
    let (reach, clock, _) = reach();
    fail(&reach, FailureCause::Refused);
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
                    fail(&reach, FailureCause::Refused);
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
