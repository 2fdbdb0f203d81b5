//! `svcctl mcp doctor` beside the real daemon: with the same settings, with others, and without a daemon.

use std::net::TcpListener;

use serde_json::{Value, json};

use super::ask::{Ask, Endpoint};
use super::process::Daemon;
use super::site::{Ended, Site};
use crate::cli_client::canned_server::{CannedServer, Reply};
use crate::mcp_access::attacks::Keys;

/// Runs the doctor in the environment of the site, with these settings besides or instead.
fn doctor(site: &Site, settings: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let mut command = site.command(env!("CARGO_BIN_EXE_svcctl"));
    command.args(["mcp", "doctor", "--url", &format!("unix:{}", site.socket().display())]);
    let output = command.args(arguments).envs(settings.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs it for its document; returns that, the codes of its findings, and how it ended.
fn examine(site: &Site, settings: &[(&str, &str)]) -> (Value, Vec<String>, i32) {
    let ended = doctor(site, settings, &["-o", "json"]);
    assert_eq!(ended.stderr, "", "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let codes = findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
    (report, codes, ended.code.unwrap())
}

fn port(daemon: &Daemon) -> u16 {
    let Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
    address.port()
}

#[test]
fn the_same_settings_are_nothing_to_find_in_either_mode() {
    for (is_modern, routing, status) in [("false", "no", 400), ("true", "yes", 200)] {
        let mut site = Site::new();
        site.set("SVC_MCP", "true");
        site.set("MCP_V2_EXPERIMENTAL", is_modern);
        let daemon = site.start();
        let (report, codes, code) = examine(&site, &[]);
        assert_eq!((codes, code), (Vec::new(), 0), "{report}");
        assert_eq!(report["endpoint"]["status"], status);
        assert_eq!(report["daemon"]["modernRouting"], report["environment"]["modernRouting"]);
        assert_eq!((&report["metadata"], &report["keys"]), (&Value::Null, &Value::Null));
        let said = doctor(&site, &[], &[]).stdout.replace(&port(&daemon).to_string(), "PORT");
        let legacy = "5 from 2024-10-07 to 2025-11-25";
        let modern = if is_modern == "true" { "2026-07-28" } else { "-" };
        for line in [
            "transports stdio, streamable_http stdio, streamable_http".to_owned(),
            "served by default legacy revisions legacy revisions".to_owned(),
            format!("legacy revisions {legacy} {legacy}"),
            format!("modern revisions {modern} {modern}"),
            format!("modern revisions enabled {routing} {routing}"),
            "endpoint - http://127.0.0.1:PORT/mcp".to_owned(),
            "token issuer - -".to_owned(),
            format!("endpoint HTTP {status} http://127.0.0.1:PORT/mcp"),
            "nothing is wrong".to_owned(),
        ] {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.lines().any(|it| words(it) == line), "{line:?} is not in:\n{said}");
        }
        assert!(said.lines().all(|line| line.len() < 100), "{said}");
    }
}

#[test]
fn a_daemon_that_is_configured_otherwise_is_told_setting_by_setting() {
    let mut site = Site::new();
    site.set("SVC_MCP", "true");
    let _daemon = site.start();
    for (name, value, message) in [
        (
            "MCP_V2_EXPERIMENTAL",
            "true",
            "support for modern revisions is on in this environment, and off in the running svcd",
        ),
        (
            "MCP_PROTOCOL_VERSION",
            "2025-03-26",
            "the default revision is 2025-03-26 in this environment, and 2025-11-25 in the running svcd",
        ),
        ("SVC_MCP", "false", "/mcp is off in this environment, and on in the running svcd"),
    ] {
        let (report, codes, code) = examine(&site, &[(name, value)]);
        assert_eq!((codes, code), (vec!["daemon_differs".to_owned()], 1), "{report}");
        assert_eq!(report["findings"][0]["message"], message);
        // Clients meet the daemon.
        assert_eq!(report["endpoint"]["status"], 400);
        let said = doctor(&site, &[(name, value)], &[]).stdout;
        assert!(said.contains(message) && said.contains("\nnext "), "{said}");
    }
}

#[test]
fn without_a_daemon_the_environment_speaks_for_itself() {
    let mut site = Site::new();
    site.set("SVC_MCP", "true");
    let mut daemon = site.start();
    let address = format!("127.0.0.1:{}", port(&daemon));
    daemon.kill();
    for (is_modern, revisions) in [("false", json!([])), ("true", json!(["2026-07-28"]))] {
        let settings = [("MCP_V2_EXPERIMENTAL", is_modern), ("SVC_PUBLIC_LISTEN", &*address)];
        let (report, codes, code) = examine(&site, &settings);
        assert_eq!((codes, code), (vec!["daemon_away".into(), "endpoint_unreachable".into()], 69));
        assert_eq!(report["daemon"], Value::Null);
        assert_eq!(report["environment"]["endpoint"], format!("http://{address}/mcp"));
        assert_eq!(report["environment"]["supportedRevisions"]["modern"], revisions);
        assert_eq!(report["endpoint"]["status"], Value::Null);
    }
}

#[test]
fn settings_that_are_wrong_are_findings_and_the_daemon_is_asked_all_the_same() {
    let mut site = Site::new();
    site.set("SVC_MCP", "true");
    let _daemon = site.start();
    for (settings, expected) in [
        (&[("MCP_V2_EXPERIMENTAL", "yes"), ("SVC_MCP_ISUER", "x")][..], ["setting_refused"; 2]),
        (&[("MCP_V2_EXPERIMENTL", "true"), ("MCP_PROTOCOL_VERSIONS", "x")], ["setting_ignored"; 2]),
    ] {
        let (report, codes, code) = examine(&site, settings);
        assert_eq!((codes, code), (expected.map(str::to_owned).to_vec(), 1), "{report}");
        assert_eq!(report["daemon"]["enabled"], true);
        assert_eq!(report["environment"].is_null(), expected[0] == "setting_refused");
    }
}

#[test]
fn metadata_and_keys_are_found_as_a_client_finds_them() {
    let keys = Keys::new();
    let reply = || Reply::json(200, &keys.document().to_string());
    let late = || reply().header("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    let none = || Reply::json(404, "{}");
    let issuer = CannedServer::tcp_with(|url| {
        let metadata = json!({
            "issuer": url, "jwks_uri": format!("{url}/keys"), "code_challenge_methods_supported": ["S256"],
        });
        let metadata = || Reply::json(200, &metadata.to_string());
        // The second of the places where clients look has it as well as the first.
        vec![metadata(), reply(), none(), metadata(), reply(), metadata(), late(), none(), none()]
    });
    // Another process may take it first, and then the daemon says so.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut site = Site::new();
    for (name, value) in [
        ("SVC_MCP", "true".to_owned()),
        ("SVC_PUBLIC_LISTEN", free.to_string()),
        ("SVC_PUBLIC_URL", format!("http://{free}")),
        ("SVC_MCP_ISSUER", issuer.url.clone()),
        ("SVC_MCP_JWKS_URL", format!("{}/keys?key=secret", issuer.url)),
        ("SVC_MCP_ALGORITHMS", "ES256,RS256,EdDSA".to_owned()),
    ] {
        site.set(name, &value);
    }
    let daemon = site.start();
    let told = daemon.control.ask(&Ask::get("/api/v1/mcp")).text();
    assert!(told.contains(&format!("{}/keys\"", issuer.url)) && !told.contains("secret"));
    for (others, findings, asked) in [
        (&[][..], &[][..], &["oauth", "keys"][..]),
        (&[("SVC_MCP_ALGORITHMS", "ES256")], &["daemon_differs"], &["oauth", "openid", "keys"]),
        (&[], &["clock_skew"], &["oauth", "keys"]),
        (&[], &["issuer_metadata_unavailable", "keys_unavailable"], &["oauth", "openid", "keys"]),
    ] {
        let (report, codes, code) = examine(&site, others);
        assert_eq!(codes, findings);
        assert_eq!(code, i32::from(!findings.is_empty()));
        assert_eq!(report["endpoint"]["status"], 401);
        assert_eq!(report["metadata"]["status"], 200);
        assert!(!report.to_string().contains("secret"), "{report}");
        let wanted: Vec<&str> = asked
            .iter()
            .map(|what| match *what {
                "oauth" => "GET /.well-known/oauth-authorization-server HTTP/1.1",
                "openid" => "GET /.well-known/openid-configuration HTTP/1.1",
                _ => "GET /keys?key=secret HTTP/1.1",
            })
            .collect();
        if !findings.contains(&"keys_unavailable") {
            assert_eq!(report["issuer"]["status"], 200);
            assert_eq!(report["keys"]["algorithms"], json!(["ES256", "EdDSA", "RS256"]));
            assert_eq!(report["keys"]["usable"], 3);
        }
        let asked = issuer.requests();
        assert_eq!(asked.iter().map(|it| it.line()).collect::<Vec<_>>(), wanted);
        assert!(asked.iter().all(|it| it.header("authorization").is_none()));
    }
}
