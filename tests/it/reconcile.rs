//! Reconciliation in process: what was lost is found after the observation window, looked at until the
//! deadline, and repaired; and what must not be touched is not.

mod check_run;
mod doubt;
mod lifecycle;
mod workflow;

use std::time::Duration;

use crate::support::World;
use crate::support::world::{RULES, commit, webhooks};

/// A release whose workflow runs and does not end.
fn running() -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    world
}

/// The only item: status and code.
fn item(world: &World) -> String {
    world.ask("SELECT status || ' ' || coalesce(outcome_code, '-') FROM reconciliation_items")
}

fn items(world: &World) -> i64 {
    world.ask("SELECT count(*) FROM reconciliation_items")
}

/// The release run: status and reason.
fn release(world: &World) -> String {
    world.ask("SELECT status || ' ' || coalesce(failure_reason, '-') FROM release_runs")
}

/// Just past the deadline of what was detected at the last step.
const PAST_DEADLINE: Duration = Duration::from_secs(RULES.deadline.as_secs() + 1);
