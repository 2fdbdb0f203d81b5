//! Dead letters made on purpose, one of each kind, by what really brings them about.

use std::ops::Range;
use std::time::Duration;

use svc::api::DeadLetter;
use svc::simulator::{Fault, Webhooks};

use super::ask::Ask;
use super::process::Daemon;
use super::site::Site;
use super::{commit, database, wait_for, wait_within};

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
    uncertain_of(site, daemon, &site.webhooks, number)
}

pub(crate) fn uncertain_of(
    site: &Site,
    daemon: &Daemon,
    webhooks: &Webhooks,
    number: usize,
) -> String {
    site.forge.plan_dispatch(&tag(number), Fault::CutAfterEffect);
    trouble(daemon, webhooks, number, "forge_dispatch_uncertain")
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

/// Dispatches that all fail in one way, one for each number.
pub(crate) fn dispatches(
    site: &Site,
    daemon: &Daemon,
    webhooks: &Webhooks,
    numbers: Range<usize>,
    fault: Fault,
) {
    let installation = webhooks.installation.get();
    let count = i64::try_from(numbers.len()).unwrap();
    for number in numbers {
        site.forge.plan_dispatch(&tag(number), fault);
        push(daemon, webhooks, number);
    }
    let database = database::open(&site.database());
    let query = "SELECT count(*) FROM dead_letters \
                 WHERE installation_id = ?1 AND effect_kind = 'workflow_dispatch'";
    wait_within(Duration::from_secs(120), "the dispatches to die", || {
        (database::number(&database, query, &[&installation]) == count).then_some(())
    });
}

/// Jobs of a suspended installation, one for each number, which stays suspended: replay-safe, and each dies again.
pub(crate) fn suspended(site: &Site, daemon: &Daemon, webhooks: &Webhooks, numbers: Range<usize>) {
    let installation = webhooks.installation.get();
    let id = format!("suspend-{installation}-{}", numbers.start);
    assert_eq!(daemon.deliver(&id, &webhooks.installation("suspend")).status, 202);
    let count = i64::try_from(numbers.len()).unwrap();
    let database = database::open(&site.database());
    let query = "SELECT count(*) FROM dead_letters \
                 WHERE installation_id = ?1 AND reason_code = 'installation_suspended'";
    let before = database::number(&database, query, &[&installation]);
    for number in numbers {
        push(daemon, webhooks, number);
    }
    wait_within(Duration::from_secs(120), "the jobs to die", || {
        let now = database::number(&database, query, &[&installation]);
        (now == before + count).then_some(())
    });
}

/// Repairs what the jobs of a suspended installation die of.
pub(crate) fn unsuspend(daemon: &Daemon, webhooks: &Webhooks) {
    let id = format!("unsuspend-{}", webhooks.installation);
    assert_eq!(daemon.deliver(&id, &webhooks.installation("unsuspend")).status, 202);
    wait_for("the installation to be active", || {
        let list = Ask::get("/api/v1/operator/installations").bearer();
        let list = daemon.control.ask(&list).json();
        let items = list["items"].as_array().unwrap().clone();
        let number = webhooks.installation.to_string();
        let ours = items
            .iter()
            .find(|known| known["installationId"].to_string().trim_matches('"') == number);
        ours.filter(|known| known["state"] == "active").map(drop)
    });
}

/// Pushes a tag of its own for every `number`.
pub(crate) fn push(daemon: &Daemon, webhooks: &Webhooks, number: usize) {
    let webhook = webhooks.push_tag(&tag(number), &commit(number));
    let id = format!("push-{}-{number}", webhooks.installation);
    assert_eq!(daemon.deliver(&id, &webhook).status, 202);
}
