//! `svcd check-forge` against the simulator: everything right, and then each thing wrong in turn.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::{Call, Fault, SimulatedApp, SimulatedWebhook};

use super::site::{Ended, Site};
use crate::forge_client::causes::{path, tls_server};

/// Installs the app as it has to be, with webhooks that arrived.
fn site() -> Site {
    let mut site = Site::new();
    site.set("SVC_MCP", "true");
    site.set("SVC_PUBLIC_URL", "https://svc.example");
    site.set("SVC_MCP_ISSUER", "https://issuer.example");
    site.set("SVC_MCP_JWKS_URL", "https://issuer.example/jwks.json");
    site.set("SVC_MCP_ORIGINS", "https://app.example");
    site.forge.change_app(|app| app.install(42.try_into().unwrap(), "octo-org"));
    site.forge.deliver("guid-1", "push", SystemClock::new().now(), 202);
    site
}

/// Runs the check; returns its document, the codes of its findings, and how it ended.
fn examine(site: &Site) -> (Value, Vec<String>, i32) {
    let ended = site.run(&["check-forge", "-o", "json"]);
    assert_eq!(ended.stderr, "", "{ended:?}");
    assert_no_secret(site, &ended);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    for finding in report["findings"].as_array().unwrap() {
        for part in ["message", "next"] {
            assert!(finding[part].as_str().unwrap().len() > 10, "{finding}");
        }
    }
    let codes = report["findings"].as_array().unwrap().iter();
    let codes = codes.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
    (report, codes, ended.code.unwrap())
}

fn assert_no_secret(site: &Site, ended: &Ended) {
    let key = fs::read_to_string(site.path("SVC_FORGE_PRIVATE_KEY")).unwrap();
    let secrets =
        [super::SECRET, super::TOKEN, "ghs_", "eyJ", "marked", key.lines().nth(1).unwrap()];
    for secret in secrets {
        assert!(!ended.stdout.contains(secret) && !ended.stderr.contains(secret), "{ended:?}");
    }
}

/// Changes one thing at the forge, and returns the findings and how it ended.
fn with(change: impl FnOnce(&mut SimulatedApp)) -> (Vec<String>, i32) {
    let site = site();
    site.forge.change_app(change);
    let (_, codes, code) = examine(&site);
    (codes, code)
}

fn wrong(code: &str) -> (Vec<String>, i32) {
    (vec![code.to_owned()], 1)
}

/// What is not needed is a warning, and a warning is no problem.
fn superfluous(code: &str) -> (Vec<String>, i32) {
    (vec![code.to_owned()], 0)
}

fn webhook(app: &mut SimulatedApp) -> &mut SimulatedWebhook {
    app.webhook.as_mut().unwrap()
}

#[test]
fn an_app_that_is_set_up_as_it_has_to_be_is_nothing_to_find() {
    let site = site();
    let (report, codes, code) = examine(&site);
    assert_eq!((codes, code), (Vec::new(), 0), "{report}");
    assert_eq!(report["permissions"]["contents"], "read");
    assert_eq!(report["webhookUrl"], "https://svc.example/webhooks/forge");
    assert_eq!(report["deliveries"]["arrived"], 1);
    assert_eq!(report["installations"][0]["account"], "octo-org");
    assert_eq!(report["installations"][0]["token"], true);
    // The token was given back.
    assert_eq!((site.forge.requests(Call::Mint), site.forge.tokens()), (1, 0));
    let said = site.run(&["check-forge"]);
    assert_no_secret(&site, &said);
    for part in [
        "settings of the environment:",
        "permissions   actions: write, checks: write, contents: read, metadata: read",
        "events        check_run, push, repository, workflow_run",
        "webhook       https://svc.example/webhooks/forge",
        "deliveries    1 of the last 1 arrived; newest ",
        "installation  42 octo-org: token received",
        "nothing is wrong",
    ] {
        assert!(said.stdout.contains(part), "{part}: {said:?}");
    }
    assert_eq!(said.code, Some(0));
}

#[test]
fn each_permission_that_is_missing_too_low_or_not_needed_is_found() {
    for name in ["actions", "checks", "contents", "metadata"] {
        let (codes, code) = with(|app| drop(app.permissions.remove(name)));
        // With the right to write check runs, the event comes by itself; without it, it has to be chosen, as it is here.
        assert_eq!((codes, code), wrong("permission_missing"), "{name}");
    }
    for name in ["actions", "checks"] {
        let lower = with(|app| drop(app.permissions.insert(name.to_owned(), "read".to_owned())));
        assert_eq!(lower, wrong("permission_missing"), "{name}");
    }
    for (name, level) in [("issues", "read"), ("contents", "write"), ("metadata", "write")] {
        let more = with(|app| drop(app.permissions.insert(name.to_owned(), level.to_owned())));
        assert_eq!(more, superfluous("permission_excess"), "{name}");
    }
}

#[test]
fn each_event_that_is_missing_or_of_no_use_is_found() {
    for event in ["push", "repository", "workflow_run"] {
        let without = with(|app| app.events.retain(|known| known != event));
        assert_eq!(without, wrong("event_missing"), "{event}");
    }
    let without_check_run = |app: &mut SimulatedApp| app.events.retain(|it| it != "check_run");
    // The forge documents that who may write check runs gets it whatever was chosen.
    assert_eq!(with(without_check_run), (Vec::new(), 0));
    let (codes, code) = with(|app| {
        without_check_run(app);
        app.permissions.insert("checks".to_owned(), "read".to_owned());
    });
    assert_eq!((codes.join(" "), code), ("permission_missing event_missing".to_owned(), 1));
    for event in ["issues", "ping"] {
        let more = with(|app| app.events.push(event.to_owned()));
        assert_eq!(more, superfluous("event_excess"), "{event}");
    }
}

#[test]
fn a_key_or_a_number_of_another_app_is_found() {
    let mut site = site();
    let other = include_str!("../../data/throwaway-key-other.pem");
    site.secret("SVC_FORGE_PRIVATE_KEY", other);
    let (_, codes, code) = examine(&site);
    assert_eq!((codes, code), wrong("app_key_refused"));
    let own = site.forge.private_key_pem();
    site.secret("SVC_FORGE_PRIVATE_KEY", own);
    site.set("SVC_FORGE_APP_ID", "7");
    let (report, codes, code) = examine(&site);
    assert_eq!((codes, code), wrong("app_unknown"));
    // Nothing else is asked of a forge that does not know us.
    assert_eq!(site.forge.requests(Call::WebhookRead), 0);
    assert_eq!(report["permissions"], Value::Null);
}

#[test]
fn a_clock_that_is_off_is_found_and_explains_a_refused_key() {
    let seconds = Duration::from_secs;
    for (ahead, behind) in [(40, 0), (0, 40)] {
        let (codes, code) = with(|app| {
            (app.clock_ahead, app.clock_behind) = (seconds(ahead), seconds(behind));
        });
        assert_eq!((codes, code), wrong("clock_skew"), "it is still let in");
    }
    for (ahead, behind) in [(600, 0), (0, 120)] {
        let site = site();
        site.forge.change_app(|app| {
            (app.clock_ahead, app.clock_behind) = (seconds(ahead), seconds(behind));
        });
        let (report, codes, code) = examine(&site);
        assert_eq!((codes, code), wrong("clock_skew"), "{report}");
        assert_eq!(report["permissions"], Value::Null, "it is refused");
    }
}

#[test]
fn a_webhook_that_goes_elsewhere_or_otherwise_is_found() {
    for (url, wanted) in [
        ("https://other.example/webhooks/forge", "webhook_elsewhere"),
        ("https://svc.example/", "webhook_elsewhere"),
        ("https://someone:marked@svc.example/webhook?token=marked", "webhook_elsewhere"),
        ("marked", "webhook_elsewhere"),
        ("", "webhook_missing"),
    ] {
        let found = with(|app| url.clone_into(&mut webhook(app).url));
        assert_eq!(found, wrong(wanted), "{url}");
    }
    assert_eq!(with(|app| app.webhook = None), wrong("webhook_missing"));
    let form = with(|app| "form".clone_into(&mut webhook(app).content_type));
    assert_eq!(form, wrong("webhook_not_json"));
    assert_eq!(with(|app| webhook(app).has_secret = false), wrong("webhook_unsigned"));
    let insecure = with(|app| webhook(app).is_insecure = true);
    assert_eq!(insecure, superfluous("webhook_insecure"));
    // Without a public URL, only the path is known.
    let mut site = site();
    for name in
        ["SVC_MCP", "SVC_PUBLIC_URL", "SVC_MCP_ISSUER", "SVC_MCP_JWKS_URL", "SVC_MCP_ORIGINS"]
    {
        site.unset(name);
    }
    assert_eq!(examine(&site).2, 0);
    site.forge.change_app(|app| "https://svc.example/hooks".clone_into(&mut webhook(app).url));
    let (_, codes, code) = examine(&site);
    assert_eq!((codes, code), wrong("webhook_elsewhere"));
}

#[test]
fn webhooks_that_do_not_arrive_are_found_with_what_their_status_means() {
    for (status, part) in [
        (401, "SVC_WEBHOOK_SECRET"),
        (404, "/webhooks/forge"),
        (413, "SVC_WEBHOOK_BODY_BYTES"),
        (415, "application/json"),
        (502, "svcctl status"),
        (0, "svcctl status"),
    ] {
        let site = site();
        site.forge.deliver("guid-2", "push", SystemClock::new().now(), status);
        let (report, codes, code) = examine(&site);
        assert_eq!((codes, code), wrong("deliveries_failing"), "{status}");
        let next = report["findings"][0]["next"].as_str().unwrap();
        assert!(next.contains(part), "{report}");
        assert!(next.contains("redeliver it under \"Recent Deliveries\" on the page \"Advanced\""));
        // It was delivered again.
        site.forge.deliver("guid-2", "push", SystemClock::new().now(), 202);
        assert_eq!(examine(&site).1, Vec::<String>::new());
    }
    let site = site();
    site.forge.deliver("guid-2", "push", SystemClock::new().now(), 503);
    site.forge.deliver("guid-3", "push", SystemClock::new().now(), 202);
    let (_, codes, code) = examine(&site);
    assert_eq!((codes, code), superfluous("deliveries_lost"));
}

#[test]
fn an_installation_that_is_missing_suspended_or_outdated_is_found() {
    assert_eq!(with(|app| app.installations.clear()), wrong("installation_missing"));
    let suspended = with(|app| app.installations[0].is_suspended = true);
    assert_eq!(suspended, wrong("installation_suspended"));
    for name in ["actions", "checks", "contents"] {
        let outdated = with(|app| drop(app.installations[0].permissions.remove(name)));
        assert_eq!(outdated, wrong("installation_outdated"), "{name}");
    }
    let site = site();
    site.forge.change_app(|app| app.install(43.try_into().unwrap(), "other"));
    site.forge.plan(Call::Mint, Fault::Status(403));
    let (report, codes, code) = examine(&site);
    assert_eq!((codes, code), wrong("installation_token_refused"));
    assert_eq!(report["installations"][0]["token"], false);
    assert_eq!(report["installations"][1]["token"], true);
    // A suspended one is asked for no token.
    site.forge.change_app(|app| app.installations[1].is_suspended = true);
    let before = site.forge.requests(Call::Mint);
    assert_eq!(examine(&site).1, ["installation_suspended"]);
    assert_eq!(site.forge.requests(Call::Mint) - before, 1);
}

#[test]
fn many_installations_are_read_and_tried_within_bounds() {
    let site = site();
    site.forge.change_app(|app| {
        for id in 1..=130 {
            app.install((1_000 + id).try_into().unwrap(), "octo-org");
        }
    });
    let (report, codes, code) = examine(&site);
    assert_eq!((codes, code), superfluous("installation_unseen"));
    assert_eq!(report["installations"].as_array().unwrap().len(), 131);
    assert_eq!(
        (site.forge.requests(Call::InstallationFind), site.forge.requests(Call::Mint)),
        (2, 50)
    );
}

#[test]
fn a_forge_that_cannot_be_reached_is_named_with_its_cause() {
    let mut site = site();
    let root = path("root.pem");
    for (url, cause) in [
        ("https://forge.invalid".to_owned(), "dns"),
        // Nothing listens on port 1.
        ("http://127.0.0.1:1".to_owned(), "refused"),
        (tls_server("self-signed.pem"), "tls_untrusted"),
        (tls_server("expired.pem"), "tls_expired"),
        (tls_server("other-name.pem"), "tls_name"),
        (tls_server("valid.pem"), "reset"),
    ] {
        site.set("SVC_FORGE_API_URL", &url);
        site.set("SVC_FORGE_ROOT_CERTIFICATE_FILE", root.to_str().unwrap());
        let (report, codes, code) = examine(&site);
        assert_eq!((codes, code), (vec!["forge_unreachable".to_owned()], 69), "{cause}");
        let message = report["findings"][0]["message"].as_str().unwrap();
        assert!(message.ends_with(&format!(": {cause}")), "{message}");
    }
}

#[test]
fn a_forge_that_fails_or_is_none_is_found() {
    for (fault, wanted, code) in [
        (Fault::Status(500), "forge_unavailable", 69),
        (Fault::RateLimited { retry_after: 9 }, "forge_unavailable", 69),
        (Fault::CutBeforeEffect, "forge_unreachable", 69),
        (Fault::Status(400), "forge_unreadable", 1),
        (Fault::Garbage, "forge_unreadable", 1),
    ] {
        let site = site();
        site.forge.plan(Call::AppRead, fault);
        assert_eq!(examine(&site).1, [wanted], "{fault:?}");
        site.forge.plan(Call::AppRead, fault);
        assert_eq!(site.run(&["check-forge"]).code, Some(code), "{fault:?}");
    }
    for call in [Call::WebhookRead, Call::DeliveryFind, Call::InstallationFind, Call::Mint] {
        for (fault, wanted) in [
            (Fault::Status(502), "forge_unavailable"),
            (Fault::CutBeforeEffect, "forge_unreachable"),
            (Fault::Garbage, "forge_unreadable"),
        ] {
            let site = site();
            site.forge.plan(call, fault);
            let (_, codes, code) = examine(&site);
            assert!(
                codes.contains(&wanted.to_owned()) && code == 1,
                "{call:?} {fault:?} {codes:?}"
            );
        }
    }
}

#[test]
fn settings_that_cannot_be_used_are_said_as_check_config_says_them() {
    let mut site = site();
    let file = site.path("svcd.env");
    fs::write(&file, "SVC_POLL_MS=20\n").unwrap();
    let off = site.run(&["check-forge", "--env-file", file.to_str().unwrap()]);
    assert_eq!(off.code, Some(78), "{off:?}");
    assert!(off.stderr.contains("the connection to the forge is off"), "{off:?}");
    site.set("SVC_FORGE_APP_ID", "none");
    let ended = site.run(&["check-forge"]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(ended.stderr.contains("  SVC_FORGE_APP_ID: "), "{ended:?}");
    assert_eq!(site.run(&["check-forge", "-o", "yaml"]).code, Some(2));
}
