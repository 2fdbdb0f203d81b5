//! Commands that wait, against the real daemon: for a replayed item, and for the end of a release.

use svc::simulator::Fault;

use super::letters;
use super::process::Daemon;
use super::results::{Place, body};
use super::site::{Ended, Site};

fn run(site: &Site, line: &str) -> Ended {
    let url = format!("unix:{}", site.socket().display());
    site.svcctl(&url, &line.split_whitespace().collect::<Vec<_>>())
}

fn json(ended: &Ended) -> serde_json::Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn a_replay_waits_for_what_becomes_of_the_item() {
    let site = Site::new();
    let daemon = site.start();
    let id = letters::refused(&site, &daemon, 1);
    site.forge.plan_dispatch("v1", Fault::Validation422);
    let died = run(&site, &format!("replay outbox {id} --wait --idempotency-key first -o json"));
    assert_eq!(died.code, Some(11), "{died:?}");
    assert_eq!(json(&died)["item"]["state"], "died_again");
    assert_eq!(json(&died)["item"]["reasonCode"], "forge_dispatch_rejected");
    let done = run(&site, &format!("replay outbox {id} --wait -o json"));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(json(&done)["item"]["state"], "done");
    // The first replay stays one whose item died again.
    let again = run(&site, &format!("replay outbox {id} --wait --idempotency-key first -o json"));
    assert_eq!(again.code, Some(11), "{again:?}");
    assert_eq!(json(&again)["outcome"], "already_applied");
    let job = letters::job(&site, &daemon, 2);
    let done = run(&site, &format!("replay job {job} --wait"));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.ends_with("item  done\n"), "{done:?}");
}

fn concluded(place: &Place, daemon: &Daemon, number: usize, decision: &str) -> String {
    let run = place.run(daemon, number);
    let answer = place.send(daemon, &run, &body(decision, number, &"a".repeat(64)));
    assert_eq!(answer.status, 200, "{answer:?}");
    run.release_run.clone()
}

#[test]
fn the_end_of_a_release_is_told_by_the_exit_code() {
    let place = Place::new();
    let daemon = place.site.start();
    let release = concluded(&place, &daemon, 1, "accepted");
    let succeeded = run(&place.site, &format!("releases wait {release} -o json"));
    assert_eq!(succeeded.code, Some(0), "{succeeded:?}");
    assert_eq!(json(&succeeded)["status"], "succeeded");
    concluded(&place, &daemon, 2, "rejected");
    let failed = run(&place.site, "releases wait v2");
    assert_eq!(failed.code, Some(14), "{failed:?}");
    assert!(failed.stderr.contains(" workflow_dispatched, attempt 1\n"), "{failed:?}");
    assert!(failed.stderr.ends_with("error: the release ended as failed: result_rejected\n"));
    letters::refused(&place.site, &daemon, 3);
    let waits = run(&place.site, "releases wait v3 --timeout 1");
    assert_eq!(waits.code, Some(13), "{waits:?}");
    let next = "next: an operator must repair the cause and replay the dead letter\n";
    assert!(waits.stderr.contains(next), "{waits:?}");
    assert_eq!(run(&place.site, "releases wait v4").code, Some(6));
}
