//! Lost webhooks in process: what the sweep asks the forge to send again, and what it leaves.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::id::HookDeliveryId;
use svc::domain::reconcile::Unavailable;
use svc::domain::redelivery::{FailedDelivery, REQUESTS_MAX};
use svc::domain::time::Timestamp;
use svc::forge::{DeliveryCursor, FailedDeliveries, WebhookDeliveries};
use svc::metrics::Metrics;
use svc::runtime::notify::Notify;
use svc::store::Store;
use svc::workers::driver::Worker as _;
use svc::workers::redelivery::{POLL, Redelivery};

use crate::support::World;
use crate::support::world::{commit, open_store, webhooks};

const HOUR: Duration = Duration::from_hours(1);

/// The app's webhooks at a forge in memory.
#[derive(Default)]
struct FakeWebhookDeliveries(Mutex<State>);

#[derive(Default)]
struct State {
    /// Newest first.
    failed: Vec<FailedDelivery>,
    /// Deliveries on one page; 0 for all.
    page: usize,
    asked: Vec<HookDeliveryId>,
    lists: usize,
    /// What the next lists come to.
    lists_fail: VecDeque<Unavailable>,
    /// What the next requests come to.
    requests_fail: VecDeque<Unavailable>,
}

impl FakeWebhookDeliveries {
    /// A delivery failed; returns the number of the try.
    fn fail(&self, delivery: &str, at: Timestamp) -> HookDeliveryId {
        let mut state = self.0.lock().unwrap();
        let id = i64::try_from(state.failed.len() + 1).unwrap().try_into().unwrap();
        let delivery = delivery.parse().unwrap();
        let failed = FailedDelivery { id, delivery, delivered_at: at, is_ours: true };
        state.failed.insert(0, failed);
        id
    }

    fn asked(&self) -> Vec<i64> {
        self.0.lock().unwrap().asked.iter().map(|id| id.get()).collect()
    }

    fn lists(&self) -> usize {
        self.0.lock().unwrap().lists
    }
}

impl WebhookDeliveries for FakeWebhookDeliveries {
    fn failed_deliveries(
        &self,
        after: Option<&DeliveryCursor>,
    ) -> Result<FailedDeliveries, Unavailable> {
        let mut state = self.0.lock().unwrap();
        state.lists += 1;
        if let Some(why) = state.lists_fail.pop_front() {
            return Err(why);
        }
        let from = after.map_or(0, |cursor| cursor.0.parse().unwrap());
        let until = if state.page == 0 { state.failed.len() } else { from + state.page };
        let deliveries = state.failed.iter().skip(from).take(until - from).cloned().collect();
        let next = (until < state.failed.len()).then(|| DeliveryCursor(until.to_string()));
        Ok(FailedDeliveries { deliveries, next })
    }

    fn redeliver(&self, delivery: HookDeliveryId) -> Result<(), Unavailable> {
        let mut state = self.0.lock().unwrap();
        state.asked.push(delivery);
        state.requests_fail.pop_front().map_or(Ok(()), Err)
    }
}

fn because(class: ErrorClass, wait_until: Option<Timestamp>) -> Unavailable {
    Unavailable { class, wait_until }
}

fn worker(world: &World, store: &Store, deliveries: &Arc<FakeWebhookDeliveries>) -> Redelivery {
    Redelivery {
        store: store.clone(),
        deliveries: Arc::<FakeWebhookDeliveries>::clone(deliveries),
        clock: Arc::<crate::support::ManualClock>::clone(&world.clock),
        notify: Notify::new(),
        pause: Duration::ZERO,
        metrics: Arc::new(Metrics::default()),
        paused_until: None,
    }
}

fn now(world: &World) -> Timestamp {
    use svc::runtime::clock::Clock as _;
    world.clock.now()
}

#[test]
fn only_what_did_not_arrive_is_asked_for() {
    let mut world = World::new();
    let deliveries = Arc::new(FakeWebhookDeliveries::default());
    assert_eq!(world.deliver_as("AAAA-1", &webhooks(1).push_tag("v1", &commit(1))).0, 202);
    deliveries.fail("aaaa-1", now(&world));
    let lost = deliveries.fail("bbbb-2", now(&world));
    deliveries.fail("cccc-3", now(&world));
    deliveries.0.lock().unwrap().failed[0].is_ours = false;
    let mut sweep = worker(&world, &world.store, &deliveries);
    sweep.step();
    assert_eq!(deliveries.asked(), [lost.get()]);
    // It arrives, and is asked for no more.
    assert_eq!(world.deliver_as("BBBB-2", &webhooks(1).push_tag("v2", &commit(2))).0, 202);
    world.clock.advance(HOUR);
    sweep.step();
    assert_eq!(deliveries.asked(), [lost.get()]);
    assert_eq!(world.deliver(&webhooks(1).push_tag("v3", &commit(3))).0, 202);
}

#[test]
fn a_delivery_is_asked_for_ever_more_seldom_and_given_up() {
    let mut world = World::new();
    let deliveries = Arc::new(FakeWebhookDeliveries::default());
    let first = now(&world);
    deliveries.fail("aaaa-1", first);
    let mut hours = Vec::new();
    // Each try fails too, as the forge lists it, and the process starts anew all the time.
    for _ in 0..12 * 24 * 12 {
        let before = deliveries.asked().len();
        worker(&world, &world.store, &deliveries).step();
        if deliveries.asked().len() > before {
            hours.push(now(&world).since(first).as_secs() / 360);
            deliveries.fail("aaaa-1", now(&world));
        }
        world.clock.advance(POLL);
        if hours.len() == 3 {
            world = world.restart();
        }
    }
    // In tenths of an hour.
    assert_eq!(hours, [0, 0, 3, 10, 33, 100, 303, 910]);
    assert_eq!(deliveries.asked().len(), usize::try_from(REQUESTS_MAX).unwrap());
    assert_eq!(world.ask::<i64>("SELECT request_count FROM webhook_redeliveries"), 8);
}

#[test]
fn what_the_forge_no_longer_has_is_not_asked_for_and_ends_the_list() {
    let world = World::new();
    let deliveries = Arc::new(FakeWebhookDeliveries::default());
    deliveries.fail("aaaa-1", now(&world).minus(HOUR * 73));
    let young = deliveries.fail("bbbb-2", now(&world).minus(HOUR * 71));
    deliveries.0.lock().unwrap().page = 1;
    deliveries.fail("cccc-3", now(&world).plus(HOUR));
    // What is listed behind one that is too old is older still.
    let mut oldest = deliveries.0.lock().unwrap().failed[1].clone();
    oldest.id = 9.try_into().unwrap();
    deliveries.0.lock().unwrap().failed.push(oldest);
    worker(&world, &world.store, &deliveries).step();
    assert_eq!((deliveries.asked(), deliveries.lists()), (vec![3, young.get()], 3));
}

#[test]
fn a_request_is_not_repeated_within_a_sweep_whatever_came_of_it() {
    use ErrorClass::{Authentication, NotFound, Protocol, RateLimited, Unavailable, Validation};
    for (class, goes_on) in [
        (NotFound, true),
        (Validation, true),
        (Authentication, false),
        (Protocol, false),
        (Unavailable, false),
        (RateLimited, false),
    ] {
        let world = World::new();
        let deliveries = Arc::new(FakeWebhookDeliveries::default());
        for delivery in ["aaaa-1", "bbbb-2", "aaaa-1"] {
            deliveries.fail(delivery, now(&world));
        }
        deliveries.0.lock().unwrap().requests_fail.push_back(because(class, None));
        let mut sweep = worker(&world, &world.store, &deliveries);
        sweep.step();
        let asked: &[i64] = if goes_on { &[3, 2] } else { &[3] };
        assert_eq!(deliveries.asked(), asked, "{class}");
        sweep.step();
        assert_eq!(deliveries.asked(), [3, 2], "{class}");
    }
}

#[test]
fn a_limit_is_waited_for() {
    let world = World::new();
    let deliveries = Arc::new(FakeWebhookDeliveries::default());
    deliveries.fail("aaaa-1", now(&world));
    let limit = || because(ErrorClass::RateLimited, Some(now(&world).plus(HOUR)));
    deliveries.0.lock().unwrap().lists_fail.push_back(limit());
    let mut sweep = worker(&world, &world.store, &deliveries);
    for _ in 0..12 {
        sweep.step();
        world.clock.advance(POLL);
    }
    assert_eq!((deliveries.lists(), deliveries.asked().len()), (1, 0));
    sweep.step();
    assert_eq!((deliveries.lists(), deliveries.asked().len()), (2, 1));
    // A clock that was years ahead does not keep it waiting.
    deliveries.0.lock().unwrap().lists_fail.push_back(limit());
    world.clock.advance(HOUR);
    sweep.step();
    world.clock.step_back(HOUR * 10_000);
    sweep.step();
    assert_eq!(deliveries.lists(), 4);
}

#[test]
fn a_sweep_is_bounded_and_the_next_goes_on() {
    let world = World::new();
    let deliveries = Arc::new(FakeWebhookDeliveries::default());
    for number in 0..120 {
        deliveries.fail(&format!("lost-{number}"), now(&world));
    }
    deliveries.0.lock().unwrap().page = 30;
    let mut sweep = worker(&world, &world.store, &deliveries);
    for wanted in [50, 100, 120, 120] {
        sweep.step();
        assert_eq!(deliveries.asked().len(), wanted);
        world.clock.advance(Duration::from_mins(1));
    }
    let mut asked = deliveries.asked();
    asked.dedup();
    assert_eq!(asked.len(), 120);
    // The end is asked for between two requests.
    world.clock.advance(HOUR);
    sweep.notify.stop();
    sweep.step();
    assert_eq!(deliveries.asked().len(), 121);
}

#[test]
fn two_replicas_ask_once_and_without_a_store_neither_does() {
    let world = World::new();
    let deliveries = Arc::new(FakeWebhookDeliveries::default());
    deliveries.fail("aaaa-1", now(&world));
    let other = open_store(&world.database(), &world.clock, 7);
    worker(&world, &world.store, &deliveries).step();
    worker(&world, &other, &deliveries).step();
    assert_eq!(deliveries.asked().len(), 1);
    deliveries.fail("bbbb-2", now(&world));
    assert!(other.close(HOUR));
    worker(&world, &other, &deliveries).step();
    assert_eq!(deliveries.asked().len(), 1);
}
