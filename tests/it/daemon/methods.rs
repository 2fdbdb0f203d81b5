//! `Allow` on every surface: it lists the methods of a path that are not refused, and what is switched off has none.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use svc::http::message::Surface;
use svc::http::routes;

use super::ask::{Answer, Ask, Endpoint};
use super::process::Daemon;
use super::site::Site;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"];
const ID: &str = "0198c0de-0000-7000-8000-000000000001";
/// Paths behind the gate.
const GATED: [&str; 3] = ["/mcp", "/relay/v1/pairings", "/fixture/"];
/// The methods of each path.
type Paths = BTreeMap<String, BTreeSet<&'static str>>;

/// Returns the paths of a surface with values for their variables, and the methods that the table has for each.
fn paths(surface: Surface) -> Paths {
    let values = [
        ("{installationId}", "4711"),
        ("{itemType}", "job"),
        ("{name}", "planner"),
        ("{file}", "ui.js"),
        ("audit-events/{id}", "audit-events/1"),
    ];
    let mut paths = Paths::new();
    for (_, method, path) in routes::listing().filter(|(theirs, ..)| theirs.contains(&surface)) {
        let path =
            values.iter().fold(path.to_owned(), |path, (name, text)| path.replace(name, text));
        let parts = path.split('/').map(|part| if part.starts_with('{') { ID } else { part });
        let methods = paths.entry(parts.collect::<Vec<_>>().join("/")).or_default();
        methods.insert(method.as_str());
        // The gate answers what a browser asks before a page may call, and has no HEAD.
        let is_gated = GATED.iter().any(|gated| path.starts_with(gated));
        if is_gated {
            methods.insert("OPTIONS");
        } else if *method == Method::GET {
            methods.insert("HEAD");
        }
    }
    paths
}

fn ask(endpoint: &Endpoint, surface: Surface, method: &str, path: &str) -> Answer {
    let host = if surface == Surface::Public { "svc.example" } else { "localhost" };
    endpoint.ask(&Ask::new(method, path).header("Host", host).bearer().key("key"))
}

fn surfaces(daemon: &Daemon) -> [(Surface, Endpoint); 3] {
    let [control, operator] = daemon.operator_endpoints();
    [
        (Surface::Control, control),
        (Surface::Operator, operator),
        (Surface::Public, daemon.public.clone()),
    ]
}

#[test]
fn allow_lists_the_methods_that_a_path_has() {
    let mut site = Site::new();
    for (name, value) in [
        ("SVC_MCP", "true"),
        ("SVC_MCP_PEER_RATE", "1000"),
        ("SVC_RELAY", "true"),
        ("SVC_PUBLIC_URL", "https://svc.example"),
        ("SVC_MCP_ISSUER", "https://issuer.example"),
        ("SVC_MCP_JWKS_URL", "https://issuer.example/keys"),
        ("SVC_MCP_ORIGINS", "https://app.example"),
        ("SVC_RELAY_TOOL_ORIGINS", "https://design.penpot.app"),
    ] {
        site.set(name, value);
    }
    let daemon = site.start();
    for (surface, endpoint) in surfaces(&daemon) {
        for (path, methods) in paths(surface) {
            for method in METHODS {
                let answer = ask(&endpoint, surface, method, &path);
                let case = format!("{} {method} {path}: {answer:?}", surface.as_str());
                assert_eq!(answer.status == 405, !methods.contains(method), "{case}");
                if answer.status == 405 {
                    let allow: BTreeSet<_> = answer.header("allow").split(", ").collect();
                    assert_eq!(allow, methods, "{case}");
                }
            }
        }
    }
}

#[test]
fn what_is_switched_off_has_no_method() {
    for (settings, off) in [
        (&[][..], ["/mcp", "/relay/"]),
        // Without an issuer no token is asked for, and there is nothing to say of tokens.
        (&[("SVC_MCP", "true")], ["/relay/", "/.well-known/"]),
    ] {
        let mut site = Site::new();
        for (name, value) in settings {
            site.set(name, value);
        }
        let daemon = site.start();
        let is_off = |path: &String| off.iter().any(|part| path.starts_with(part));
        for path in paths(Surface::Public).into_keys().filter(is_off) {
            for method in METHODS {
                let answer = ask(&daemon.public, Surface::Public, method, &path);
                assert_eq!((answer.status, answer.header("allow")), (404, ""), "{method} {path}");
            }
        }
    }
}
