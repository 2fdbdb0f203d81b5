//! Dead letters made on purpose, one of each kind, by what really brings them about.

use svc::api::DeadLetter;
use svc::simulator::{Fault, Webhooks};

use super::ask::Ask;
use super::process::Daemon;
use super::site::Site;
use super::{commit, wait_for};

/// Returns the path of an installation's dead letters.
pub(crate) fn list_path(installation: i64) -> String {
    format!("/api/v1/operator/installations/{installation}/dead-letters")
}

/// Returns the path that replays an item.
pub(crate) fn replay_path(installation: i64, kind: &str, id: &str) -> String {
    format!("{}/{kind}/{id}/replay", list_path(installation))
}

/// Returns the request that replays an item as the operator.
pub(crate) fn replay(installation: i64, kind: &str, id: &str, key: &str) -> Ask {
    Ask::post(&replay_path(installation, kind, id)).bearer().key(key)
}

pub(crate) fn letters(daemon: &Daemon, installation: i64) -> Vec<DeadLetter> {
    let answer = daemon.control.ask(&Ask::get(&list_path(installation)).bearer());
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_value(answer.json()["items"].take()).unwrap()
}

fn tag(number: usize) -> String {
    format!("v{number}")
}

/// Pushes a tag and waits for the dead letter it must end in; returns its id.
fn trouble(daemon: &Daemon, webhooks: &Webhooks, number: usize, reason: &str) -> String {
    let installation = webhooks.installation.get();
    let old: Vec<String> =
        letters(daemon, installation).into_iter().map(|letter| letter.item_id).collect();
    push(daemon, webhooks, number);
    wait_for(reason, || {
        let mut found = letters(daemon, installation);
        found.retain(|letter| letter.reason_code == reason && !old.contains(&letter.item_id));
        found.pop().map(|letter| letter.item_id)
    })
}

/// A dispatch that the forge refused: replay-safe.
pub(crate) fn refused(site: &Site, daemon: &Daemon, number: usize) -> String {
    refused_of(site, daemon, &site.webhooks, number)
}

pub(crate) fn refused_of(
    site: &Site,
    daemon: &Daemon,
    webhooks: &Webhooks,
    number: usize,
) -> String {
    site.forge.plan_dispatch(&tag(number), Fault::Validation422);
    trouble(daemon, webhooks, number, "forge_dispatch_rejected")
}

/// A dispatch of which it is not known whether it happened: not replay-safe.
pub(crate) fn uncertain(site: &Site, daemon: &Daemon, number: usize) -> String {
    site.forge.plan_dispatch(&tag(number), Fault::CutAfterEffect);
    trouble(daemon, &site.webhooks, number, "forge_dispatch_uncertain")
}

/// A job of a suspended installation, which is then active again: replay-safe.
pub(crate) fn job(site: &Site, daemon: &Daemon, number: usize) -> String {
    let suspended = format!("suspend-{number}");
    assert_eq!(daemon.deliver(&suspended, &site.webhooks.installation("suspend")).status, 202);
    let id = trouble(daemon, &site.webhooks, number, "installation_suspended");
    let active = format!("unsuspend-{number}");
    assert_eq!(daemon.deliver(&active, &site.webhooks.installation("unsuspend")).status, 202);
    wait_for("the installation to be active", || {
        let list = Ask::get("/api/v1/operator/installations").bearer();
        (!daemon.control.ask(&list).text().contains("\"suspended\"")).then_some(())
    });
    id
}

/// Pushes a tag of its own for every `number`.
pub(crate) fn push(daemon: &Daemon, webhooks: &Webhooks, number: usize) {
    let webhook = webhooks.push_tag(&tag(number), &commit(number));
    let id = format!("push-{}-{number}", webhooks.installation);
    assert_eq!(daemon.deliver(&id, &webhook).status, 202);
}
