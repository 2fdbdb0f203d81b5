//! Each combination that starts, with what it means, and each that does not, with what it says.

use super::*;
use crate::config::Config;

type Variables<'a> = &'a [(&'a str, &'a str)];

/// Returns the problems, each with its variable, or what was read.
fn load(variables: Variables<'_>) -> Result<Option<RelayConfig>, Vec<String>> {
    let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let loaded = Config::load(Source::of(owned));
    loaded.map(|config| config.relay).map_err(|problems| {
        problems.iter().map(|problem| format!("{}: {}", problem.name, problem.what)).collect()
    })
}

/// Returns what was read with the relay and `/mcp` on.
fn on(variables: Variables<'_>) -> RelayConfig {
    load(&[&[RELAY, MCP], variables].concat()).expect("it starts").expect("it is on")
}

/// Returns the only problem with the relay and `/mcp` on.
fn refused(variables: Variables<'_>) -> String {
    let problems = load(&[&[RELAY, MCP], variables].concat()).expect_err("it does not start");
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.concat()
}

const RELAY: (&str, &str) = ("SVC_RELAY", "true");
const MCP: (&str, &str) = ("SVC_MCP", "true");
const LOCAL: (&str, &str) = ("SVC_RELAY_LOCAL", "true");
const URL: (&str, &str) = ("SVC_PUBLIC_URL", "https://svc.example");
const ISSUER: (&str, &str) = ("SVC_MCP_ISSUER", "https://issuer.example");
const KEYS: (&str, &str) = ("SVC_MCP_JWKS_URL", "https://issuer.example/keys");
const CALLERS: (&str, &str) = ("SVC_MCP_ORIGINS", "https://app.example");
const PENPOT: (&str, &str) =
    ("SVC_RELAY_TOOL_ORIGINS", "https://Design.penpot.app, http://localhost:9001");

#[test]
fn it_is_off_by_default_and_its_defaults_are_those_of_the_table() {
    assert_eq!(load(&[]).unwrap(), None);
    assert_eq!(load(&[MCP, ("SVC_RELAY", "false"), LOCAL, PENPOT]).unwrap(), None);
    let wanted = RelayConfig {
        origins: vec![
            "http://localhost:7080".to_owned(),
            "http://127.0.0.1:7080".to_owned(),
            "http://[::1]:7080".to_owned(),
        ],
        tool_origins: Vec::new(),
        connections_max: 256,
        approval: Duration::from_secs(300),
        grant: Duration::from_secs(60),
        wait: Duration::from_secs(20),
        session_kept: Duration::from_secs(30 * 86_400),
        result_bytes_max: 8_388_608,
        local: true,
        proposals_per_minute: 30,
        frames_per_second: 50,
    };
    assert_eq!(on(&[LOCAL]), wanted);
    let with_tokens = on(&[URL, ISSUER, KEYS, CALLERS]);
    let origins = vec!["https://svc.example".to_owned()];
    assert_eq!(with_tokens, RelayConfig { origins, local: false, ..wanted });
}

#[test]
fn plugins_connect_from_the_own_origin_or_those_that_are_named() {
    let origins = |variables: Variables<'_>| on(variables).origins.join(" ");
    let any_port = ("SVC_PUBLIC_LISTEN", "127.0.0.1:0");
    assert_eq!(origins(&[LOCAL, any_port]), "http://localhost:0 http://127.0.0.1:0 http://[::1]:0");
    let own_url = ("SVC_PUBLIC_URL", "http://localhost:8080");
    assert_eq!(origins(&[LOCAL, own_url]), "http://localhost:8080");
    // The pages that may call `/mcp` are others.
    assert_eq!(origins(&[LOCAL, own_url, CALLERS]), "http://localhost:8080");
    let named = ("SVC_RELAY_ORIGINS", "null, https://SVC.example");
    assert_eq!(origins(&[LOCAL, named]), "null https://svc.example");
    assert_eq!(origins(&[URL, ISSUER, KEYS, CALLERS, named]), "null https://svc.example");
    assert_eq!(origins(&[LOCAL, own_url, ("SVC_RELAY_ORIGINS", " , ")]), "http://localhost:8080");
}

#[test]
fn a_plugin_that_is_served_must_be_let_in() {
    let served = on(&[LOCAL, PENPOT]);
    assert_eq!(served.tool_origins, ["https://design.penpot.app", "http://localhost:9001"]);
    let both = ("SVC_RELAY_ORIGINS", "null,http://127.0.0.1:7080");
    assert_eq!(on(&[LOCAL, PENPOT, both]).tool_origins.len(), 2);
    let figma_only = ("SVC_RELAY_ORIGINS", "null");
    assert!(on(&[LOCAL, figma_only]).tool_origins.is_empty());
    let said = refused(&[LOCAL, PENPOT, figma_only]);
    assert!(said.starts_with("SVC_RELAY_ORIGINS: ") && said.contains("http://localhost:7080"));
    let said = refused(&[URL, ISSUER, KEYS, CALLERS, PENPOT, figma_only]);
    assert!(said.contains("add https://svc.example, or remove SVC_RELAY_TOOL_ORIGINS"), "{said}");
}

#[test]
fn without_mcp_it_does_not_start() {
    for variables in [&[RELAY][..], &[RELAY, LOCAL], &[RELAY, ("SVC_MCP", "false")]] {
        let problems = load(variables).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("SVC_RELAY: it needs SVC_MCP=true"), "{problems:?}");
    }
}

#[test]
fn without_tokens_it_starts_only_when_that_is_asked_for() {
    let said = refused(&[]);
    assert!(said.starts_with("SVC_RELAY: /mcp requires no tokens"), "{said}");
    assert!(said.contains("SVC_MCP_ISSUER") && said.contains("SVC_RELAY_LOCAL=true"), "{said}");
    assert!(refused(&[("SVC_RELAY_LOCAL", "false")]).starts_with("SVC_RELAY: "));
    assert!(refused(&[URL, ISSUER, KEYS, CALLERS, LOCAL]).starts_with("SVC_RELAY_LOCAL: "));
    // What is wrong with `/mcp` is told, and nothing that would follow from it.
    assert!(refused(&[URL, ISSUER, CALLERS]).starts_with("SVC_MCP_JWKS_URL: "));
    assert!(refused(&[("SVC_PUBLIC_URL", "x")]).starts_with("SVC_PUBLIC_URL: "));
    assert_eq!(load(&[RELAY, ("SVC_MCP", "yes")]).unwrap_err().len(), 1);
}

#[test]
fn what_is_written_is_valid_or_refused_on_or_off() {
    let refusals: &[(&str, &[&str])] = &[
        ("SVC_RELAY", &["", "1", "yes", "TRUE"]),
        ("SVC_RELAY_LOCAL", &["", "1", "on"]),
        ("SVC_RELAY_ORIGINS", &["*", "null,*", "NULL", "https://*.example", "https://a/", "a"]),
        (
            "SVC_RELAY_TOOL_ORIGINS",
            &[
                "*",
                "null",
                "http://penpot.example",
                "https://penpot.example/",
                "https://*.example",
                "https://penpot.example https://other.example",
                "https://penpot.example;",
                "https://u:pass-word@penpot.example",
                "http://[::1]:9001",
                "https://pen_pot.example",
                "https://a.example, b",
            ],
        ),
        ("SVC_RELAY_CONNECTIONS_MAX", &["0", "4097", "x"]),
        ("SVC_RELAY_APPROVAL_SECONDS", &["29", "3601"]),
        ("SVC_RELAY_GRANT_SECONDS", &["4", "601"]),
        ("SVC_RELAY_WAIT_SECONDS", &["-1", "56"]),
        ("SVC_RELAY_SESSION_DAYS", &["0", "366"]),
        ("SVC_RELAY_RESULT_BYTES", &["65535", "67108865"]),
        ("SVC_RELAY_PROPOSALS_PER_MINUTE", &["0", "6001"]),
        ("SVC_RELAY_FRAMES_PER_SECOND", &["9", "5001"]),
    ];
    for (name, values) in refusals {
        for value in *values {
            for variables in [vec![(*name, *value)], vec![RELAY, MCP, LOCAL, (*name, *value)]] {
                let problems = load(&variables).expect_err(&format!("{name}={value}"));
                assert!(problems.iter().any(|it| it.starts_with(&format!("{name}: "))), "{value}");
                assert!(!problems.concat().contains("pass-word"), "{problems:?}");
            }
        }
    }
}
