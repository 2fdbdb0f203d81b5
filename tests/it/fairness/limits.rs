//! What one installation may take: turns, leases, writes, and no call inside a pause.

use std::sync::Arc;
use std::time::Duration;

use svc::domain::delivery::NewDelivery;
use svc::domain::event::{Action, CommitSha, GitRef};
use svc::domain::outbox::{EffectKind, SendResult};
use svc::domain::pace::Pace;
use svc::domain::reconcile::ReconcileKind;
use svc::domain::reconcile::workflow::Lookup;
use svc::domain::repository::RepositoryRef;
use svc::forge::{Forge, Gate, Permission, Session, TokenUse};
use svc::metrics::LookupOutcome;
use svc::runtime::clock::Clock as _;
use svc::store::LeasePolicy;
use svc::workers::driver::{Next, Worker as _};
use svc::workers::reconcile::Reconcile;

use crate::support::World;
use crate::support::forge::{FakeForge, Plan};
use crate::support::world::{RETRY, RULES, commit, installation, open_raw, pace, webhooks};

pub(super) const POLICY: LeasePolicy = LeasePolicy { lease: Duration::from_secs(60), retry: RETRY };

/// A push of a tag, as it is recorded.
pub(super) fn push(id: &str, tenant: i64, tag: &str, number: u32) -> NewDelivery {
    NewDelivery {
        id: id.parse().unwrap(),
        event: "push",
        installation: Some(installation(tenant)),
        repository: Some(RepositoryRef {
            id: (tenant * 10).try_into().unwrap(),
            full_name: format!("org-{tenant}/app").parse().unwrap(),
        }),
        body_sha256: [7; 32].into(),
        action: Some(Action::Release {
            git_ref: GitRef::new(&format!("refs/tags/{tag}")).unwrap(),
            head_sha: CommitSha::new(&commit(number)).unwrap(),
            owner: None,
        }),
    }
}

/// A world in which each of these installations has so many messages that are due.
pub(super) fn backlog(counts: &[(i64, u32)]) -> World {
    let mut world = World::new();
    for (tenant, count) in counts {
        for number in 0..*count {
            world.deliver(&webhooks(*tenant).push_tag(&format!("v{number}"), &commit(number)));
        }
    }
    let mut jobs = world.jobs();
    while jobs.step() == Next::Now {}
    world
}

/// Claims all that can be claimed while these installations have their share; whose it is.
fn claimed(world: &World, full: &[i64]) -> Vec<i64> {
    let full: Vec<_> = full.iter().map(|tenant| installation(*tenant)).collect();
    let claim = || world.store.claim_message("senders", POLICY, pace(), full.clone()).unwrap();
    std::iter::from_fn(|| claim().map(|claim| claim.item.installation.get())).collect()
}

#[test]
fn claims_go_round_the_installations_that_have_something_due() {
    let world = backlog(&[(1, 5), (2, 2), (3, 1)]);
    assert_eq!(claimed(&world, &[]), [1, 2, 3, 1, 2, 1, 1, 1]);
}

#[test]
fn a_backlog_of_jobs_is_no_wait_for_another_installation() {
    let mut world = World::new();
    for (tenant, count) in [(1, 100), (2, 1), (3, 3)] {
        for number in 0..count {
            world.deliver(&webhooks(tenant).push_tag(&format!("v{number}"), &commit(number)));
        }
    }
    let claims = world.store.claim_jobs(12, "jobs", POLICY).unwrap();
    let whose: Vec<_> = claims.iter().map(|claim| claim.item.installation.get()).collect();
    assert_eq!(whose, [1, 1, 1, 1, 2, 3, 3, 3]);
    let rest = world.store.claim_jobs(64, "jobs", POLICY).unwrap();
    assert_eq!(rest.len(), 64, "who is alone has all of it");
}

#[test]
fn looks_go_round_the_installations_that_have_something_due() {
    let world = backlog(&[(1, 3), (2, 1)]);
    world.settle();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let claim = || {
        let kind = ReconcileKind::WorkflowAttempt;
        let polled = world.store.claim_reconcile(kind, "it", POLICY.lease, Vec::new()).unwrap();
        polled.claim.map(|claim| claim.item.installation.get())
    };
    assert_eq!(std::iter::from_fn(claim).collect::<Vec<_>>(), [1, 2, 1, 1]);
}

#[test]
fn an_installation_that_has_its_share_of_the_threads_is_passed_over() {
    let world = backlog(&[(1, 3), (2, 2)]);
    assert_eq!(claimed(&world, &[1]), [2, 2]);
    assert_eq!(claimed(&world, &[]), [1, 1, 1]);
    world.clock.advance(POLICY.lease);
    world.settle_all();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let claim = |full: &[i64]| {
        let full = full.iter().map(|tenant| installation(*tenant)).collect();
        let kind = ReconcileKind::WorkflowAttempt;
        let polled = world.store.claim_reconcile(kind, "it", POLICY.lease, full).unwrap();
        polled.claim.map(|claim| claim.item.installation.get())
    };
    assert_eq!([claim(&[1]), claim(&[1]), claim(&[1])], [Some(2), Some(2), None]);
    assert_eq!(claim(&[]), Some(1));
}

#[test]
fn writes_of_an_installation_keep_its_pace_across_processes() {
    let world = backlog(&[(1, 30), (2, 1)]);
    let pace = Pace::per_minute(60);
    let send = |owner| {
        let claim = world.store.claim_message(owner, POLICY, pace, Vec::new()).unwrap()?;
        let tenant = claim.item.installation.get();
        let begun = world.store.begin_send(&claim, Duration::ZERO, pace).unwrap();
        assert_eq!(begun, None, "the claimed installation may write");
        Some(tenant)
    };
    let owners = ["one", "another"];
    let sent: Vec<_> = owners.iter().cycle().map_while(|owner| send(*owner)).collect();
    assert_eq!(sent.iter().filter(|tenant| **tenant == 1).count(), 10, "a sixth");
    assert_eq!(sent.iter().filter(|tenant| **tenant == 2).count(), 1);
    let mut later = 0;
    for _ in 0..490 {
        world.clock.advance(Duration::from_millis(100));
        later += std::iter::from_fn(|| send("one")).count();
    }
    assert_eq!((later, sent.len() - 1 + later), (20, 30), "the others follow evenly");
    assert!(world.clock.now() > svc::domain::time::Timestamp::MIN);
}

#[test]
fn a_write_that_must_wait_is_given_back_unmarked_and_uncounted() {
    let world = backlog(&[(1, 12)]);
    let first = world.store.claim_message("a", POLICY, pace(), Vec::new()).unwrap().unwrap();
    let slow = Pace::per_minute(1);
    assert_eq!(world.store.begin_send(&first, Duration::ZERO, slow).unwrap(), None);
    let mut outbox = world.outbox();
    outbox.pace = slow;
    assert_eq!(outbox.step(), Next::Wait, "nothing is claimed that could not be sent");
    let second = world.store.claim_message("a", POLICY, pace(), Vec::new()).unwrap().unwrap();
    let until = world.store.begin_send(&second, Duration::ZERO, slow).unwrap().unwrap();
    assert_eq!(until.since(world.clock.now()).as_secs(), 60);
    let told = SendResult::Deferred(until);
    world.store.settle_message(&second, told, false, None, RETRY).unwrap();
    let waiting = "SELECT attempt_count || ' ' || coalesce(send_began_at, 'unmarked') FROM outbox \
        WHERE status = 'available' AND available_at > updated_at";
    assert_eq!(world.ask::<String>(waiting), "0 unmarked");
    let paused = world.ask::<i64>("SELECT count(*) FROM installation_pauses");
    assert_eq!(paused, 0, "our own pace is no pause of the forge");
}

/// What is left of a refused message: its status, tries and returns, and when it is due.
fn refused(world: &World) -> String {
    world.ask(
        "SELECT status || ', ' || attempt_count || ' tries, ' || lag_count || ' returns, due in ' \
            || ((available_at - updated_at) / 1000000) FROM outbox WHERE kind = 'workflow_dispatch'",
    )
}

#[test]
fn a_refusal_that_may_be_lag_is_given_back_and_the_fourth_is_judged() {
    use svc::domain::dead_letter::ErrorClass::{Authentication, NotFound, Permission, Validation};
    for class in [Authentication, Permission, NotFound] {
        let world = backlog(&[(1, 1)]);
        let mut outbox = world.outbox();
        outbox.step();
        for (returns, delay) in [(1, 1), (2, 3), (3, 8)] {
            world.forge.plan(EffectKind::WorkflowDispatch, Plan::RefusedAs(class));
            outbox.step();
            let wanted = format!("available, 0 tries, {returns} returns, due in {delay}");
            assert_eq!(refused(&world), wanted, "{class}");
            world.clock.advance(Duration::from_secs(delay));
        }
        world.forge.plan(EffectKind::WorkflowDispatch, Plan::RefusedAs(class));
        outbox.step();
        assert!(
            refused(&world).starts_with("dead_letter, 1 tries"),
            "{class}: {}",
            refused(&world)
        );
        let (kind, id) = world.only_dead_letter(1);
        assert_eq!(world.replay(1, (&kind, &id), "k").0, 200);
        assert!(refused(&world).contains("0 returns"), "a replay begins anew");
        world.settle();
        assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1);
    }
    let world = backlog(&[(1, 1)]);
    world.outbox().step();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::RefusedAs(Validation));
    world.outbox().step();
    assert!(refused(&world).starts_with("dead_letter"), "no lag refuses a request as such");
}

#[test]
fn a_look_waits_for_lag_only_when_it_decides() {
    let world = backlog(&[(1, 1)]);
    world.settle();
    world.forge.workflow_run_is(Lookup::NotFound);
    let item = || {
        world.ask::<String>(
            "SELECT status || ' ' || outcome_code || ' in ' || ((next_check_at - updated_at) / 1000000) \
             FROM reconciliation_items",
        )
    };
    world.reconcile_after(RULES.observation);
    assert_eq!(item(), "open forge_workflow_not_found in 60");
    world.reconcile_after(RULES.deadline);
    for delay in [1, 3, 8] {
        assert_eq!(item(), format!("open forge_token_lag in {delay}"));
        world.reconcile_after(Duration::from_secs(delay));
    }
    assert!(item().starts_with("completed forge_workflow_not_found"), "{}", item());
    let release = "SELECT status || ' ' || failure_reason FROM release_runs";
    assert_eq!(world.ask::<String>(release), "failed forge_workflow_not_found");
}

/// A forge that asks the installation to wait through another session, while a session is opened.
struct Pausing {
    forge: Arc<FakeForge>,
    database: std::path::PathBuf,
    until: i64,
}

impl Forge for Pausing {
    fn open<'s>(
        &'s self,
        installation: svc::domain::id::InstallationId,
        repository: &RepositoryRef,
        permission: Permission,
        token: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        let session = self.forge.open(installation, repository, permission, token, gate)?;
        open_raw(&self.database)
            .execute(
                "INSERT INTO installation_pauses VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING",
                [installation.get(), self.until],
            )
            .unwrap();
        Ok(session)
    }
}

#[test]
fn a_session_that_is_open_makes_no_call_inside_a_pause() {
    let world = backlog(&[(1, 1)]);
    let wait = Duration::from_secs(90);
    let pausing = |world: &World| {
        Arc::new(Pausing {
            forge: Arc::clone(&world.forge),
            database: world.database(),
            until: world.clock.now().plus(wait).micros(),
        })
    };
    let mut outbox = world.outbox();
    outbox.forge = pausing(&world);
    outbox.step();
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 0, "nothing left");
    let waiting = "SELECT attempt_count || ' ' || ((available_at - updated_at) / 1000000) FROM outbox \
        WHERE status = 'available'";
    assert_eq!(world.ask::<String>(waiting), "0 90");
    assert_eq!(outbox.step(), Next::Wait);
    world.clock.advance(wait);
    world.settle();
    // The same of a look: nothing is learned, and it counts as none.
    world.clock.advance(RULES.observation);
    world.tamper("DELETE FROM installation_pauses");
    world.detect().step();
    let mut reconcile = world.reconcile();
    reconcile.forge = pausing(&world);
    reconcile.step();
    assert_eq!(world.forge.lookups(), 0);
    let item = "SELECT status || ' ' || attempt_count || ' ' || coalesce(outcome_code, '-') || ' ' \
        || ((next_check_at - updated_at) / 1000000) FROM reconciliation_items";
    assert_eq!(world.ask::<String>(item), "open 0 - 90");
}

#[test]
fn a_look_that_asked_nothing_is_no_failed_lookup() {
    let mut world = backlog(&[(1, 1)]);
    world.settle();
    world.deliver(&webhooks(1).installation("suspend"));
    world.settle();
    world.reconcile_after(RULES.observation);
    let item = "SELECT status || ' ' || outcome_code FROM reconciliation_items";
    assert_eq!(world.ask::<String>(item), "open forge_lookup_failed", "it will be checked again");
    let failed = world.app.metrics.lookups.sum(|(_, outcome)| outcome == LookupOutcome::Failed);
    assert_eq!((world.forge.lookups(), failed), (0, 0));
}

#[test]
fn lifecycle_items_need_no_thread_that_waits_for_the_forge() {
    let world = backlog(&[(1, 1)]);
    world.settle();
    world.tamper("UPDATE webhook_inbox SET state = 'processing'");
    world.clock.advance(RULES.observation);
    world.detect().step();
    let mut local = world.reconcile();
    local.kinds = Reconcile::IN_THE_STORE;
    while local.step() == Next::Now {}
    assert_eq!(world.ask::<String>("SELECT state FROM webhook_inbox"), "processed");
    assert_eq!(world.forge.lookups(), 0);
    let asking = Reconcile::AT_THE_FORGE.iter().chain(Reconcile::IN_THE_STORE).count();
    assert_eq!(asking, ReconcileKind::ALL.len(), "each kind has its threads");
}
