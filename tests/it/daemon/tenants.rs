//! A repository that moves from one tenant to another takes its name along.

use svc::simulator::{Call, Fault};

use super::letters;
use super::site::{Site, webhooks};
use super::{INSTALLATION, STRANGER, wait_for};

#[test]
fn the_old_tenant_does_not_learn_the_new_name() {
    let mut site = Site::new();
    site.set("SVC_RETRY_BASE_MS", "500");
    site.set("SVC_RETRY_MAX_MS", "500");
    let daemon = site.start();
    site.forge.plan(Call::Mint, Fault::Status(503));
    letters::push(&daemon, &site.webhooks, 1);
    wait_for("the first try", || (site.forge.requests(Call::Mint) > 0).then_some(()));
    let moved = webhooks(STRANGER, 99, "stranger/secret");
    let transferred = moved.repository_renamed(&moved.repository.full_name);
    assert_eq!(daemon.deliver("transferred", &transferred).status, 202);
    let letter =
        wait_for("the effect to be given up", || letters::letters(&daemon, INSTALLATION).pop());
    assert_eq!(letter.reason_code, "repository_unknown");
    assert_eq!(letter.repository, None);
    assert!(letters::letters(&daemon, STRANGER).is_empty());
}
