use super::*;

#[test]
fn the_first_items_are_of_each_reason_in_turn() {
    for (reasons, order) in [
        (vec![], vec![]),
        (vec![0, 0, 0], vec![0, 1, 2]),
        (vec![0, 0, 0, 1, 2], vec![0, 3, 4, 1, 2]),
        (vec![0, 1, 1, 0, 2, 2], vec![0, 1, 4, 2, 3, 5]),
    ] {
        assert_eq!(canary_order(reasons.iter().copied()), order, "{reasons:?}");
    }
    let many: Vec<u32> = (0..1_000)
        .map(|number| number * number % 7)
        .scan(
            // Reasons are numbered as they come.
            Vec::new(),
            |seen: &mut Vec<u32>, reason| {
                if !seen.contains(&reason) {
                    seen.push(reason);
                }
                let place = seen.iter().position(|known| *known == reason);
                place.and_then(|place| u32::try_from(place).ok())
            },
        )
        .collect();
    let mut order = canary_order(many.iter().copied());
    let kinds = many.iter().max().unwrap() + 1;
    let first: std::collections::BTreeSet<u32> =
        order.iter().take(usize::try_from(kinds).unwrap()).map(|place| many[*place]).collect();
    assert_eq!(first.len(), usize::try_from(kinds).unwrap());
    order.sort_unstable();
    assert!(order.into_iter().eq(0..1_000), "each once");
}

#[test]
fn a_rate_is_a_time_between_two_items() {
    for (text, micros) in
        [("5/s", 200_000), ("1/s", 1_000_000), ("300/m", 200_000), ("1000/h", 3_600_000)]
    {
        assert_eq!(
            ApplyRate::parse(text).unwrap().interval,
            Duration::from_micros(micros),
            "{text}"
        );
    }
    for text in
        ["", "5", "0/s", "-5/s", "5/d", "1.5/s", "/s", "+5/s", "5 /s", "99999999999/s", "5/s/s"]
    {
        assert!(ApplyRate::parse(text).is_err(), "{text}");
    }
}

fn counts(
    applied: usize,
    already_applied: usize,
    skipped: usize,
    died_again: usize,
) -> ApplyCounts {
    ApplyCounts { applied, already_applied, skipped, died_again, under_way: 0 }
}

#[test]
fn an_ending_has_an_exit_code_of_its_own() {
    let under_way = |counts| ApplyCounts { under_way: 1, ..counts };
    for (ending, counts, exit) in [
        (ApplyEnding::Complete, counts(3, 0, 0, 0), Exit::Done),
        (ApplyEnding::Complete, counts(0, 3, 0, 0), Exit::Done),
        (ApplyEnding::Complete, counts(2, 0, 1, 0), Exit::ItemsSkipped),
        (ApplyEnding::Complete, counts(2, 0, 1, 1), Exit::ItemsDiedAgain),
        (ApplyEnding::Complete, under_way(counts(2, 0, 1, 0)), Exit::TimedOut),
        (ApplyEnding::Complete, under_way(counts(2, 0, 1, 1)), Exit::ItemsDiedAgain),
        (ApplyEnding::DiedAgain, counts(1, 0, 1, 1), Exit::ItemsDiedAgain),
        (ApplyEnding::CanaryPending, counts(1, 0, 0, 0), Exit::Temporary),
        (ApplyEnding::Interrupted, counts(1, 0, 1, 1), Exit::Interrupted),
    ] {
        assert_eq!(ending.exit(counts), exit, "{ending:?} {counts:?}");
    }
}

#[test]
fn it_stops_at_the_failure_that_was_named_and_never_at_none() {
    for (failures_max, died_again, must_stop) in
        [(0, 0, false), (0, 9, false), (1, 0, false), (1, 1, true), (3, 2, false), (3, 4, true)]
    {
        assert_eq!(counts(9, 0, 0, died_again).must_stop(failures_max), must_stop);
    }
    assert_eq!(counts(1, 2, 3, 1).not_tried(10), 4);
}

#[test]
fn an_answer_says_what_became_of_an_item_or_nothing() {
    let event = "0198c0de-0000-7000-8000-0000000000a1".parse().unwrap();
    for (outcome, expected) in [
        ("replayed", Some(ItemOutcome::Replayed)),
        ("closed", Some(ItemOutcome::Closed)),
        ("already_applied", Some(ItemOutcome::AlreadyApplied)),
        ("died_again", None),
        ("from_a_newer_service", None),
    ] {
        let answer = Ok(AppliedBody { outcome: outcome.into(), audit_event_id: event });
        assert_eq!(ItemOutcome::of(&answer), expected, "{outcome}");
    }
    for (outcome, expected) in [
        ("not_replayable", Some(ItemOutcome::Skipped)),
        ("not_open", Some(ItemOutcome::Skipped)),
        ("not_found", Some(ItemOutcome::Skipped)),
        // The plan's keys are its own, so this is not about the item.
        ("operation_conflict", None),
        ("unauthenticated", None),
        ("unavailable", None),
        ("replayed", None),
    ] {
        let problem = crate::api::Problem {
            kind: String::new(),
            title: String::new().into(),
            status: 409,
            outcome: outcome.into(),
            detail: None,
            replay_class: None,
            report: None,
        };
        let refused = Failure::Refused {
            problem: Box::new(problem),
            retry_after: None,
            token_hints: Vec::new(),
        };
        assert_eq!(ItemOutcome::of(&Err(refused)), expected, "{outcome}");
    }
}
