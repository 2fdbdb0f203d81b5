//! A forge that cannot be reached: operators are told why, wherever they look.

use super::ask::Ask;
use super::letters::{letters, list_path, push};
use super::site::Site;
use super::{INSTALLATION, wait_for};

#[test]
fn the_cause_of_a_failed_call_is_in_the_line_the_metric_and_the_dead_letter() {
    let mut site = Site::new();
    // Nothing listens on port 1.
    site.set("SVC_FORGE_API_URL", "http://127.0.0.1:1");
    site.set("SVC_RETRY_ATTEMPTS", "2");
    let daemon = site.start();
    push(&daemon, &site.webhooks, 1);
    let letter = wait_for("the dead letter", || letters(&daemon, INSTALLATION).pop());
    assert_eq!((&*letter.error_class, letter.cause.as_deref()), ("unavailable", Some("refused")));
    let path = format!("{}/outbox/{}", list_path(INSTALLATION), letter.item_id);
    let shown = daemon.control.ask(&Ask::get(&path).bearer());
    assert_eq!(shown.json()["cause"], "refused");
    assert!(daemon.metric(r#"svc_forge_failures_total{cause="refused"}"#) >= 2);
    let is_told = |line: &&str| {
        line.contains(r#""event":"forge.call_failed""#) && line.contains(r#""cause":"refused""#)
    };
    wait_for("the line", || daemon.log().lines().find(is_told).map(drop));
    let url = format!("unix:{}", site.socket().display());
    let list = site.svcctl(&url, &["dead-letters", "list"]);
    assert!(list.stdout.contains(" refused "), "{list:?}");
    let show = site.svcctl(&url, &["dead-letters", "show", "outbox", &letter.item_id]);
    assert!(show.stdout.contains("\nforge failure"), "{show:?}");
}
