//! A repository that moves from one tenant to another takes its name along.

use svc::simulator::{Call, Fault};

use super::letters;
use super::site::{Site, webhooks};
use super::{INSTALLATION, STRANGER, database, wait_for};

#[test]
fn the_old_tenant_does_not_learn_the_new_name() {
    let site = Site::new();
    let daemon = site.start();
    // The first try has begun, and ends when the repository has moved.
    let held = site.forge.hold(Call::Mint);
    site.forge.plan(Call::Mint, Fault::Status(503));
    letters::push(&daemon, &site.webhooks, 1);
    wait_for("the first try", || (site.forge.requests(Call::Mint) > 0).then_some(()));
    let moved = webhooks(STRANGER, 99, "stranger/secret");
    let transferred = moved.repository_renamed(&moved.repository.full_name);
    assert_eq!(daemon.deliver("transferred", &transferred).status, 202);
    let owner = "SELECT installation_id FROM repositories WHERE repository_id = 99";
    let database = database::open(&site.database());
    wait_for("the transfer", || {
        (database::number(&database, owner, &[]) == STRANGER).then_some(())
    });
    drop(held);
    let letter =
        wait_for("the effect to be given up", || letters::letters(&daemon, INSTALLATION).pop());
    assert_eq!(letter.reason_code, "repository_unknown");
    assert_eq!(letter.repository, None);
    assert!(letters::letters(&daemon, STRANGER).is_empty());
}
