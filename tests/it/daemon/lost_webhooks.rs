//! Webhooks that did not arrive: with the setting the forge is asked for them, without it nothing is.

use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::Call;

use super::commit;
use super::site::Site;

const LOST: &str = "5a6c1b1e-0000-4000-8000-00000000f00d";

#[test]
fn a_webhook_that_did_not_arrive_is_asked_for_and_then_arrives() {
    let mut site = Site::new();
    let now = SystemClock::new().now();
    site.forge.fail_delivery(LOST, "push", now);
    site.set("SVC_WEBHOOK_REDELIVERY", "true");
    let daemon = site.start();
    super::wait_for("the forge to be asked", || {
        (daemon.metric("svc_redeliveries_total{outcome=\"requested\"}") == 1).then_some(())
    });
    assert_eq!(site.forge.ledger()[0].key, format!("redelivery:{LOST}"));
    assert!(!daemon.log().contains(LOST), "nothing of the answer is logged");
    let answer = daemon.deliver(LOST, &site.webhooks.push_tag("v1", &commit(1)));
    assert_eq!(answer.status, 202);
    super::wait_for("the release", || (site.forge.workflow_runs().len() == 1).then_some(()));
    drop(daemon);
    // It arrived: a daemon that starts anew does not ask.
    let daemon = site.start();
    super::wait_for("the forge to be looked at again", || {
        (site.forge.requests(Call::DeliveryFind) == 2).then_some(())
    });
    assert_eq!(daemon.metric("svc_redeliveries_total{outcome=\"requested\"}"), 0);
    assert_eq!(site.forge.requests(Call::DeliveryRepeat), 1);
}

#[test]
fn without_the_setting_the_forge_is_not_asked() {
    let site = Site::new();
    site.forge.fail_delivery(LOST, "push", SystemClock::new().now());
    let daemon = site.start();
    daemon.deliver("a", &site.webhooks.push_tag("v1", &commit(1)));
    super::wait_for("the release", || (site.forge.workflow_runs().len() == 1).then_some(()));
    assert_eq!(site.forge.requests(Call::DeliveryFind), 0);
}
