//! The main job in process: from webhook to settled effects, through every failure and every cut.

mod crash;
mod hints;
mod stale;
mod unavailable;

use std::time::Duration;

use svc::domain::outbox::EffectKind;
use svc::workers::driver::Worker as _;

use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{LONG, commit, webhooks};

const ACCEPTED: (u16, &str) = (202, "accepted");

fn push(world: &mut World, number: u32) {
    let webhook = webhooks(1).push_tag(&format!("v{number}"), &commit(number));
    assert_eq!(as_str(&world.deliver(&webhook)), ACCEPTED);
}

fn as_str((status, outcome): &(u16, String)) -> (u16, &str) {
    (*status, outcome)
}

#[test]
fn a_pushed_tag_becomes_a_running_release() {
    let mut world = World::new();
    push(&mut world, 1);
    assert_eq!(world.ask::<String>("SELECT state FROM webhook_inbox"), "accepted");
    world.settle();
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 1);
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1);
    assert_eq!(world.forge.updates(), 1);
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    assert_eq!(world.ask::<String>("SELECT status FROM control_plane_jobs"), "completed");
    assert_eq!(world.ask::<String>("SELECT state FROM webhook_inbox"), "processed");
    assert_eq!(world.ask::<Option<String>>("SELECT normalized_actions FROM webhook_inbox"), None);
}

#[test]
fn the_same_delivery_again_adds_nothing_whatever_its_body() {
    let world = World::new();
    let hooks = webhooks(1);
    let id = "AAAA-1";
    let first = world.deliver_as(id, &hooks.push_tag("v1", &commit(1)));
    assert_eq!(as_str(&first), ACCEPTED);
    for (id, tag) in [(id, "v1"), ("aaaa-1", "v1"), (id, "v2")] {
        let again = world.deliver_as(id, &hooks.push_tag(tag, &commit(1)));
        assert_eq!(as_str(&again), (200, "duplicate"), "{id} {tag}");
    }
    world.settle();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM control_plane_jobs"), 1);
    assert_eq!(world.ask::<i64>("SELECT redelivery_count FROM webhook_inbox"), 2);
    assert_eq!(world.ask::<i64>("SELECT conflict_count FROM webhook_inbox"), 1);
    assert_eq!(world.ask::<String>("SELECT git_ref FROM release_runs"), "refs/tags/v1");
}

#[test]
fn a_replayed_webhook_under_a_new_id_starts_nothing() {
    let mut world = World::new();
    push(&mut world, 1);
    push(&mut world, 1);
    world.settle();
    let done = "SELECT count(*) FROM control_plane_jobs WHERE status = 'completed'";
    assert_eq!(world.ask::<i64>(done), 2, "nothing to do is no failure");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 1);
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1);
}

#[test]
fn what_asks_nothing_of_us_is_recorded_and_ignored() {
    let mut world = World::new();
    let hooks = webhooks(1);
    let ping = svc::simulator::Webhooks::ping();
    for webhook in [ping, hooks.push_tag("nightly", &commit(1))] {
        assert_eq!(as_str(&world.deliver(&webhook)), (200, "ignored"));
    }
    world.settle();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM webhook_inbox WHERE state = 'ignored'"), 2);
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM control_plane_jobs"), 0);
}

#[test]
fn a_suspended_installation_starts_nothing_until_its_job_is_replayed() {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("suspend"));
    push(&mut world, 1);
    world.settle();
    let letters = world.dead_letters(1);
    assert_eq!(letters[0]["reasonCode"], "installation_suspended");
    assert_eq!(letters[0]["attemptCount"], 1);
    assert_eq!(
        world.ask::<i64>("SELECT count(*) FROM webhook_inbox WHERE state = 'dead_letter'"),
        1
    );
    let (kind, id) = world.only_dead_letter(1);
    world.deliver(&webhooks(1).installation("unsuspend"));
    world.settle();
    assert_eq!(world.replay(1, (&kind, &id), "k1").0, 200);
    world.settle();
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1);
    assert!(world.dead_letters(1).is_empty());
}

#[test]
fn a_refused_dispatch_dies_at_once_and_can_be_replayed() {
    let mut world = World::new();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    push(&mut world, 1);
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.dead_letters(1)[0]["replaySafe"], true);
    assert_eq!(world.forge.updates(), 0, "what comes after a dead effect is held");
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 200);
    world.settle();
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1);
    assert_eq!(world.forge.updates(), 1, "what was held goes on");
}

#[test]
fn a_dispatch_in_doubt_is_never_sent_again() {
    for plan in [Plan::LostBefore, Plan::LostAfter] {
        let mut world = World::new();
        world.forge.plan(EffectKind::WorkflowDispatch, plan);
        push(&mut world, 1);
        world.settle_for_good();
        let (kind, id) = world.only_dead_letter(1);
        assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_dispatch_uncertain");
        assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "dispatching");
        assert_eq!(world.replay(1, (&kind, &id), "k").0, 409);
        world.settle_for_good();
        let sent = usize::from(plan == Plan::LostAfter);
        assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), sent);
    }
}

#[test]
fn a_rerequest_is_the_way_on_from_a_dispatch_in_doubt() {
    let mut world = World::new();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::LostAfter);
    push(&mut world, 1);
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    let check_run = world.forge.last_check_run();
    let again = webhooks(1).check_run_rerequested(check_run.get(), &commit(1));
    world.deliver(&again);
    world.deliver(&again);
    world.settle();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_run_attempts"), 2, "once, not twice");
    assert_eq!(world.forge.most(EffectKind::WorkflowDispatch), 1);
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    assert!(world.dead_letters(1).is_empty(), "the old attempt's dead letter is closed");
    let left = "SELECT group_concat(status, ' ') FROM outbox WHERE status <> 'completed'";
    assert_eq!(world.ask::<String>(left), "superseded", "nothing of it is in circulation");
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 409);
}

#[test]
fn a_rerequest_of_a_running_release_or_of_another_app_changes_nothing() {
    let mut world = World::new();
    push(&mut world, 1);
    world.settle();
    let check_run = world.forge.last_check_run().get();
    for webhook in [
        webhooks(1).check_run_rerequested(check_run, &commit(1)),
        webhooks(1).check_run_rerequested(check_run + 1, &commit(1)),
        webhooks(1).check_run_rerequested(check_run, &commit(2)),
        webhooks(2).check_run_rerequested(check_run, &commit(1)),
    ] {
        assert_eq!(as_str(&world.deliver(&webhook)), ACCEPTED);
    }
    world.settle();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_run_attempts"), 1);
}

#[test]
fn a_lost_check_run_is_found_and_not_made_twice() {
    let mut world = World::new();
    world.forge.plan(EffectKind::CheckRunCreate, Plan::LostAfter);
    push(&mut world, 1);
    world.settle_for_good();
    assert_eq!(world.forge.most(EffectKind::CheckRunCreate), 1);
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
}

#[test]
fn an_unreachable_forge_is_tried_again_and_then_given_up_unsent() {
    let mut world = World::new();
    for _ in 0..3 {
        world.forge.plan(EffectKind::WorkflowDispatch, Plan::NotSent);
    }
    push(&mut world, 1);
    world.settle_for_good();
    let letters = world.dead_letters(1);
    assert_eq!(letters[0]["reasonCode"], "forge_unavailable");
    assert_eq!(letters[0]["attemptCount"], 3);
    assert_eq!(letters[0]["replaySafe"], true);
}

#[test]
fn a_release_whose_check_run_is_refused_is_still_queued() {
    let mut world = World::new();
    world.forge.plan(EffectKind::CheckRunCreate, Plan::Refused);
    push(&mut world, 1);
    world.settle_for_good();
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_check_run_create_rejected");
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "queued");
}

#[test]
fn no_token_is_no_effect() {
    let mut world = World::new();
    for _ in 0..3 {
        world.forge.plan(EffectKind::CheckRunCreate, Plan::TokenRefused);
    }
    push(&mut world, 1);
    world.settle_for_good();
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_token_refused");
    assert_eq!(world.dead_letters(1)[0]["errorClass"], "authentication");
}

#[test]
fn a_rate_limit_pauses_its_installation_and_no_other() {
    let mut world = World::new();
    let until =
        svc::runtime::clock::Clock::now(world.clock.as_ref()).plus(Duration::from_secs(600));
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::RateLimited(until));
    push(&mut world, 1);
    world.settle();
    push(&mut world, 2);
    world.deliver(&webhooks(2).push_tag("v1", &commit(3)));
    world.settle();
    let dispatched = || world.forge.count(EffectKind::WorkflowDispatch, None);
    assert_eq!(dispatched(), 1, "the other installation goes on");
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 2, "this one waits as a whole");
    world.clock.advance(Duration::from_secs(599));
    world.settle();
    assert_eq!(dispatched(), 1);
    world.clock.advance(Duration::from_secs(1));
    world.settle();
    assert_eq!(dispatched(), 3);
    assert!(world.dead_letters(1).is_empty(), "waiting is not failing");
}

#[test]
fn a_repository_is_reached_under_its_new_name_and_not_at_all_once_deleted() {
    let mut world = World::new();
    world.forge.plan(EffectKind::CheckRunCreate, Plan::NotSent);
    push(&mut world, 1);
    world.settle();
    let hooks = webhooks(1);
    let renamed = hooks.repository_renamed(&"org-1/renamed".parse().unwrap());
    world.deliver(&renamed);
    world.clock.advance(LONG);
    world.settle();
    let name = world.ask::<String>("SELECT full_name FROM repositories");
    assert_eq!(name, "org-1/renamed");
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    let raw = crate::support::world::open_raw(&world.database());
    raw.execute("UPDATE repositories SET state = 'deleted'", []).unwrap();
    // A release of a repository that is gone: the push itself says that it is back.
    push(&mut world, 2);
    world.settle();
    assert_eq!(world.ask::<String>("SELECT state FROM repositories"), "active");
}

#[test]
fn an_unreadable_job_dies_and_the_others_go_on() {
    let mut world = World::new();
    push(&mut world, 1);
    push(&mut world, 2);
    let raw = crate::support::world::open_raw(&world.database());
    raw.execute("UPDATE webhook_inbox SET normalized_actions = '[]' WHERE inbox_id = 1", [])
        .unwrap();
    world.settle();
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "actions_unreadable");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 1);
}

#[test]
fn a_poison_job_is_tried_given_up_and_stops_no_other() {
    let mut world = World::new();
    push(&mut world, 1);
    push(&mut world, 2);
    // The first cannot be applied: the commit it would release is one the schema refuses.
    let raw = crate::support::world::open_raw(&world.database());
    raw.execute_batch(
        "CREATE TRIGGER poison BEFORE INSERT ON release_runs WHEN NEW.git_ref = 'refs/tags/v1' \
         BEGIN SELECT RAISE(ABORT, 'poison'); END",
    )
    .unwrap();
    world.settle();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 1);
    assert!(world.dead_letters(1).is_empty(), "it is tried again first");
    world.settle_for_good();
    let letters = world.dead_letters(1);
    assert_eq!(letters[0]["reasonCode"], "job_failed");
    assert_eq!(letters[0]["attemptCount"], 3);
}

#[test]
fn a_stop_before_anything_left_costs_no_try() {
    let mut world = World::new();
    push(&mut world, 1);
    world.jobs().step();
    let mut outbox = world.outbox();
    outbox.notify.stop();
    outbox.step();
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 0);
    let waiting = "SELECT status || ' ' || attempt_count FROM outbox ORDER BY id LIMIT 1";
    assert_eq!(world.ask::<String>(waiting), "available 0");
}

#[test]
fn a_long_queue_of_a_paused_installation_holds_up_no_other() {
    let mut world = World::new();
    let until =
        svc::runtime::clock::Clock::now(world.clock.as_ref()).plus(Duration::from_secs(600));
    world.forge.plan(EffectKind::CheckRunCreate, Plan::RateLimited(until));
    for number in 1..=300 {
        push(&mut world, number);
    }
    world.deliver(&webhooks(2).push_tag("v1", &commit(999)));
    world.settle();
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1, "the other one's");
}

#[test]
fn other_repositories_or_permissions_do_not_end_a_suspension() {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("suspend"));
    world.deliver(&webhooks(1).installation("new_permissions_accepted"));
    world.settle();
    assert_eq!(world.ask::<String>("SELECT state FROM installations"), "suspended");
}

#[test]
fn a_rerequest_is_the_way_on_from_a_dispatch_that_is_refused_for_good() {
    let mut world = World::new();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    push(&mut world, 1);
    world.settle();
    assert_eq!(world.dead_letters(1).len(), 1);
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    assert!(world.dead_letters(1).is_empty());
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    assert_eq!(world.forge.most(EffectKind::WorkflowDispatch), 1);
}

#[test]
fn a_job_whose_repository_does_not_read_dies_and_the_others_go_on() {
    let mut world = World::new();
    push(&mut world, 1);
    push(&mut world, 2);
    let raw = crate::support::world::open_raw(&world.database());
    raw.execute("UPDATE webhook_inbox SET repository = 'not a name' WHERE inbox_id = 1", [])
        .unwrap();
    world.settle();
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "actions_unreadable");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 1);
}
