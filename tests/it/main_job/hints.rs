//! Webhooks that say that a workflow run moved: a hint to look, for whom it belongs to.

use crate::support::World;
use crate::support::world::{commit, webhooks};

#[test]
fn a_workflow_run_that_moves_is_noted_for_its_own_installation_alone() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    let run = world.ask::<i64>("SELECT workflow_run_id FROM release_run_attempts");
    let hinted = "SELECT hinted_at IS NOT NULL FROM release_run_attempts";
    for webhook in
        [webhooks(2).workflow_run("completed", run), webhooks(1).workflow_run("completed", run + 1)]
    {
        world.deliver(&webhook);
        world.settle();
        assert!(!world.ask::<bool>(hinted));
    }
    world.deliver(&webhooks(1).workflow_run("completed", run));
    world.settle();
    assert!(world.ask::<bool>(hinted));
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running", "no conclusion");
}
