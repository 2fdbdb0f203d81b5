//! The events of the three reconcilers, by the names the specification gives them. The real workers emit
//! each, for a world in which exactly one kind has something to reconcile.

use log::Level;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::ReconcileKind;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::workers::driver::Worker as _;

use super::running;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::log::{Line, lines_of};
use crate::support::world::{RULES, commit, webhooks};

/// Typed by hand from the specification; nothing writes it.
const SPECIFICATION: &str = include_str!("../../data/specification/reconciliation_events.txt");

/// A step of a worker; returns what it logged.
type Step = fn(ReconcileKind) -> Vec<Line>;

/// What happens to a reconciler, and a step in which it does.
const HAPPENINGS: [(&str, Step); 4] = [
    ("detected", detected),
    ("detection failed", detection_failed),
    ("claim failed", claim_failed),
    ("terminal", terminal),
];

/// Returns a world in which a reconciler of this kind has one thing to detect, and the others have none.
fn candidate(kind: ReconcileKind) -> World {
    if kind == ReconcileKind::WebhookInbox {
        let mut world = World::new();
        world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
        world.tamper("UPDATE webhook_inbox SET state = 'processing'");
        return world;
    }
    let world = running();
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    if kind == ReconcileKind::ReleaseRun {
        world.reconcile_after(RULES.observation);
        world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
        world.settle();
    }
    world.clock.advance(RULES.observation);
    world
}

/// Makes every statement fail that opens an item of this kind, or gives one this status.
fn refuse(world: &World, kind: ReconcileKind, event: &str) {
    world.tamper(&format!(
        "CREATE TRIGGER refuse BEFORE {event} ON reconciliation_items \
         WHEN new.kind = '{kind}' AND new.status = '{status}' \
         BEGIN SELECT raise(ABORT, 'canarydatabase'); END",
        status = if event == "INSERT" { "open" } else { "leased" },
    ));
}

fn detected(kind: ReconcileKind) -> Vec<Line> {
    let world = candidate(kind);
    lines_of(|| {
        world.detect().step();
    })
}

fn detection_failed(kind: ReconcileKind) -> Vec<Line> {
    let world = candidate(kind);
    refuse(&world, kind, "INSERT");
    lines_of(|| {
        world.detect().step();
    })
}

fn claim_failed(kind: ReconcileKind) -> Vec<Line> {
    let world = candidate(kind);
    world.detect().step();
    refuse(&world, kind, "UPDATE");
    lines_of(|| {
        world.reconcile().step();
    })
}

fn terminal(kind: ReconcileKind) -> Vec<Line> {
    let world = candidate(kind);
    world.detect().step();
    lines_of(|| {
        world.reconcile().step();
    })
}

/// The level and the fields of a line, by what happened.
fn shape(happening: &str) -> (Level, &'static [&'static str]) {
    match happening {
        "detected" => (Level::Info, &["event", "reconciliation_id", "reason"]),
        "terminal" => (Level::Info, &["event", "reconciliation_id", "status", "outcome_code"]),
        _ => (Level::Warn, &["event", "class"]),
    }
}

#[test]
fn each_event_has_the_name_the_specification_gives_it() {
    let mut emitted = Vec::new();
    for kind in ReconcileKind::ALL {
        for (happening, run) in HAPPENINGS {
            let lines = run(*kind);
            let [line] = lines.as_slice() else { panic!("{kind}, {happening}: {lines:?}") };
            let (level, fields) = shape(happening);
            assert_eq!((line.level, line.names().as_slice()), (level, fields), "{line:?}");
            assert!(!format!("{line:?}").contains("canary"), "{line:?}");
            emitted.push(format!("{kind}; {happening} -> {}", line.event()));
        }
    }
    let mut specified: Vec<&str> =
        SPECIFICATION.lines().filter(|row| !row.starts_with('#')).collect();
    specified.sort_unstable();
    emitted.sort_unstable();
    assert_eq!(emitted, specified);
}

#[test]
fn an_item_that_ends_without_a_look_is_terminal_too() {
    for kind in ReconcileKind::ALL {
        let world = candidate(*kind);
        let detected = lines_of(|| {
            world.detect().step();
        });
        // The last of too many holders has vanished.
        world.tamper(
            "UPDATE reconciliation_items SET status = 'leased', claim_id = zeroblob(16), \
                lease_expires_at = 0, vanished_count = 7 WHERE status = 'open'",
        );
        let lookups = world.forge.lookups();
        let lines = lines_of(|| {
            world.reconcile().step();
        });
        let [line] = lines.as_slice() else { panic!("{kind}: {lines:?}") };
        let name = format!("{kind}; terminal -> {}", line.event());
        assert!(SPECIFICATION.lines().any(|row| row == name), "{name}");
        assert_eq!(line.field("status"), Some("dead_letter"));
        assert_eq!(line.field("outcome_code"), Some("crash_loop"));
        assert_eq!(line.field("reconciliation_id"), detected[0].field("reconciliation_id"));
        assert_eq!(world.forge.lookups(), lookups, "{kind}");
    }
}
