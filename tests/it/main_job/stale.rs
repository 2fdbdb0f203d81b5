//! Webhooks whose jobs run after those of newer ones.

use std::time::Duration;

use crate::support::World;
use crate::support::world::{LONG, webhooks};

/// Works on the first delivery after the others, as after a retry.
fn settle_the_first_last(world: &World) {
    world
        .tamper("UPDATE control_plane_jobs SET available_at = available_at + 5000000 WHERE id = 1");
    world.clock.advance(LONG);
    world.settle();
}

#[test]
fn an_old_webhook_does_not_undo_a_newer_one() {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("unsuspend"));
    world.clock.advance(Duration::from_secs(1));
    world.deliver(&webhooks(1).installation("suspend"));
    settle_the_first_last(&world);
    assert_eq!(world.ask::<String>("SELECT state FROM installations"), "suspended");
}

#[test]
fn an_old_webhook_that_names_no_state_does_not_undo_a_newer_name() {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("new_permissions_accepted"));
    world.clock.advance(Duration::from_secs(1));
    let mut renamed = webhooks(1);
    renamed.repository.full_name = "renamed/app".parse().unwrap();
    world.deliver(&renamed.installation("suspend"));
    settle_the_first_last(&world);
    let known = "SELECT account || ' ' || state FROM installations";
    assert_eq!(world.ask::<String>(known), "renamed suspended");
    // A later one counts, and leaves the state as it is.
    world.deliver(&webhooks(1).installation("new_permissions_accepted"));
    world.settle();
    assert_eq!(world.ask::<String>(known), "org-1 suspended");
}
