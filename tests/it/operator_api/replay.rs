//! A replayed job and its inbox row: the row is in the state its job gives it, from the replay on.

use std::time::Duration;

use svc::store::LeasePolicy;
use svc::workers::driver::Worker as _;

use super::with_dead_letters;
use crate::support::world::{RETRY, RULES, plan, webhooks};

/// The job that was replayed, and its inbox row.
const STATES: &str = "SELECT j.status || ' ' || i.state FROM control_plane_jobs j \
    JOIN webhook_inbox i USING (inbox_id) JOIN dead_letters d ON d.item_id = j.job_id";

#[test]
fn a_replayed_job_takes_its_inbox_row_along() {
    let mut world = with_dead_letters(1);
    world.deliver(&webhooks(1).installation("unsuspend"));
    world.settle();
    assert_eq!(world.ask::<String>(STATES), "dead_letter dead_letter");

    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 200);
    assert_eq!(world.ask::<String>(STATES), "available accepted");
    // A row that lagged behind its job would be drift.
    world.clock.advance(RULES.observation);
    world.detect().step();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM reconciliation_items"), 0);

    let policy = LeasePolicy { lease: Duration::from_secs(60), retry: RETRY };
    let claims = world.store.claim_jobs(9, "it", policy).unwrap();
    assert_eq!(world.ask::<String>(STATES), "leased processing");
    world.store.run_job(&claims[0], &plan()).wait().unwrap();
    assert_eq!(world.ask::<String>(STATES), "completed processed");

    let again = world.replay(1, (&kind, &id), "k");
    assert_eq!((again.0, again.1.as_str()), (200, "already_applied"));
    assert_eq!(
        world.ask::<String>(STATES),
        "completed processed",
        "the second answer does nothing"
    );
}
