//! The part of the exam about effects: whose answer counts, and for what.

use std::time::Duration;

use svc::domain::dead_letter::{DeadLetterReason, ErrorClass, ReplayClass};
use svc::domain::lease::Claim;
use svc::domain::outbox::{EffectKind, Learned, OutboxMessage, SendResult, Settlement};
use svc::store::{Error, Store};

use super::{Bench, Open, POLICY, bench, delivery};
use crate::support::world::{pace, plan};

pub(super) fn exercise(open: Open) {
    gives_a_number_of_the_forge_to_one_attempt_alone(open);
    lets_an_answer_that_comes_late_prove_what_it_names(open);
    marks_an_effect_only_while_enough_of_its_lease_is_left(open);
    gives_back_at_a_stop_what_its_owner_has_not_begun(open);
}

/// Starts so many releases, and claims the first effect of each.
fn started(bench: &Bench, releases: u32) -> Vec<Claim<OutboxMessage>> {
    for number in 1..=releases {
        bench.store.record_delivery(delivery(&number.to_string(), 1, number)).unwrap();
    }
    for claim in bench.store.claim_jobs(100, "jobs", POLICY).unwrap() {
        bench.store.run_job(&claim, &plan()).wait().unwrap();
    }
    claims(&bench.store, EffectKind::CheckRunCreate)
}

/// Claims whatever can be; it must be of this kind.
fn claims(store: &Store, kind: EffectKind) -> Vec<Claim<OutboxMessage>> {
    let mut claims = Vec::new();
    while let Some(claim) = store.claim_message("outbox", POLICY, pace(), Vec::new()).unwrap() {
        assert_eq!(claim.item.kind, kind);
        store.begin_send(&claim, Duration::from_secs(1), pace()).unwrap();
        claims.push(*claim);
    }
    claims
}

fn settle(
    bench: &Bench,
    claim: &Claim<OutboxMessage>,
    result: SendResult,
) -> Result<Settlement, Error> {
    bench.store.settle_message(claim, result, false, None, POLICY.retry)
}

fn check_run(number: i64) -> SendResult {
    SendResult::CheckRunExists(number.try_into().unwrap())
}

fn dispatched(number: i64) -> SendResult {
    SendResult::Dispatched(Some(number.try_into().unwrap()))
}

fn gives_a_number_of_the_forge_to_one_attempt_alone(open: Open) {
    let bench = bench(open);
    let creations = started(&bench, 3);
    assert_eq!(creations.len(), 3);
    let learned = |number: i64| Learned::CheckRun(number.try_into().unwrap());
    for (claim, number) in creations.iter().zip([7, 8]) {
        let settled = settle(&bench, claim, check_run(number)).unwrap();
        assert_eq!(settled, Settlement::Complete(learned(number)));
    }
    assert_eq!(
        settle(&bench, &creations[2], check_run(7)).unwrap(),
        Settlement::DeadLetter(
            DeadLetterReason::ForgeCheckRunCreateUncertain,
            ErrorClass::Protocol,
            ReplayClass::CreateUncertain
        )
    );
    let dispatches = claims(&bench.store, EffectKind::WorkflowDispatch);
    assert_eq!(dispatches.len(), 2, "what comes after a dead effect is held");
    let settled = settle(&bench, &dispatches[0], dispatched(70)).unwrap();
    assert!(matches!(settled, Settlement::Complete(_)), "{settled:?}");
    assert_eq!(
        settle(&bench, &dispatches[1], dispatched(70)).unwrap(),
        Settlement::DeadLetter(
            DeadLetterReason::ForgeDispatchUncertain,
            ErrorClass::Protocol,
            ReplayClass::DispatchUncertain
        )
    );
}

fn lets_an_answer_that_comes_late_prove_what_it_names(open: Open) {
    let bench = bench(open);
    for (claim, number) in started(&bench, 2).iter().zip([7, 8]) {
        settle(&bench, claim, check_run(number)).unwrap();
    }
    let dispatches = claims(&bench.store, EffectKind::WorkflowDispatch);
    settle(&bench, &dispatches[0], dispatched(70)).unwrap();
    // The holder of the other is taken for dead, and the dispatch is given up.
    bench.clock.advance(POLICY.lease);
    assert!(claims(&bench.store, EffectKind::CheckRunUpdate).len() == 1);
    let late = &dispatches[1];
    for proves_nothing in [
        dispatched(70),
        SendResult::Dispatched(None),
        SendResult::Refused(ErrorClass::NotFound),
        check_run(9),
    ] {
        let settled = settle(&bench, late, proves_nothing);
        assert!(matches!(settled, Err(Error::LeaseLost)), "{settled:?}");
    }
    let proved = settle(&bench, late, dispatched(71)).unwrap();
    assert!(matches!(proved, Settlement::Complete(_)), "{proved:?}");
    let again = settle(&bench, late, dispatched(71));
    assert!(matches!(again, Err(Error::LeaseLost)), "{again:?}");
    assert_eq!(claims(&bench.store, EffectKind::CheckRunUpdate).len(), 1, "it goes on");
}

fn marks_an_effect_only_while_enough_of_its_lease_is_left(open: Open) {
    let bench = bench(open);
    let claim = started(&bench, 1).pop().unwrap();
    assert!(bench.store.begin_send(&claim, POLICY.lease, pace()).is_ok());
    let more = POLICY.lease + Duration::from_micros(1);
    assert!(matches!(bench.store.begin_send(&claim, more, pace()), Err(Error::LeaseLost)));
    bench.clock.advance(POLICY.lease);
    assert!(matches!(bench.store.begin_send(&claim, more, pace()), Err(Error::LeaseLost)));
}

fn gives_back_at_a_stop_what_its_owner_has_not_begun(open: Open) {
    let Bench { store, .. } = &bench(open);
    for number in 1..=3 {
        store.record_delivery(delivery(&number.to_string(), 1, number)).unwrap();
    }
    let job = |owner| store.claim_jobs(1, owner, POLICY).unwrap().pop().unwrap();
    let (own, other) = (job("own"), job("other"));
    assert_eq!(store.give_back_jobs("own").wait().unwrap(), 1);
    assert!(matches!(store.run_job(&own, &plan()).wait(), Err(Error::LeaseLost)));
    store.run_job(&other, &plan()).wait().unwrap();
    for claim in store.claim_jobs(100, "other", POLICY).unwrap() {
        assert_eq!(claim.item.attempt, 1, "its try was not counted");
        store.run_job(&claim, &plan()).wait().unwrap();
    }
    let message = |owner| store.claim_message(owner, POLICY, pace(), Vec::new()).unwrap().unwrap();
    let (begun, unbegun, others) = (message("own"), message("own"), message("other"));
    let begin = |claim| store.begin_send(claim, Duration::from_secs(1), pace());
    begin(&begun).unwrap();
    assert_eq!(store.give_back_unsent("own").wait().unwrap(), 1);
    assert!(matches!(begin(&unbegun), Err(Error::LeaseLost)), "nothing leaves any more");
    begin(&others).unwrap();
    let again = message("next");
    assert_eq!((again.item.id, again.item.try_count), (unbegun.item.id, 1));
    assert!(store.claim_message("next", POLICY, pace(), Vec::new()).unwrap().is_none());
    for (claim, number) in [begun, others].iter().zip([7, 8]) {
        store.settle_message(claim, check_run(number), false, None, POLICY.retry).unwrap();
    }
}
