//! What can happen next. One step is one thing one actor does; a step that calls the forge holds
//! others inside it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use svc::api::{DeadLetter, DeadLetterFilter, ListRequest};
use svc::domain::dead_letter::{ItemId, ItemRequest, ItemType};
use svc::domain::delivery::{NewDelivery, Recorded};
use svc::domain::event::{Action, CommitSha, GitRef, InstallationState, RepositoryState};
use svc::domain::id::InstallationId;
use svc::domain::operation::{OperationId, OperatorReason, Outcome};
use svc::domain::pace::Pace;
use svc::domain::reconcile::ReconcileKind;
use svc::domain::reconcile::workflow::RunConclusion;
use svc::domain::repository::RepositoryRef;
use svc::domain::time::Timestamp;
use svc::runtime::notify::Notify;
use svc::store::{LeasePolicy, NEWEST_STEP, Store};
use svc::workers::driver::{Next, Worker as _};
use svc::workers::jobs::{Jobs, Unreturned};
use svc::workers::reconcile::{Detect, Reconcile};
use svc::workers::shares::Shares;
use svc::workers::{outbox::Outbox, sweep::Sweep};

use super::forge::{Died, SimulatedForge};
use super::results;
use super::world::{REPLICAS, TENANTS, World};
use crate::support::ManualClock;
use crate::support::world::{APP, RETRY, RULES, plan};

/// Does one thing, and now and then checkpoints after it.
pub(super) fn step(world: &Arc<World>, depth: u32) {
    let number = world.chance.below(100);
    act(world, depth, number);
    // By the same number: seeds that failed once go on to mean what they did.
    if number % 8 == 7 {
        checkpoint(world, depth, number % REPLICAS);
    }
}

fn act(world: &Arc<World>, depth: u32, number: u64) {
    match number {
        0..=15 => deliver_new(world, depth),
        16..=22 => deliver_again(world, depth),
        23..=26 => rerequest(world, depth),
        27..=28 => change_installation(world, depth),
        29 => change_repository(world, depth),
        30..=43 => run_jobs(world, depth),
        44..=48 => detect(world, depth),
        49 => damage(world, depth),
        50..=73 => send(world, depth),
        74..=76 => go_on_at_the_forge(world, depth),
        77..=78 => results::send(world, depth),
        79..=84 => reconcile(world, depth),
        85..=89 => replay(world, depth),
        90 => close(world, depth),
        91..=93 => move_clock(world, depth),
        94..=95 => reconcile(world, depth),
        96 => claim_and_vanish(world, depth),
        97 => shut_out_or_in(world, depth),
        98 => sweep(world, depth),
        _ => restart(world, depth),
    }
}

/// Without faults, all work until none of them has anything to do, for as long as anything may wait.
pub(super) fn come_to_rest(world: &Arc<World>) {
    for _ in 0..12 {
        let (_, store) = world.replica();
        detector(world, &store).step();
        for _ in 0..2_000 {
            let (_, store) = world.replica();
            let jobs = jobs(world, &store).step();
            let sent = outbox(world, &store, 0).step();
            let looked = reconciler(world, &store, 0).step();
            if [jobs, sent, looked].into_iter().all(|next| next == Next::Wait) {
                break;
            }
        }
        world.clock.advance(Duration::from_secs(3_600));
    }
}

fn tenant(world: &World) -> InstallationId {
    let number = i64::try_from(world.chance.below(u64::try_from(TENANTS).unwrap())).unwrap() + 1;
    number.try_into().unwrap()
}

fn deliver_new(world: &Arc<World>, depth: u32) {
    let tenant = tenant(world);
    let tag = world.chance.below(40);
    let action = Action::Release {
        git_ref: GitRef::new(&format!("refs/tags/v{tag}")).unwrap(),
        head_sha: CommitSha::new(&format!("{:a>40}", tag % 7 + 1)).unwrap(),
        owner: None,
    };
    deliver(world, depth, delivery(world, tenant, Some(action)));
}

/// The same delivery again, under its id or under another one, or another body under its id.
fn deliver_again(world: &Arc<World>, depth: u32) {
    let known = world.known.lock().unwrap().deliveries.clone();
    let Some(old) = world.chance.pick(&known) else { return };
    let mut again = old.clone();
    match world.chance.below(3) {
        0 => {}
        1 => again.id = fresh_id(world),
        _ => again.body_sha256 = [9; 32].into(),
    }
    deliver(world, depth, again);
}

fn rerequest(world: &Arc<World>, depth: u32) {
    let check_runs = world.forge.lock().unwrap().check_runs.clone();
    let Some((_, check_run)) = world.chance.pick(&check_runs).copied() else { return };
    let tag = world.chance.below(7) + 1;
    let action = Action::Rerequest {
        check_run,
        app: APP.try_into().unwrap(),
        head_sha: CommitSha::new(&format!("{tag:a>40}")).unwrap(),
    };
    let tenant = tenant(world);
    deliver(world, depth, delivery(world, tenant, Some(action)));
}

fn change_installation(world: &Arc<World>, depth: u32) {
    let states = [Some(InstallationState::Active), Some(InstallationState::Suspended), None];
    let state = *world.chance.pick(&states).unwrap();
    let action =
        Action::Installation { state, account: None, added: Vec::new(), removed: Vec::new() };
    let tenant = tenant(world);
    deliver(world, depth, delivery(world, tenant, Some(action)));
}

/// A repository gets another name, is deleted, or comes back.
fn change_repository(world: &Arc<World>, depth: u32) {
    let tenant = tenant(world);
    let state = match world.chance.below(5) {
        0 => RepositoryState::Deleted,
        _ => RepositoryState::Active,
    };
    let mut change = delivery(world, tenant, Some(Action::Repository { state }));
    let name = format!("org-{tenant}/app-{}", world.chance.below(3));
    change.repository = change
        .repository
        .map(|repository| RepositoryRef { full_name: name.parse().unwrap(), ..repository });
    deliver(world, depth, change);
}

fn delivery(world: &World, tenant: InstallationId, action: Option<Action>) -> NewDelivery {
    NewDelivery {
        id: fresh_id(world),
        event: "push",
        installation: Some(tenant),
        repository: Some(RepositoryRef {
            id: (tenant.get() * 10).try_into().unwrap(),
            full_name: format!("org-{tenant}/app").parse().unwrap(),
        }),
        body_sha256: [7; 32].into(),
        action,
    }
}

fn fresh_id(world: &World) -> svc::domain::delivery::DeliveryId {
    format!("d-{}", world.chance.below(u64::MAX)).parse().unwrap()
}

fn deliver(world: &Arc<World>, depth: u32, delivery: NewDelivery) {
    let (replica, store) = world.replica();
    let key = delivery.id.idempotency_key();
    world.known.lock().unwrap().deliveries.push(delivery.clone());
    let recorded = store.record_delivery(delivery);
    world.note(depth, &format!("replica {replica} takes in a delivery: {recorded:?}"));
    if let Ok(Recorded::Accepted(_)) = recorded {
        world.known.lock().unwrap().acknowledged.push(key);
    }
}

fn jobs(world: &Arc<World>, store: &Store) -> Jobs {
    Jobs {
        store: store.clone(),
        owner: "simulated".to_owned(),
        retry: RETRY,
        plan: plan(),
        outbox: Notify::new(),
        metrics: Arc::clone(&world.metrics),
        unreturned: Unreturned::default(),
    }
}

fn forge(world: &Arc<World>, depth: u32, notify: &Notify) -> Arc<SimulatedForge> {
    let (world, installation) = (Arc::clone(world), AtomicI64::new(0));
    Arc::new(SimulatedForge { world, depth, notify: notify.clone(), installation })
}

/// The pace of writes; as good as none once the faults have stopped, so that all comes to rest.
fn pace(world: &World) -> Pace {
    Pace::per_minute(if world.are_faults_on() { 60 } else { u32::MAX })
}

fn outbox(world: &Arc<World>, store: &Store, depth: u32) -> Outbox {
    let notify = Notify::new();
    if world.are_faults_on() && world.chance.one_in(40) {
        notify.stop();
    }
    world.stop_on_disk_failure(&notify);
    Outbox {
        store: store.clone(),
        forge: forge(world, depth, &notify),
        owner: "simulated".to_owned(),
        retry: RETRY,
        pace: pace(world),
        shares: Shares::of_pool(2),
        notify,
        metrics: Arc::clone(&world.metrics),
    }
}

fn run_jobs(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let next = jobs(world, &store).step();
    world.note(depth, &format!("replica {replica} runs jobs: {next:?}"));
}

/// A worker takes one message all the way, unless its process dies on the way.
fn send(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let mut worker = outbox(world, &store, depth);
    world.note(depth, &format!("replica {replica} sends"));
    unless_it_dies(world, depth, replica, || worker.step());
}

fn detector(world: &Arc<World>, store: &Store) -> Detect {
    Detect {
        store: store.clone(),
        clock: Arc::<ManualClock>::clone(&world.clock),
        rules: RULES,
        reconcile: Notify::new(),
        inbox_after: None,
    }
}

fn reconciler(world: &Arc<World>, store: &Store, depth: u32) -> Reconcile {
    let notify = Notify::new();
    if world.are_faults_on() && world.chance.one_in(40) {
        notify.stop();
    }
    world.stop_on_disk_failure(&notify);
    Reconcile {
        kinds: ReconcileKind::ALL,
        store: store.clone(),
        forge: forge(world, depth, &notify),
        owner: "simulated".to_owned(),
        rules: RULES,
        pace: pace(world),
        shares: Shares::of_pool(2),
        notify,
        outbox: Notify::new(),
        jobs: Notify::new(),
        metrics: Arc::clone(&world.metrics),
    }
}

fn detect(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let next = detector(world, &store).step();
    world.note(depth, &format!("replica {replica} detects: {next:?}"));
}

/// A worker looks at one item of each kind, unless its process dies on the way.
fn reconcile(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let mut worker = reconciler(world, &store, depth);
    world.note(depth, &format!("replica {replica} reconciles"));
    unless_it_dies(world, depth, replica, || worker.step());
}

fn unless_it_dies(world: &Arc<World>, depth: u32, replica: u64, step: impl FnOnce() -> Next) {
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(step)) {
        if !thrown.is::<Died>() {
            resume_unwind(thrown);
        }
        world.note(depth, &format!("replica {replica} died"));
    }
}

/// A workflow run ends, is run again, or is deleted.
fn go_on_at_the_forge(world: &Arc<World>, depth: u32) {
    let mut forge = world.forge.lock().unwrap();
    let count = u64::try_from(forge.runs.len()).unwrap();
    if count == 0 {
        return;
    }
    let place = usize::try_from(world.chance.below(count)).unwrap();
    let run = &mut forge.runs[place];
    match world.chance.below(12) {
        0 => run.deleted = true,
        1 => run.ended = None,
        2..=6 => run.ended = Some(RunConclusion::Success),
        _ => run.ended = world.chance.pick(RunConclusion::ALL).copied(),
    }
    let run = *run;
    if world.chance.one_in(12) {
        let check_runs: Vec<_> = forge.check_runs.iter().map(|(_, id)| *id).collect();
        forge.removed.extend(world.chance.pick(&check_runs));
    }
    drop(forge);
    world.note(depth, &format!("run {} is now {:?}, deleted: {}", run.id, run.ended, run.deleted));
    if world.chance.one_in(2) {
        let tenant = tenant(world);
        let action = Action::LookAtWorkflowRun { workflow_run: run.id };
        deliver(world, depth, delivery(world, tenant, Some(action)));
    }
}

/// A stranger changes the file: an inbox row loses its job, or is moved to another state. Only in
/// some runs, and never to a job that is claimed.
fn damage(world: &Arc<World>, depth: u32) {
    if !world.is_damaged_now_and_then() || !world.are_faults_on() || world.does_disk_fail() {
        return;
    }
    let what = if world.chance.one_in(2) {
        let lost = "DELETE FROM control_plane_jobs WHERE id = (SELECT min(id) FROM control_plane_jobs \
            JOIN webhook_inbox USING (inbox_id) WHERE status = 'available' AND state = 'accepted')";
        world.damage(lost);
        "a job is lost"
    } else {
        let state = *world.chance.pick(&["accepted", "processing", "dead_letter"]).unwrap();
        world.damage(&format!(
            "UPDATE webhook_inbox SET state = '{state}' WHERE inbox_id = \
                (SELECT min(inbox_id) FROM control_plane_jobs WHERE status = 'available')"
        ));
        "an inbox row drifts"
    };
    world.note(depth, what);
}

/// A process that dies right after it claimed.
fn claim_and_vanish(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let policy = LeasePolicy { lease: Duration::from_secs(60), retry: RETRY };
    let jobs = store.claim_jobs(2, "vanishing", policy).map(|claims| claims.len());
    let message = store.claim_message("vanishing", policy, pace(world), Vec::new()).is_ok();
    let kind = *world.chance.pick(ReconcileKind::ALL).unwrap();
    let task = store.claim_reconcile(kind, "vanishing", policy.lease, Vec::new()).is_ok();
    world.note(
        depth,
        &format!("replica {replica} claims {jobs:?} jobs, {message}, {kind} {task}, and dies"),
    );
}

fn replay(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let Some((key, request)) = operator_request(world, &store) else { return };
    let outcome = store.replay(request, None);
    world.note(depth, &format!("replica {replica} replays: {outcome:?}"));
    hear(&mut world.known.lock().unwrap().operations, key, outcome);
}

fn close(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let Some((key, request)) = operator_request(world, &store) else { return };
    let item = request.item;
    let outcome =
        store.close_dead_letter(request, None, OperatorReason::new("not needed").unwrap());
    world.note(depth, &format!("replica {replica} closes: {outcome:?}"));
    if let Ok(Outcome::Applied(_)) = outcome {
        world.known.lock().unwrap().closed.insert(item.to_string());
    }
    hear(&mut world.known.lock().unwrap().operations, key, outcome);
}

/// What an operator may ask for, about one of the newest dead letters.
fn operator_request(world: &World, store: &Store) -> Option<(String, ItemRequest)> {
    let tenant = tenant(world);
    let wanted =
        ListRequest::<DeadLetter> { filter: DeadLetterFilter::default(), before: None, limit: 20 };
    let Ok(Some(page)) = store.list(tenant, &wanted, Timestamp::MIN) else { return None };
    let letter = world.chance.pick(&page.items)?;
    let item_type = ItemType::from_word(&letter.item_type).unwrap();
    let item = ItemId::parse(item_type, &letter.item_id).unwrap();
    // A few keys are used again, for the same item or for another one.
    let key = format!("key-{}", world.chance.below(200));
    let request = ItemRequest {
        installation: if world.chance.one_in(10) { self::tenant(world) } else { tenant },
        item,
        operation: OperationId::new(&key).unwrap(),
        actor: "ops".to_owned(),
    };
    Some((key, request))
}

/// The same key gets the same answer for ever.
fn hear<R>(
    known: &mut BTreeMap<String, String>,
    key: String,
    outcome: Result<Outcome<R>, svc::store::Error>,
) {
    match outcome {
        Ok(Outcome::Applied(event)) => {
            let before = known.insert(key.clone(), event.to_string());
            assert_eq!(before, None, "{key} was applied twice");
        }
        Ok(Outcome::AlreadyApplied(event)) => {
            assert_eq!(known.get(&key), Some(&event.to_string()), "{key}");
        }
        Ok(_) | Err(_) => {}
    }
}

fn move_clock(world: &Arc<World>, depth: u32) {
    let seconds = match world.chance.below(20) {
        0 => 3_600 + world.chance.below(86_400),
        1..=6 => world.chance.below(600),
        _ => world.chance.below(20),
    };
    let by = Duration::from_secs(seconds);
    if world.chance.one_in(12) {
        world.note(depth, &format!("the clock steps back {seconds} s"));
        world.clock.step_back(by.min(Duration::from_secs(7_200)));
    } else {
        world.note(depth, &format!("{seconds} s pass"));
        world.clock.advance(by);
    }
}

fn shut_out_or_in(world: &Arc<World>, depth: u32) {
    if world.does_disk_fail() {
        return;
    }
    // Mostly in: a store that is shut makes everything else dull.
    let shut = world.are_faults_on() && world.chance.one_in(4);
    let step = if shut { NEWEST_STEP + 1 } else { NEWEST_STEP };
    world.note(depth, &format!("writers must know step {step}"));
    world.admit_writers_from(step);
    world.count("store", if shut { "shut" } else { "open" });
}

fn sweep(world: &Arc<World>, depth: u32) {
    let (replica, store) = world.replica();
    let mut worker = Sweep {
        store,
        retention: Duration::from_secs(365 * 86_400),
        release_retention: Duration::from_secs(365 * 86_400),
        releases_swept: None,
        delay_max: RETRY.delay_max,
        metrics: Arc::clone(&world.metrics),
    };
    let next = worker.step();
    world.note(depth, &format!("replica {replica} sweeps: {next:?}"));
}

/// What the thread of a replica does.
fn checkpoint(world: &Arc<World>, depth: u32, replica: u64) {
    let ended = world.store_of(replica).checkpoint().map_err(|error| error.class());
    world.note(depth, &format!("replica {replica} checkpoints: {ended:?}"));
    world.count("checkpoint", ended.err().unwrap_or("ok"));
}

fn restart(world: &Arc<World>, depth: u32) {
    if depth > 0 || world.does_disk_fail() || !world.chance.one_in(4) {
        return;
    }
    let (replica, _) = world.replica();
    world.note(depth, &format!("replica {replica} starts anew"));
    world.restart(replica);
}
