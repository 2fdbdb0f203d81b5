//! A store that is unavailable in the middle of an effect: nothing may leave that it could not note,
//! and nothing waits for a lease to run out once it is back.

use std::path::PathBuf;
use std::sync::Arc;

use svc::domain::id::InstallationId;
use svc::domain::outbox::{EffectKind, SendResult};
use svc::domain::repository::RepositoryRef;
use svc::forge::{Forge, Gate, Permission, Session, TokenUse};
use svc::metrics::Metrics;
use svc::store::NEWEST_STEP;
use svc::workers::driver::Worker as _;

use crate::daemon::wait_for;
use crate::support::World;
use crate::support::forge::{FakeForge, Plan};
use crate::support::world::{RETRY, commit, open_raw, webhooks};

/// A forge that takes the store away whenever it is asked for a session, until a worker has noticed.
struct Disturber {
    forge: Arc<FakeForge>,
    database: PathBuf,
    metrics: Arc<Metrics>,
}

impl Disturber {
    fn admit_writers_from(&self, step: i64) {
        open_raw(&self.database)
            .execute("UPDATE schema_compatibility SET oldest_writer_step = ?1", [step])
            .unwrap();
    }
}

impl Forge for Disturber {
    fn open<'s>(
        &'s self,
        installation: InstallationId,
        repository: &RepositoryRef,
        permission: Permission,
        token: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        self.admit_writers_from(NEWEST_STEP + 1);
        let before = self.metrics.store_failures.sum(|_| true);
        let again = Self {
            forge: Arc::clone(&self.forge),
            database: self.database.clone(),
            metrics: Arc::clone(&self.metrics),
        };
        svc::runtime::thread::spawn("disturber", move || {
            wait_for("an operation that fails", || {
                (again.metrics.store_failures.sum(|_| true) > before).then_some(())
            });
            again.admit_writers_from(NEWEST_STEP);
        })
        .unwrap();
        self.forge.open(installation, repository, permission, token, gate)
    }
}

#[test]
fn an_effect_the_store_could_not_note_does_not_leave_and_waits_for_no_lease() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.jobs().step();
    let mut outbox = world.outbox();
    outbox.forge = Arc::new(Disturber {
        forge: Arc::clone(&world.forge),
        database: world.database(),
        metrics: Arc::clone(&outbox.metrics),
    });
    outbox.step();
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 0);
    let waiting = "SELECT status || ' ' || attempt_count FROM outbox ORDER BY id LIMIT 1";
    assert_eq!(world.ask::<String>(waiting), "available 0");
    world.settle();
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1);
}

#[test]
fn a_look_that_our_own_stop_cuts_short_costs_no_try() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::CheckRunCreate, Plan::LostAfter);
    world.settle();
    let message =
        "SELECT status || ' ' || attempt_count FROM outbox WHERE kind = 'check_run_create'";
    assert_eq!(world.ask::<String>(message), "available 1");
    world.clock.advance(RETRY.delay_max);
    let mut worker = world.outbox();
    world.forge.next_find_is_cut_short(worker.notify.clone());
    worker.step();
    assert_eq!(world.ask::<String>(message), "available 1", "in doubt as before");
    world.settle();
    assert_eq!(world.ask::<String>(message), "completed 2");
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 1);
}
