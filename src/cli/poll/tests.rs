//! Polling under a clock of its own.

use super::*;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Time goes on only by what is waited for, and by what requests take.
#[derive(Default)]
struct Virtual {
    now: Duration,
    waits: Vec<Duration>,
    said: Vec<&'static str>,
}

impl Edge for Virtual {
    fn now(&self) -> Duration {
        self.now
    }

    fn pause(&mut self, wait: Duration) {
        self.now += wait;
        self.waits.push(wait);
    }

    fn lost(&mut self, _: &Error) {
        self.said.push("lost");
    }

    fn regained(&mut self) {
        self.said.push("regained");
    }
}

type Answer = Result<ControlFlow<&'static str>, Error>;

const GOES_ON: fn() -> Answer = || Ok(ControlFlow::Continue(()));
const ENDS: fn() -> Answer = || Ok(ControlFlow::Break("ended"));
const AWAY: fn() -> Answer = || Err(Error::new(Exit::Unreachable, "cannot reach svcd"));
const BUSY: fn() -> Answer = || Err(Error::new(Exit::Temporary, "busy"));
const REFUSED: fn() -> Answer = || Err(Error::new(Exit::Unauthenticated, "refused"));

/// Polls with these answers; the last one is repeated.
fn poll(
    schedule: Schedule,
    answers: &[fn() -> Answer],
) -> (Result<Polled<&'static str>, Exit>, Virtual) {
    let mut edge = Virtual::default();
    let mut asked = 0;
    let result = until(schedule, &mut edge, |_| {
        let answer = answers[asked.min(answers.len() - 1)]();
        asked += 1;
        answer
    });
    (result.map_err(|error| error.exit()), edge)
}

#[test]
fn waits_grow_to_their_bound_and_end_with_the_end() {
    let mut answers = vec![GOES_ON; 9];
    answers.push(ENDS);
    let (ended, edge) = poll(Schedule::wait(None, false), &answers);
    assert_eq!(ended, Ok(Polled::End("ended")));
    let millis: Vec<u128> = edge.waits.iter().map(Duration::as_millis).collect();
    assert_eq!(millis, [100, 150, 225, 337, 506, 759, 1139, 1708, 2000]);
    assert!(edge.said.is_empty());
}

#[test]
fn the_last_request_is_made_when_the_time_is_over() {
    let timeout = Some(Duration::from_secs(5));
    for answers in [&[GOES_ON][..], &[GOES_ON, AWAY]] {
        let (ended, edge) = poll(Schedule::wait(timeout, false), answers);
        assert_eq!(ended, Ok(Polled::TimedOut));
        assert_eq!(edge.now, Duration::from_secs(5));
    }
    let (ended, edge) = poll(Schedule::wait(Some(Duration::ZERO), false), &[ENDS]);
    assert_eq!((ended, edge.waits.len()), (Ok(Polled::End("ended")), 0));
}

#[test]
fn a_service_that_restarts_is_waited_for_with_bounded_waits() {
    let mut answers = vec![GOES_ON, AWAY, BUSY];
    answers.extend([AWAY; 6]);
    answers.extend([GOES_ON, AWAY, ENDS]);
    let (ended, edge) = poll(Schedule::every(SECOND), &answers);
    assert_eq!(ended, Ok(Polled::End("ended")));
    let millis: Vec<u128> = edge.waits.iter().map(Duration::as_millis).collect();
    assert_eq!(millis, [1000, 250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 1000, 250]);
    assert_eq!(edge.said, ["lost", "regained", "lost"]);
}

#[test]
fn a_service_that_never_answered_or_is_away_for_long_is_given_up() {
    let (ended, edge) = poll(Schedule::every(SECOND), &[AWAY]);
    assert_eq!((ended, edge.waits.len()), (Err(Exit::Unreachable), 0));
    assert!(edge.said.is_empty(), "the error says it");
    let (ended, edge) = poll(Schedule::every(SECOND), &[GOES_ON, AWAY]);
    assert_eq!(ended, Err(Exit::Unreachable));
    assert!(edge.now >= UNANSWERED_MAX && edge.now < UNANSWERED_MAX + 2 * RECONNECT_MAX);
    assert_eq!(edge.said, ["lost"]);
}

#[test]
fn a_service_that_answered_just_before_is_waited_for_from_the_first_request() {
    let (ended, edge) = poll(Schedule::wait(None, true), &[AWAY, AWAY, ENDS]);
    assert_eq!((ended, edge.waits), (Ok(Polled::End("ended")), vec![250 * MS, 500 * MS]));
    let (ended, edge) = poll(Schedule::wait(Some(SECOND), true), &[AWAY]);
    assert_eq!((ended, edge.now), (Ok(Polled::TimedOut), SECOND));
    let (ended, _) = poll(Schedule::wait(None, true), &[AWAY]);
    assert_eq!(ended, Err(Exit::Unreachable));
}

#[test]
fn a_refusal_ends_it() {
    let (ended, _) = poll(Schedule::every(SECOND), &[GOES_ON, REFUSED]);
    assert_eq!(ended, Err(Exit::Unauthenticated));
}

#[test]
fn a_slow_service_is_asked_less_often() {
    let mut poll = Poll::new(Schedule::every(SECOND), Duration::ZERO);
    assert_eq!(poll.answered(SECOND, 250 * MS), Then::Ask(SECOND));
    assert_eq!(poll.answered(SECOND, 251 * MS), Then::Ask(1004 * MS));
    assert_eq!(poll.answered(SECOND, 10 * SECOND), Then::Ask(40 * SECOND));
}
