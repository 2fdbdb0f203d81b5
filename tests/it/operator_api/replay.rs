//! A replayed job and its inbox row: the row is in the state its job gives it, from the replay on.

use std::time::Duration;

use svc::store::LeasePolicy;
use svc::workers::driver::Worker as _;

use super::with_dead_letters;
use crate::support::World;
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

/// A malformed id names nothing, so the key is not looked at: 404, not the 422 of a key that was used for something else.
#[test]
fn a_malformed_id_is_not_found_with_a_used_key_too() {
    let mut world = with_dead_letters(1);
    world.deliver(&webhooks(1).installation("unsuspend"));
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.replay(1, (&kind, &id), "used").0, 200);
    let answer = |world: &World, kind: &str, id: &str| {
        let (status, outcome, _) = world.replay(1, (kind, id), "used");
        (status, outcome)
    };
    let not_found = (404, "not_found".to_owned());
    let conflict = (422, "operation_conflict".to_owned());
    assert_eq!(answer(&world, &kind, "0199f3a0-0000-7000-8000-00000000000a"), conflict);
    for malformed in ["1", "0199f3a0", "not-an-id", &id.to_uppercase()] {
        assert_eq!(answer(&world, &kind, malformed), not_found, "{malformed}");
    }
    assert_eq!(answer(&world, "release", &id), not_found);
    let published = include_str!("../../../docs/openapi.json");
    let operation = published.split("\"replayDeadLetter\"").nth(1).unwrap();
    let description = operation.split("\"description\": \"").nth(1).unwrap();
    let sentence =
        "A malformed type or id is `not_found` (404), even with a key that was used before.";
    assert!(description.split('"').next().unwrap().contains(sentence), "{description:.300}");
}

/// An item that has died again may have died of something else, so a request that names the death before is refused.
#[test]
fn a_request_about_a_death_that_is_over_is_refused() {
    let world = with_dead_letters(1);
    let (kind, id) = world.only_dead_letter(1);
    let died_at = |world: &World| world.dead_letters(1)[0]["failedAt"].as_str().unwrap().to_owned();
    let first = died_at(&world);
    let named = |instant: &str| format!("{id}?failedAt={instant}");
    assert_eq!(world.replay(1, (&kind, &named(&first)), "k").1, "replayed");
    world.settle();
    let second = died_at(&world);
    assert!(second > first);
    let refused = (409, "not_replayable".to_owned(), None);
    assert_eq!(world.replay(1, (&kind, &named(&first)), "other"), refused);
    let not_open = (409, "not_open".to_owned(), None);
    assert_eq!(world.close(1, (&kind, &named(&first)), "other", "not needed"), not_open);
    // The key comes first: the same request has the same answer, whatever became of the item.
    assert_eq!(world.replay(1, (&kind, &named(&first)), "k").1, "already_applied");
    // A request about another death is another request.
    let conflict = (422, "operation_conflict".to_owned(), None);
    assert_eq!(world.replay(1, (&kind, &named(&second)), "k"), conflict);
    assert_eq!(world.replay(1, (&kind, &id), "k").1, "already_applied", "it names none");
    for query in ["failedAt=yesterday", "failedAt=", "failed=1", "failedAt=1&failedAt=1"] {
        let (status, outcome, _) = world.replay(1, (&kind, &format!("{id}?{query}")), "fresh");
        assert_eq!((status, outcome.as_str()), (400, "invalid_request"), "{query}");
    }
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM audit_events"), 1);
    assert_eq!(world.close(1, (&kind, &named(&second)), "close", "not needed").1, "closed");
    assert_eq!(world.replay(1, (&kind, &named(&second)), "late").1, "not_replayable");
}
