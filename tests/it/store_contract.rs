//! The exam of the store: what any backend must do, through its verbs alone. `exercise` takes a way to
//! open it, so that a second backend sits the same exam.

mod closing;
mod effects;
mod relay;
mod request_states;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use svc::api::{AuditEvent, DeadLetter, ListRequest, ReleaseRun};
use svc::domain::agent_card::{Condition, NewAgentCard, Removal, Write};
use svc::domain::dead_letter::{
    DeadLetterReason, ErrorClass, ItemId, ItemRequest, ItemType, NotReplayable, ReplayOutcome,
};
use svc::domain::delivery::{NewDelivery, Recorded};
use svc::domain::event::{Action, CommitSha, GitRef, InstallationState};
use svc::domain::id::InstallationId;
use svc::domain::operation::OperationId;
use svc::domain::page::Page;
use svc::domain::repository::RepositoryRef;
use svc::domain::retry::RetryPolicy;
use svc::domain::time::Timestamp;
use svc::store::{Error, JobRun, LeasePolicy, List, Store};

use crate::support::ManualClock;
use crate::support::world::{installation, open_store, pace, plan};

type Open = fn(&Path, &Arc<ManualClock>, u64) -> Store;

const POLICY: LeasePolicy = LeasePolicy {
    lease: Duration::from_secs(60),
    retry: RetryPolicy {
        attempts_max: 2,
        delay_base: Duration::from_secs(1),
        delay_max: Duration::from_secs(8),
    },
};

#[test]
fn sqlite() {
    exercise(open_store);
}

fn exercise(open: Open) {
    records_a_delivery_once(open);
    claims_an_item_for_one_holder_at_a_time(open);
    two_processes_share_one_file(open);
    takes_back_what_was_postponed_as_if_it_had_not_been_claimed(open);
    takes_back_what_was_not_finished(open);
    counts_a_failed_try_and_gives_up_after_the_last(open);
    survives_being_closed_and_opened(open);
    keeps_the_scope_of_an_installation(open);
    lists_installations_by_number(open);
    lists_in_the_order_of_adding_even_if_a_clock_was_behind(open);
    sweeps_what_is_finished_and_old_and_nothing_else(open);
    notes_ticks(open);
    goes_on_when_the_clock_steps_back(open);
    serves_many_callers_at_once(open);
    makes_due_what_a_clock_that_was_ahead_put_out_of_reach(open);
    tells_of_itself(open);
    closing::exercise(open);
    effects::exercise(open);
    request_states::exercise(open);
    relay::exercise(open);
    keeps_cards_and_their_conditions(open);
}

fn keeps_cards_and_their_conditions(open: Open) {
    let Bench { folder, clock, store } = bench(open);
    let card = |number: u8| NewAgentCard {
        name: "maps".parse().unwrap(),
        bytes: vec![0, number, 255],
        digest: [number; 32].into(),
        variant: "legacy",
        protocol_version: "0.3",
        actor: format!("ops:{number}"),
    };
    let one_of = |number: u8| Condition::OneOf(vec![[number; 32].into()]);
    let put = |store: &Store, number, condition| {
        let (write, card) = store.put_agent_card(card(number), condition).unwrap();
        (write, card.map(|card| (card.revision, card.updated_by)))
    };
    let by = |revision, actor: &str| Some((revision, actor.to_owned()));
    assert_eq!(put(&store, 1, one_of(1)), (Write::PreconditionFailed, None));
    assert_eq!(put(&store, 1, Condition::Absent), (Write::Create, by(1, "ops:1")));
    assert_eq!(put(&store, 2, Condition::Absent), (Write::PreconditionFailed, None));
    clock.advance(Duration::from_secs(1));
    assert_eq!(put(&store, 2, one_of(1)), (Write::Replace, by(2, "ops:2")));
    assert_eq!(put(&store, 2, Condition::Always), (Write::Keep, by(2, "ops:2")));
    drop(store);
    let store = open(&folder.path().join("svc.db"), &clock, 8);
    let name = "maps".parse().unwrap();
    assert_eq!(store.agent_card(&name).unwrap(), Some((vec![0, 2, 255], [2; 32].into())));
    let page = store.agent_cards(None, 1).unwrap();
    assert_eq!((page.items[0].size, page.next), (3, None));
    assert!(page.items[0].created_at < page.items[0].updated_at);
    assert!(store.agent_cards(Some(&name), 1).unwrap().items.is_empty());
    let remove = |condition| store.remove_agent_card(name.clone(), condition).unwrap();
    assert_eq!(remove(one_of(1)), Removal::PreconditionFailed);
    assert_eq!(remove(one_of(2)), Removal::Remove([2; 32].into()));
    assert_eq!(remove(Condition::Always), Removal::NotFound);
}

fn makes_due_what_a_clock_that_was_ahead_put_out_of_reach(open: Open) {
    let bench = bench(open);
    let years = Duration::from_secs(4 * 365 * 86_400);
    bench.clock.advance(years);
    bench.store.record_delivery(delivery("a", 1, 1)).unwrap();
    bench.store.record_delivery(delivery("b", 1, 2)).unwrap();
    assert_eq!(bench.store.claim_jobs(1, "x", POLICY).unwrap().len(), 1);
    bench.clock.step_back(years);
    assert!(bench.store.claim_jobs(10, "y", POLICY).unwrap().is_empty());
    assert_eq!(bench.store.clamp_future_times(Duration::ZERO).unwrap(), 2);
    assert_eq!(bench.store.claim_jobs(10, "y", POLICY).unwrap().len(), 2);
    assert_eq!(bench.store.clamp_future_times(Duration::ZERO).unwrap(), 0);
}

struct Bench {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    store: Store,
}

fn bench(open: Open) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new());
    let store = open(&folder.path().join("svc.db"), &clock, 7);
    Bench { folder, clock, store }
}

/// A delivery that asks for a release, or for suspending its installation when `number` is 0.
fn delivery(id: &str, tenant: i64, number: u32) -> NewDelivery {
    let action = if number == 0 {
        Action::Installation {
            state: Some(InstallationState::Suspended),
            account: None,
            added: Vec::new(),
            removed: Vec::new(),
        }
    } else {
        Action::Release {
            git_ref: GitRef::new(&format!("refs/tags/v{number}")).unwrap(),
            head_sha: CommitSha::new(&"a".repeat(40)).unwrap(),
            owner: None,
        }
    };
    NewDelivery {
        id: id.parse().unwrap(),
        event: "push",
        installation: Some(installation(tenant)),
        repository: Some(RepositoryRef {
            id: tenant.try_into().unwrap(),
            full_name: "o/r".parse().unwrap(),
        }),
        body_sha256: [7; 32].into(),
        action: Some(action),
    }
}

/// Reads a page of a list; `None` when the cursor names none of its rows.
fn page<R: List>(
    store: &Store,
    tenant: InstallationId,
    before: Option<R::Cursor>,
    limit: u32,
) -> Option<Page<R, R::Cursor>> {
    store
        .list(tenant, &ListRequest { filter: R::Filter::default(), before, limit }, Timestamp::MIN)
        .unwrap()
}

fn item(letter: &DeadLetter) -> ItemId {
    ItemId::parse(ItemType::from_word(&letter.item_type).unwrap(), &letter.item_id).unwrap()
}

/// Makes one dead letter of an installation and returns it.
fn dead_job(store: &Store, id: &str, tenant: i64) -> ItemId {
    store.record_delivery(delivery(&format!("{id}-s"), tenant, 0)).unwrap();
    store.record_delivery(delivery(id, tenant, 1)).unwrap();
    for claim in store.claim_jobs(10, "bench", POLICY).unwrap() {
        store.run_job(&claim, &plan()).wait().unwrap();
    }
    item(&page::<DeadLetter>(store, installation(tenant), None, 1).unwrap().items[0])
}

fn replay(store: &Store, tenant: InstallationId, item: ItemId, key: &str) -> ReplayOutcome {
    let operation = OperationId::new(key).unwrap();
    let actor = "ops".to_owned();
    store.replay(ItemRequest { installation: tenant, item, operation, actor }, None).unwrap()
}

fn records_a_delivery_once(open: Open) {
    let bench = bench(open);
    let first = bench.store.record_delivery(delivery("a", 1, 1)).unwrap();
    assert!(matches!(first, Recorded::Accepted(_)));
    assert_eq!(bench.store.record_delivery(delivery("a", 1, 1)).unwrap(), Recorded::Duplicate);
    let other = NewDelivery { body_sha256: [8; 32].into(), ..delivery("a", 1, 2) };
    assert_eq!(bench.store.record_delivery(other).unwrap(), Recorded::Conflict);
    let nothing = NewDelivery { action: None, ..delivery("b", 1, 1) };
    assert_eq!(bench.store.record_delivery(nothing).unwrap(), Recorded::Ignored);
    let unowned = NewDelivery { installation: None, ..delivery("c", 1, 1) };
    assert_eq!(bench.store.record_delivery(unowned).unwrap(), Recorded::Ignored);
    assert_eq!(bench.store.claim_jobs(10, "x", POLICY).unwrap().len(), 1);
}

fn claims_an_item_for_one_holder_at_a_time(open: Open) {
    let bench = bench(open);
    for number in 1..=5 {
        bench.store.record_delivery(delivery(&number.to_string(), 1, number)).unwrap();
    }
    let first = bench.store.claim_jobs(3, "a", POLICY).unwrap();
    let second = bench.store.claim_jobs(3, "b", POLICY).unwrap();
    assert_eq!((first.len(), second.len()), (3, 2));
    assert!(bench.store.claim_jobs(3, "c", POLICY).unwrap().is_empty());
    assert!(first.iter().all(|claim| claim.item.attempt == 1));
}

fn two_processes_share_one_file(open: Open) {
    let bench = bench(open);
    let other = open(&bench.folder.path().join("svc.db"), &bench.clock, 8);
    bench.store.record_delivery(delivery("a", 1, 1)).unwrap();
    assert_eq!(other.record_delivery(delivery("a", 1, 1)).unwrap(), Recorded::Duplicate);
    let claim = other.claim_jobs(1, "other", POLICY).unwrap().pop().unwrap();
    assert!(bench.store.claim_jobs(1, "own", POLICY).unwrap().is_empty());
    bench.clock.advance(POLICY.lease);
    let taken = bench.store.claim_jobs(1, "own", POLICY).unwrap().pop().unwrap();
    assert!(matches!(other.run_job(&claim, &plan()).wait(), Err(Error::LeaseLost)));
    assert_eq!(bench.store.run_job(&taken, &plan()).wait().unwrap(), JobRun::Applied);
    assert!(matches!(bench.store.run_job(&taken, &plan()).wait(), Err(Error::LeaseLost)));
}

fn takes_back_what_was_postponed_as_if_it_had_not_been_claimed(open: Open) {
    let bench = bench(open);
    bench.store.record_delivery(delivery("a", 1, 1)).unwrap();
    for _ in 0..3 {
        let claim = bench.store.claim_jobs(1, "a", POLICY).unwrap().pop().unwrap();
        assert_eq!(claim.item.attempt, 1);
        bench.store.postpone_job(&claim).unwrap();
        assert!(matches!(bench.store.postpone_job(&claim), Err(Error::LeaseLost)));
    }
}

fn takes_back_what_was_not_finished(open: Open) {
    let bench = bench(open);
    bench.store.record_delivery(delivery("a", 1, 1)).unwrap();
    bench.store.claim_jobs(1, "a", POLICY).unwrap();
    bench.clock.advance(POLICY.lease - Duration::from_micros(1));
    assert!(bench.store.claim_jobs(1, "b", POLICY).unwrap().is_empty());
    bench.clock.advance(Duration::from_micros(1));
    let claim = bench.store.claim_jobs(1, "b", POLICY).unwrap().pop().unwrap();
    assert_eq!((claim.item.attempt, claim.fence.token), (2, 2));
}

fn counts_a_failed_try_and_gives_up_after_the_last(open: Open) {
    let bench = bench(open);
    bench.store.record_delivery(delivery("a", 1, 1)).unwrap();
    for attempt in 1..=2 {
        let claim = bench.store.claim_jobs(1, "a", POLICY).unwrap().pop().unwrap();
        assert_eq!(claim.item.attempt, attempt);
        bench
            .store
            .fail_job(&claim, DeadLetterReason::JobFailed, ErrorClass::State, POLICY.retry)
            .unwrap();
        bench.clock.advance(Duration::from_secs(10));
    }
    let page = page::<DeadLetter>(&bench.store, installation(1), None, 10).unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].attempt_count, 2);
    assert!(page.items[0].replay_safe);
}

fn survives_being_closed_and_opened(open: Open) {
    let Bench { folder, clock, store } = bench(open);
    let item = dead_job(&store, "a", 1);
    let ReplayOutcome::Applied(audit) = replay(&store, installation(1), item, "k") else {
        panic!("a job is safe to replay");
    };
    assert!(store.close(Duration::from_secs(10)));
    assert!(matches!(store.record_delivery(delivery("b", 1, 2)), Err(Error::Unavailable(_))));
    drop(store);
    let store = open(&folder.path().join("svc.db"), &clock, 9);
    let again = replay(&store, installation(1), item, "k");
    assert_eq!(again, ReplayOutcome::AlreadyApplied(audit));
    assert_eq!(store.claim_jobs(10, "x", POLICY).unwrap().len(), 1);
}

fn keeps_the_scope_of_an_installation(open: Open) {
    let bench = bench(open);
    let (one, two) = (dead_job(&bench.store, "a", 1), dead_job(&bench.store, "b", 2));
    let list =
        |tenant| page::<DeadLetter>(&bench.store, installation(tenant), None, 100).unwrap().items;
    assert_eq!(list(1).len(), 1);
    assert_eq!(list(3).len(), 0);
    assert_eq!(bench.store.dead_letter(installation(2), one).unwrap(), None);
    assert_eq!(replay(&bench.store, installation(2), one, "k"), ReplayOutcome::NotFound);
    assert!(matches!(replay(&bench.store, installation(1), one, "k"), ReplayOutcome::Applied(_)));
    let other = replay(&bench.store, installation(2), two, "k");
    assert_eq!(other, ReplayOutcome::OperationConflict);
    let again = replay(&bench.store, installation(1), one, "k2");
    assert_eq!(again, ReplayOutcome::Refused(NotReplayable::NotDead));
    assert_eq!(list(2).len(), 1);
}

fn lists_installations_by_number(open: Open) {
    let bench = bench(open);
    for tenant in [30, 10, 20] {
        bench.store.record_delivery(delivery(&tenant.to_string(), tenant, 1)).unwrap();
    }
    let numbers = |after: Option<i64>, limit| -> Vec<i64> {
        let page = bench.store.installations(after.map(installation), limit).unwrap();
        page.items.iter().map(|installation| installation.installation_id.get()).collect()
    };
    assert_eq!(numbers(None, 2), [10, 20]);
    assert_eq!(numbers(Some(20), 2), [30]);
}

/// The ids of a process whose clock is behind are lower: they must not decide what is newer.
fn lists_in_the_order_of_adding_even_if_a_clock_was_behind(open: Open) {
    let bench = bench(open);
    let behind = Arc::new(ManualClock::new());
    behind.step_back(Duration::from_secs(3_600));
    let other = open(&bench.folder.path().join("svc.db"), &behind, 8);
    let (one, two) = (installation(1), installation(2));
    let mut events = Vec::new();
    for (number, store) in [&bench.store, &other, &bench.store].into_iter().enumerate() {
        let item = dead_job(store, &format!("dead-{number}"), 1);
        let ReplayOutcome::Applied(event) = replay(store, one, item, &format!("k{number}")) else {
            panic!("a job is safe to replay");
        };
        events.insert(0, event);
        let tag = u32::try_from(number).unwrap() + 1;
        store.record_delivery(delivery(&format!("release-{number}"), 2, tag)).unwrap();
        for claim in store.claim_jobs(10, "bench", POLICY).unwrap() {
            store.run_job(&claim, &plan()).wait().unwrap();
        }
    }
    let (mut seen, mut before) = (Vec::new(), None);
    while let Some(page) = page::<AuditEvent>(&bench.store, one, before, 1) {
        seen.extend(page.items.iter().map(|event| event.audit_event_id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, events);
    assert!(!events.is_sorted_by(|newer, older| newer > older), "the clock was not behind");
    let tags = |before| {
        let page = page::<ReleaseRun>(&bench.store, two, before, 2).unwrap();
        let tags: Vec<String> = page.items.into_iter().map(|release| release.git_ref).collect();
        (tags, page.next)
    };
    let (newest, next) = tags(None);
    assert_eq!(newest, ["refs/tags/v3", "refs/tags/v2"]);
    assert_eq!(tags(next), (vec!["refs/tags/v1".to_owned()], None));
    assert_eq!(page::<ReleaseRun>(&bench.store, one, next, 2), None);
    assert_eq!(page::<AuditEvent>(&bench.store, two, Some(events[0]), 1), None);
    assert_eq!(page::<AuditEvent>(&bench.store, two, None, 1).unwrap().items, []);
}

fn sweeps_what_is_finished_and_old_and_nothing_else(open: Open) {
    let bench = bench(open);
    let item = dead_job(&bench.store, "a", 1);
    bench.store.record_delivery(delivery("done", 2, 1)).unwrap();
    let claim = bench.store.claim_jobs(1, "x", POLICY).unwrap().pop().unwrap();
    bench.store.run_job(&claim, &plan()).wait().unwrap();
    bench.store.record_delivery(delivery("waiting", 2, 2)).unwrap();
    let age = Duration::from_secs(100);
    assert_eq!(bench.store.sweep(age).unwrap().jobs, 0, "nothing is old yet");
    bench.clock.advance(age + Duration::from_secs(1));
    let swept = bench.store.sweep(age).unwrap();
    // The suspension and the release that ran; the dead job and the waiting one stay.
    assert_eq!((swept.jobs, swept.deliveries, swept.messages), (2, 2, 0));
    assert_eq!(bench.store.sweep(age).unwrap().jobs, 0);
    assert!(bench.store.dead_letter(installation(1), item).unwrap().is_some());
    assert_eq!(bench.store.claim_jobs(10, "x", POLICY).unwrap().len(), 1);
    assert!(bench.store.claim_message("x", POLICY, pace(), Vec::new()).unwrap().is_some());
}

fn notes_ticks(open: Open) {
    let bench = bench(open);
    assert_eq!(bench.store.ticks("w").unwrap().last_poll_at, None);
    bench.store.record_tick("w", false).unwrap();
    let ticks = bench.store.ticks("w").unwrap();
    assert!(ticks.last_poll_at.is_some() && ticks.last_success_at.is_none());
    bench.store.record_tick("w", true).unwrap();
    bench.clock.advance(Duration::from_secs(1));
    bench.store.record_tick("w", false).unwrap();
    let ticks = bench.store.ticks("w").unwrap();
    assert!(ticks.last_success_at < ticks.last_poll_at);
}

fn tells_of_itself(open: Open) {
    let bench = bench(open);
    let entries = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
    let steps = entries.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(bench.store.schema_step().unwrap(), i64::try_from(steps).unwrap());
    let before = bench.store.commits();
    bench.store.record_delivery(delivery("a", 1, 1)).unwrap();
    assert_eq!(bench.store.commits(), before + 1);
    bench.store.record_delivery(delivery("b", 1, 2)).unwrap();
    assert_eq!(bench.store.commits(), before + 2);
}

fn goes_on_when_the_clock_steps_back(open: Open) {
    let bench = bench(open);
    let first = dead_job(&bench.store, "a", 1);
    bench.clock.step_back(Duration::from_secs(3_600));
    let claim_fails_none = bench.store.claim_jobs(10, "x", POLICY).unwrap();
    assert!(claim_fails_none.is_empty());
    bench.store.record_delivery(delivery("b", 1, 2)).unwrap();
    let claim = bench.store.claim_jobs(1, "x", POLICY).unwrap().pop().unwrap();
    bench.store.run_job(&claim, &plan()).wait().unwrap();
    let page = page::<DeadLetter>(&bench.store, installation(1), None, 10).unwrap();
    assert_eq!(page.items.len(), 2);
    assert_eq!(
        item(&page.items[1]),
        first,
        "the newest failure stands first though time went back"
    );
    assert!(page.items[0].failed_at > page.items[1].failed_at);
}

fn serves_many_callers_at_once(open: Open) {
    let bench = bench(open);
    let commits = bench.store.commits();
    let pending: Vec<_> =
        (1..=500).map(|n| bench.store.submit_delivery(delivery(&n.to_string(), 1, n))).collect();
    let accepted = pending.into_iter().map(svc::store::Pending::wait);
    assert!(accepted.into_iter().all(|recorded| matches!(recorded, Ok(Recorded::Accepted(_)))));
    let groups = bench.store.commits() - commits;
    assert!(groups < 250, "500 verbs took {groups} commits");
    assert_eq!(bench.store.claim_jobs(1_000, "x", POLICY).unwrap().len(), 500);
}
