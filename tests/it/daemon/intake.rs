//! Webhook intake at the public address: what is trusted, what is understood, and what is answered.

use svc::simulator::{Webhook, Webhooks, sign};

use super::ask::{Answer, Ask};
use super::process::{Daemon, delivery};
use super::site::Site;
use super::{SECRET, commit, wait_for};

const SIGNATURE: &str = "X-Hub-Signature-256";

/// A push that no other test makes.
fn push(site: &Site, number: usize) -> Webhook {
    site.webhooks.push_tag(&format!("v{number}"), &commit(number))
}

/// Asserts that a delivery was refused and nothing came of it, `daemon` being otherwise idle.
fn assert_refused(daemon: &Daemon, ask: &Ask, status: u16, outcome: &str, what: &str) {
    let answer = daemon.public.ask(ask);
    answer.assert_problem(status, outcome, what);
    if status == 401 {
        assert_eq!(answer.header("www-authenticate"), "Signature", "{what}");
    }
}

fn accepted(daemon: &Daemon) -> u64 {
    daemon.metric(r#"svc_deliveries_total{outcome="accepted"}"#)
}

#[test]
fn a_push_is_accepted_once_and_dispatched_once() {
    let site = Site::new();
    let daemon = site.start();
    let webhook = push(&site, 1);
    let answer = daemon.deliver("One-Delivery", &webhook);
    assert_eq!((answer.status, answer.text()), (202, r#"{"outcome":"accepted"}"#.to_owned()));
    assert_eq!(answer.header("content-type"), "application/json");
    for id in ["One-Delivery", "one-delivery", "ONE-DELIVERY"] {
        let answer = daemon.deliver(id, &webhook);
        assert_eq!((answer.status, answer.text()), (200, r#"{"outcome":"duplicate"}"#.to_owned()));
    }
    // Captured, and sent under another id, which is not signed: the release is known.
    assert_eq!(daemon.deliver("another-delivery", &webhook).status, 202);
    let run = wait_for("the workflow run", || site.forge.workflow_runs().pop());
    assert_eq!((run.git_ref.as_str(), run.workflow.as_str()), ("v1", "release.yml"));
    let check_run = wait_for("the check run in progress", || {
        site.forge.check_runs().into_iter().find(|run| run.status == "in_progress")
    });
    assert_eq!((check_run.head_sha, check_run.external_id), (commit(1), run.attempt));
    wait_for("both jobs to be done", || {
        let done = daemon.metric(r#"svc_jobs_total{outcome="completed"}"#)
            + daemon.metric(r#"svc_jobs_total{outcome="nothing_to_do"}"#);
        (done == 2).then_some(())
    });
    let keys: Vec<String> = site.forge.ledger().into_iter().map(|effect| effect.key).collect();
    assert_eq!(keys.len(), 3, "{keys:?}");
}

#[test]
fn the_first_body_under_an_id_stands() {
    let site = Site::new();
    let daemon = site.start();
    assert_eq!(daemon.deliver("the-id", &push(&site, 1)).status, 202);
    let other = daemon.deliver("The-Id", &push(&site, 2));
    assert_eq!((other.status, other.member("outcome")), (200, "duplicate".to_owned()));
    assert_eq!(daemon.metric(r#"svc_deliveries_total{outcome="conflict"}"#), 1);
    daemon.logged("webhook.conflict");
    wait_for("the first run", || site.forge.workflow_runs().pop());
    // One more, behind it, shows that nothing else is under way.
    assert_eq!(daemon.deliver("another-id", &push(&site, 3)).status, 202);
    wait_for("the last run", || (site.forge.workflow_runs().len() == 2).then_some(()));
    let tags: Vec<String> = site.forge.workflow_runs().into_iter().map(|run| run.git_ref).collect();
    assert_eq!(tags, ["v1", "v3"]);
}

#[test]
fn nothing_is_read_of_what_is_not_signed() {
    let mut site = Site::new();
    site.secret("SVC_WEBHOOK_SECRET_PREVIOUS", "the secret before this one");
    let daemon = site.start();
    let webhook = push(&site, 1);
    let good = sign(SECRET, &webhook.body);
    let hex = good.strip_prefix("sha256=").unwrap();
    let with = |value: &str| delivery("id", &webhook).without(SIGNATURE).header(SIGNATURE, value);
    let unsigned = delivery("id", &webhook).without(SIGNATURE);
    let altered = String::from_utf8(webhook.body.clone()).unwrap().replace("v1", "v2");
    for (what, ask) in [
        ("none", unsigned.clone()),
        ("empty", with("")),
        ("only the scheme", with("sha256=")),
        ("upper-case hex", with(&format!("sha256={}", hex.to_uppercase()))),
        ("upper-case scheme", with(&format!("SHA256={hex}"))),
        ("without the scheme", with(hex)),
        ("sha1 scheme", with(&format!("sha1={}", &hex[..40]))),
        ("sha1 header", unsigned.clone().header("X-Hub-Signature", format!("sha1={}", &hex[..40]))),
        ("sha512", with(&format!("sha512={hex}{hex}"))),
        ("truncated", with(&good[..good.len() - 1])),
        ("longer", with(&format!("{good}0"))),
        ("one bit off", with(&flipped(&good))),
        ("not hex", with(&format!("sha256={}", "g".repeat(64)))),
        ("inner blank", with(&format!("sha256= {hex}"))),
        ("list", with(&format!("{good},{good}"))),
        ("twice the same", delivery("id", &webhook).header(SIGNATURE, &good)),
        ("twice, one wrong", with(&flipped(&good)).header(SIGNATURE, &good)),
        ("another secret", with(&sign("another secret", &webhook.body))),
        ("the empty secret", with(&sign("\0", &webhook.body))),
        ("another body", delivery("id", &webhook).body(altered)),
        ("no body", delivery("id", &webhook).body("")),
        ("one byte more", delivery("id", &webhook).body([&webhook.body[..], b"\n"].concat())),
        ("not JSON either", unsigned.clone().body("{")),
        ("no type either", unsigned.clone().without("Content-Type")),
        ("no id either", unsigned.without("X-GitHub-Delivery")),
    ] {
        assert_refused(&daemon, &ask, 401, "unauthenticated", what);
    }
    assert_eq!(daemon.metric(r#"svc_deliveries_total{outcome="bad_signature"}"#), 25);
    let said = daemon.logged("webhook.bad_signature").matches("webhook.bad_signature").count();
    assert!((1..5).contains(&said), "{said} lines: strangers must not fill the log");
    assert_eq!(accepted(&daemon), 0);
    let rotated = with(&sign("the secret before this one", &webhook.body));
    assert_eq!(daemon.public.ask(&rotated).status, 202);
    assert!(!daemon.log().contains(&hex[..16]));
}

fn flipped(signature: &str) -> String {
    let last = if signature.ends_with('0') { '1' } else { '0' };
    format!("{}{last}", &signature[..signature.len() - 1])
}

#[test]
fn headers_are_there_once_and_well_formed() {
    let site = Site::new();
    let daemon = site.start();
    let webhook = push(&site, 1);
    let whole = || delivery("the-id", &webhook);
    let id = "X-GitHub-Delivery";
    let with_id = |value: &str| whole().without(id).header(id, value);
    for (what, ask) in [
        ("no id", whole().without(id)),
        ("two ids", whole().header(id, "another-id")),
        ("empty id", with_id("")),
        ("65 letters", with_id(&"a".repeat(65))),
        ("a slash", with_id("a/b")),
        ("a dot", with_id("a.b")),
        ("a blank", with_id("a b")),
        ("a quote", with_id("a'b")),
        ("an underscore", with_id("a_b")),
        ("another script", with_id("d\u{e9}livery")),
        ("no event", whole().without("X-GitHub-Event")),
        ("two events", whole().header("X-GitHub-Event", "push")),
    ] {
        assert_refused(&daemon, &ask, 400, "invalid_request", what);
    }
    for (what, ask) in [
        ("no type", whole().without("Content-Type")),
        (
            "a form",
            whole()
                .without("Content-Type")
                .header("Content-Type", "application/x-www-form-urlencoded"),
        ),
        ("text", whole().without("Content-Type").header("Content-Type", "text/plain")),
        (
            "JSON of a kind",
            whole().without("Content-Type").header("Content-Type", "application/problem+json"),
        ),
        ("two types", whole().header("Content-Type", "application/json")),
        ("compressed", whole().header("Content-Encoding", "gzip")),
        ("identity", whole().header("Content-Encoding", "identity")),
    ] {
        assert_refused(&daemon, &ask, 415, "unsupported_media_type", what);
    }
    assert_eq!(accepted(&daemon), 0);
    let utf8 = "Application/JSON; charset=utf-8";
    let typed = whole().without("Content-Type").header("Content-Type", utf8);
    assert_eq!(daemon.public.ask(&typed).status, 202);
    for ok in ["a", &"a".repeat(64), "72d3162e-cc78-11e3-81ab-4c9367dc0958"] {
        assert!([200, 202].contains(&daemon.public.ask(&with_id(ok)).status), "{ok}");
    }
}

#[test]
fn what_asks_for_nothing_is_kept_and_ignored() {
    let site = Site::new();
    let daemon = site.start();
    let push = push(&site, 1);
    let branch = String::from_utf8(push.body.clone()).unwrap().replace("refs/tags", "refs/heads");
    let deleted = String::from_utf8(push.body.clone())
        .unwrap()
        .replace("\"deleted\":false", "\"deleted\":true");
    let other_tag = site.webhooks.push_tag("nightly", &commit(1));
    let ask = |id: &str, event: &str, body: &[u8]| {
        let webhook = Webhook { event: "push", body: body.to_vec() };
        delivery(id, &webhook).without("X-GitHub-Event").header("X-GitHub-Event", event)
    };
    for (id, event, body) in [
        ("ping", "ping", Webhooks::ping().body.as_slice()),
        ("branch", "push", branch.as_bytes()),
        ("deleted", "push", deleted.as_bytes()),
        ("nightly", "push", &other_tag.body),
        ("swapped", "check_run", &push.body),
        ("unknown", "star", &push.body),
        ("strange", "x'; DROP TABLE webhook_inbox; --", &push.body),
        ("empty", "push", b"{}"),
    ] {
        let answer = daemon.public.ask(&ask(id, event, body));
        let expected = (200, r#"{"outcome":"ignored"}"#.to_owned());
        assert_eq!((answer.status, answer.text()), expected, "{id}");
        assert_eq!(daemon.public.ask(&ask(id, event, body)).member("outcome"), "duplicate", "{id}");
    }
    assert_eq!(accepted(&daemon), 0);
}

#[test]
fn without_a_forge_there_is_no_intake() {
    let mut site = Site::new();
    for name in ["SVC_WEBHOOK_SECRET_FILE", "SVC_FORGE_PRIVATE_KEY_FILE", "SVC_FORGE_APP_ID"] {
        site.unset(name);
    }
    let daemon = site.start();
    let refused = |ask: &Ask| -> Answer {
        let answer = daemon.public.ask(ask);
        answer.assert_problem(503, "unavailable", "no forge");
        assert_eq!(answer.header("retry-after"), "5");
        answer
    };
    let webhook = push(&site, 1);
    let signed = refused(&delivery("id", &webhook));
    assert_eq!(refused(&delivery("id", &webhook).without(SIGNATURE)), signed);
    let empty = delivery("id", &webhook).without(SIGNATURE).header(SIGNATURE, sign("\0", b""));
    assert_eq!(refused(&empty.body("")), signed);
    assert_eq!(daemon.public.ask(&Ask::get("/health/ready")).status, 200);
}
