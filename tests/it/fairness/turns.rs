//! A claim looks at a bounded number of installations; the bound leaves none of them out.

use crate::support::World;
use crate::support::world::{commit, pace, webhooks};

use super::limits::{POLICY, backlog};

/// Installations that one claim looks at, at most.
const LOOKS: i64 = 256;

/// Claims while one installation alone has something due: the one behind those that the first claim looks
/// at. It must be the first that the second claim looks at.
fn assert_none_is_left_out(
    world: &World,
    count: i64,
    (queue, table): (&str, &str),
    claim: impl Fn() -> Option<i64>,
) {
    // The third makes the first claim end with the highest number, so that it stops on its way round.
    for served in [0, 200, count - LOOKS, count] {
        let due = (served + LOOKS) % count + 1;
        world.tamper(&format!(
            "UPDATE {table} SET status = 'available', claim_id = NULL, lease_expires_at = NULL, \
                available_at = created_at + iif(installation_id = {due}, 0, 3600000000) \
             WHERE status IN ('available', 'leased'); \
             INSERT OR REPLACE INTO claim_turns VALUES ('{queue}', {served})"
        ));
        let claims = [claim(), claim()];
        assert_eq!(claims, [None, Some(due)], "{queue}: {due} of {count}, behind {served}");
    }
}

#[test]
fn jobs_of_more_installations_than_a_claim_looks_at_are_all_claimed() {
    for count in [257, 300] {
        let mut world = World::new();
        for tenant in 1..=count {
            world.deliver(&webhooks(tenant).push_tag("v1", &commit(1)));
        }
        assert_none_is_left_out(&world, count, ("jobs", "control_plane_jobs"), || {
            let claims = world.store.claim_jobs(12, "jobs", POLICY).unwrap();
            claims.first().map(|claim| claim.item.installation.get())
        });
    }
}

#[test]
fn messages_of_more_installations_than_a_claim_looks_at_are_all_claimed() {
    for count in [257, 300] {
        let one_each: Vec<_> = (1..=count).map(|tenant| (tenant, 1)).collect();
        let world = backlog(&one_each);
        assert_none_is_left_out(&world, count, ("outbox", "outbox"), || {
            let claim = world.store.claim_message("senders", POLICY, pace(), Vec::new()).unwrap();
            claim.map(|claim| claim.item.installation.get())
        });
    }
}
