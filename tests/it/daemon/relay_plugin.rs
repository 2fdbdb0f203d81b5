//! The plugin for Penpot as the real daemon serves it, to Penpot's page and to the page itself.

use serde_json::Value;

use super::ask::{Answer, Ask, Endpoint};
use super::process::Daemon;
use super::site::Site;

const PENPOT: &str = "https://design.penpot.app";

fn start(settings: &[(&str, &str)]) -> (Site, Daemon) {
    let mut site = Site::new();
    for (name, value) in [("SVC_MCP", "true"), ("SVC_RELAY", "true")].iter().chain(settings) {
        site.set(name, value);
    }
    let daemon = site.start();
    (site, daemon)
}

/// Starts one that is reached from elsewhere.
fn start_remote() -> (Site, Daemon) {
    start(&[
        ("SVC_PUBLIC_URL", "https://svc.example"),
        ("SVC_MCP_ISSUER", "https://issuer.example"),
        ("SVC_MCP_JWKS_URL", "https://issuer.example/keys"),
        ("SVC_MCP_ORIGINS", "https://app.example"),
        ("SVC_RELAY_TOOL_ORIGINS", PENPOT),
    ])
}

fn file(name: &str) -> Ask {
    Ask::get(&format!("/relay/plugin/penpot/{name}")).header("Host", "svc.example")
}

fn assert_dressed(answer: &Answer) {
    for (name, value) in [
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' wss://svc.example; \
             base-uri 'none'; form-action 'none'; frame-ancestors https://design.penpot.app",
        ),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("strict-transport-security", "max-age=31536000"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("cache-control", "no-cache"),
        ("vary", "origin"),
    ] {
        assert_eq!(answer.header(name), value, "{name}: {answer:?}");
    }
}

#[test]
fn every_file_of_the_plugin_is_served_with_its_policy() {
    let (_site, daemon) = start_remote();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/relay-plugin");
    for (name, media_type) in [
        ("core/ui.html", "text/html; charset=utf-8"),
        ("core/ui.css", "text/css; charset=utf-8"),
        ("core/ui.js", "text/javascript; charset=utf-8"),
        ("core/conversation.js", "text/javascript; charset=utf-8"),
        ("penpot/plugin.js", "text/javascript; charset=utf-8"),
        ("penpot/icon.png", "image/png"),
    ] {
        let path = name.split_once('/').unwrap().1;
        let answer = daemon.public.ask(&file(path));
        assert_eq!((answer.status, answer.header("content-type")), (200, media_type), "{name}");
        assert_eq!(answer.body, std::fs::read(format!("{folder}/{name}")).unwrap(), "{name}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
        assert_dressed(&answer);
        let tag = answer.header("etag").to_owned();
        let again = daemon.public.ask(&file(path).header("If-None-Match", &tag));
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, &*tag));
        assert_dressed(&again);
        let other = daemon.public.ask(&file(path).header("If-None-Match", "\"other\""));
        assert_eq!(other.status, 200);
    }
    // Penpot appends the theme, and a HEAD says what a GET would.
    assert_eq!(daemon.public.ask(&file("ui.html?theme=dark")).status, 200);
    let head = Ask::new("HEAD", "/relay/plugin/penpot/ui.html").header("Host", "svc.example");
    let head = daemon.public.ask(&head);
    assert_eq!((head.status, head.body.len()), (200, 0));
    for name in ["messages.d.ts", "code.js", "../core/ui.js", "%75i.js", "UI.js", "", "a/ui.js"] {
        assert_eq!(daemon.public.ask(&file(name)).status, 404, "{name}");
    }
    assert_eq!(daemon.public.ask(&Ask::post("/relay/plugin/penpot/ui.js")).status, 405);
}

#[test]
fn penpot_s_page_may_read_the_manifest_which_names_the_public_url() {
    let (_site, daemon) = start_remote();
    let answer = daemon.public.ask(&file("manifest.json").header("Origin", PENPOT));
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.header("access-control-allow-origin"), PENPOT);
    let manifest: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(manifest["host"], "https://svc.example");
    assert_eq!(manifest["code"], "/relay/plugin/penpot/plugin.js");
    assert_dressed(&answer);
    let stranger = file("manifest.json").header("Origin", "https://evil.example");
    let answer = daemon.public.ask(&stranger);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, ""));
}

#[test]
fn another_host_gets_nothing() {
    let (_site, daemon) = start_remote();
    for host in ["localhost", "evil.example", "svc.example.evil.example", "svc.example:80"] {
        let ask = Ask::get("/relay/plugin/penpot/ui.html").header("Host", host);
        let answer = daemon.public.ask(&ask);
        assert_eq!(answer.status, 421, "{host}");
        assert_eq!(answer.json()["outcome"], "misdirected_request");
    }
}

#[test]
fn a_local_one_goes_by_the_loopback_name_that_it_is_asked_by() {
    let (_site, daemon) = start(&[("SVC_RELAY_LOCAL", "true"), ("SVC_RELAY_TOOL_ORIGINS", PENPOT)]);
    let Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
    for name in ["localhost", "127.0.0.1"] {
        let host = format!("{name}:{}", address.port());
        let manifest = Ask::get("/relay/plugin/penpot/manifest.json").header("Host", &host);
        let answer = daemon.public.ask(&manifest);
        assert_eq!(answer.json()["host"], format!("http://{host}"));
        assert_eq!(answer.header("strict-transport-security"), "");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains(&format!("connect-src 'self' ws://{host};")), "{policy}");
    }
}

#[test]
fn it_is_not_there_without_a_tool_or_without_the_relay_or_on_other_surfaces() {
    let manifest = Ask::get("/relay/plugin/penpot/manifest.json");
    let (_site, daemon) = start(&[("SVC_RELAY_LOCAL", "true")]);
    assert_eq!(daemon.public.ask(&manifest).status, 404);
    let mut site = Site::new();
    site.set("SVC_RELAY_TOOL_ORIGINS", PENPOT);
    assert_eq!(site.start().public.ask(&manifest).status, 404);
    let (_site, daemon) = start_remote();
    for endpoint in daemon.operator_endpoints() {
        assert_eq!(endpoint.ask(&file("manifest.json").without("Host")).status, 404);
    }
}

#[test]
fn a_relay_that_would_take_everybody_for_one_person_does_not_start() {
    let mut site = Site::new();
    site.set("SVC_MCP", "true");
    site.set("SVC_RELAY", "true");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(ended.stderr.contains("SVC_RELAY_LOCAL=true"), "{ended:?}");
}
