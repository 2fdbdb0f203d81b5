//! Crashes between any two steps. The main job is cut after each of its steps in turn; a new process
//! takes over on the same file; then the invariants must hold, whatever was lost.

use svc::domain::job::Job;
use svc::domain::lease::Claim;
use svc::domain::outbox::{EffectKind, OutboxMessage};
use svc::store::LeasePolicy;
use svc::workers::driver::Worker as _;

use crate::support::World;
use crate::support::world::{LONG, RETRY, commit, pace, plan, webhooks};

/// The step after which the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Delivery,
    JobClaim,
    JobDone,
    /// The n-th message: claimed.
    Claim(u32),
    /// The n-th message: marked as leaving.
    Mark(u32),
    /// The n-th message: the forge did it.
    Call(u32),
    /// The n-th message: recorded.
    Settle(u32),
}

fn every_cut() -> Vec<Cut> {
    let mut cuts = vec![Cut::Delivery, Cut::JobClaim, Cut::JobDone];
    for n in 1..=3 {
        cuts.extend([Cut::Claim(n), Cut::Mark(n), Cut::Call(n), Cut::Settle(n)]);
    }
    cuts
}

#[test]
fn a_crash_between_any_two_steps_loses_nothing_and_doubles_nothing() {
    for cut in every_cut() {
        let mut world = World::new();
        let delivered = world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
        assert_eq!(delivered.0, 202);
        run_until(&world, cut);
        let world = world.restart();
        world.clock.advance(LONG);
        world.settle_for_good();
        check(&world, cut);
    }
}

/// Runs the main job step by step and stops where the process dies.
fn run_until(world: &World, cut: Cut) {
    if cut == Cut::Delivery {
        return;
    }
    let policy = LeasePolicy { lease: LONG / 2, retry: RETRY };
    let claim: Claim<Job> = world.store.claim_jobs(1, "dying", policy).unwrap().pop().unwrap();
    if cut == Cut::JobClaim {
        return;
    }
    world.store.run_job(&claim, &plan()).wait().unwrap();
    if cut == Cut::JobDone {
        return;
    }
    for n in 1..=3 {
        let last = matches!(cut, Cut::Claim(m) | Cut::Mark(m) | Cut::Call(m)
            | Cut::Settle(m) if m == n);
        if !last {
            world.outbox().step();
            continue;
        }
        let claim: Claim<OutboxMessage> = claimed(world, "dying", policy);
        if cut == Cut::Claim(n) {
            return;
        }
        world.store.begin_send(&claim, std::time::Duration::ZERO, pace()).unwrap();
        if cut == Cut::Mark(n) {
            return;
        }
        let result = call(world, &claim.item);
        if cut == Cut::Call(n) {
            return;
        }
        world.store.settle_message(&claim, result, false, None, RETRY).unwrap();
        return;
    }
}

fn claimed(world: &World, owner: &str, policy: LeasePolicy) -> Claim<OutboxMessage> {
    *world
        .store
        .claim_message(owner, policy, pace(), Vec::new())
        .unwrap()
        .expect("a message is due")
}

/// Carries out a message's effect at the forge, as the worker would.
fn call(world: &World, message: &OutboxMessage) -> svc::domain::outbox::SendResult {
    use svc::domain::outbox::Effect;
    use svc::forge::{CheckRunUpdate, Dispatch, Forge as _, NewCheckRun, Permission, TokenUse};
    let repository = message.repository.as_ref().unwrap();
    let permission = match message.kind {
        EffectKind::WorkflowDispatch => Permission::ActionsWrite,
        EffectKind::CheckRunCreate | EffectKind::CheckRunUpdate => Permission::ChecksWrite,
    };
    let (installation, token) = (message.installation, TokenUse::Shared);
    let mut session =
        world.forge.open(installation, repository, permission, token, &|| Ok(())).unwrap();
    match message.effect.as_ref().unwrap() {
        Effect::WorkflowDispatch { workflow, tag, nonce } => session.dispatch_workflow(&Dispatch {
            workflow,
            tag,
            release_run: message.release_run,
            attempt: message.attempt,
            nonce,
        }),
        Effect::CheckRunCreate { name, head_sha } => {
            session.create_check_run(&NewCheckRun { name, head_sha, attempt: message.attempt })
        }
        Effect::CheckRunUpdate { status } => session.update_check_run(&CheckRunUpdate {
            check_run: message.check_run.unwrap(),
            attempt: message.attempt,
            head_sha: message.head_sha.as_ref().unwrap().as_str(),
            name: message.check_run_name.as_deref(),
            status: *status,
        }),
    }
}

/// The invariants: nothing acknowledged is lost, nothing is done twice, what is not known is said.
fn check(world: &World, cut: Cut) {
    assert_eq!(world.ask::<String>("SELECT state FROM webhook_inbox"), "processed", "{cut:?}");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 1, "{cut:?}");
    assert!(world.forge.most(EffectKind::WorkflowDispatch) <= 1, "{cut:?}");
    assert!(world.forge.most(EffectKind::CheckRunCreate) <= 1, "{cut:?}");
    let uncertain = matches!(cut, Cut::Mark(2) | Cut::Call(2));
    let letters = world.dead_letters(1);
    if uncertain {
        assert_eq!(letters.len(), 1, "{cut:?}");
        assert_eq!(letters[0]["reasonCode"], "forge_dispatch_uncertain", "{cut:?}");
        assert_eq!(letters[0]["replaySafe"], false, "{cut:?}");
    } else {
        assert!(letters.is_empty(), "{cut:?}: {letters:?}");
        assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1, "{cut:?}");
        assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running", "{cut:?}");
        let unfinished = "SELECT count(*) FROM outbox WHERE status <> 'completed'";
        assert_eq!(world.ask::<i64>(unfinished), 0, "{cut:?}");
    }
}

#[test]
fn a_stale_holder_changes_nothing() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    let policy = LeasePolicy { lease: LONG / 2, retry: RETRY };
    let stale = world.store.claim_jobs(1, "stale", policy).unwrap().pop().unwrap();
    world.clock.advance(LONG);
    let fresh = world.store.claim_jobs(1, "fresh", policy).unwrap().pop().unwrap();
    assert!(fresh.fence.token > stale.fence.token);
    let lost = world.store.run_job(&stale, &plan()).wait();
    assert!(matches!(lost, Err(svc::store::Error::LeaseLost)), "{lost:?}");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 0);
    world.store.run_job(&fresh, &plan()).wait().unwrap();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 1);

    let stale = claimed(&world, "stale", policy);
    world.clock.advance(LONG);
    let fresh = claimed(&world, "fresh", policy);
    let marked = world.store.begin_send(&stale, std::time::Duration::ZERO, pace());
    assert!(matches!(marked, Err(svc::store::Error::LeaseLost)));
    let result = call(&world, &fresh.item);
    let settled = world.store.settle_message(&stale, result, false, None, RETRY);
    assert!(matches!(settled, Err(svc::store::Error::LeaseLost)));
    world.store.settle_message(&fresh, result, false, None, RETRY).unwrap();
}

#[test]
fn an_item_that_kills_every_holder_is_given_up() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    let policy = LeasePolicy { lease: LONG / 2, retry: RETRY };
    for _ in 0..RETRY.attempts_max {
        assert_eq!(world.store.claim_jobs(1, "dying", policy).unwrap().len(), 1);
        world.clock.advance(LONG);
    }
    assert!(world.store.claim_jobs(1, "next", policy).unwrap().is_empty());
    let letters = world.dead_letters(1);
    assert_eq!(letters[0]["reasonCode"], "crash_loop");
    assert_eq!(letters[0]["errorClass"], "crash");
}

#[test]
fn an_effect_does_not_leave_when_too_little_of_its_lease_is_left() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.jobs().step();
    let policy = LeasePolicy { lease: LONG, retry: RETRY };
    let claim = claimed(&world, "slow", policy);
    world.clock.advance(LONG / 2);
    world.store.begin_send(&claim, LONG / 2, pace()).unwrap();
    world.clock.advance(std::time::Duration::from_secs(1));
    let late = world.store.begin_send(&claim, LONG / 2, pace());
    assert!(matches!(late, Err(svc::store::Error::LeaseLost)));
}

#[test]
fn an_answer_that_comes_after_its_lease_proves_the_dispatch() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.jobs().step();
    world.outbox().step();
    let policy = LeasePolicy { lease: LONG / 2, retry: RETRY };
    let claim = claimed(&world, "slow", policy);
    world.store.begin_send(&claim, std::time::Duration::ZERO, pace()).unwrap();
    let result = call(&world, &claim.item);
    // The clock steps on; the lease is over, and another worker gives the dispatch up.
    world.clock.advance(LONG);
    world.outbox().step();
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_dispatch_uncertain");
    world.store.settle_message(&claim, result, false, None, RETRY).unwrap();
    assert!(world.dead_letters(1).is_empty());
    assert_eq!(world.ask::<String>("SELECT resolution FROM dead_letters"), "completed");
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    world.settle();
    assert_eq!(world.forge.updates(), 1);
    let again = world.store.settle_message(&claim, result, false, None, RETRY);
    assert!(matches!(again, Err(svc::store::Error::LeaseLost)));
}
