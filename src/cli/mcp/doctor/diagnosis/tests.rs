//! Each thing that may be wrong, alone; and that nothing is found where nothing is wrong.

use serde_json::{Value, json};

use super::*;
use crate::config::{McpEnvironment, Source};
use crate::mcp::description::describe;

const LOCAL: &[(&str, &str)] = &[("SVC_MCP", "true")];
const REMOTE: &[(&str, &str)] = &[
    ("SVC_MCP", "true"),
    ("SVC_PUBLIC_URL", "https://svc.example"),
    ("SVC_MCP_ISSUER", "https://issuer.example"),
    ("SVC_MCP_JWKS_URL", "https://issuer.example/keys?key=secret"),
    ("SVC_MCP_ORIGINS", "https://app.example"),
];
const METADATA: &str = "https://svc.example/.well-known/oauth-protected-resource/mcp";

const ISSUER_METADATA: &str = "https://issuer.example/.well-known/oauth-authorization-server";

fn status(settings: &[(&str, &str)]) -> McpStatus {
    let owned = settings.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let (loaded, _) = McpEnvironment::load(Source::of(owned)).unwrap();
    describe(loaded.mcp.as_ref(), loaded.protocol, loaded.public_listen)
}

fn with(
    settings: &[(&'static str, &'static str)],
    name: &'static str,
    value: &'static str,
) -> McpStatus {
    status(&[settings, &[(name, value)]].concat())
}

fn answer(status: u16, body: &Value) -> Answer {
    Answer { status, challenge: None, ahead_seconds: Some(0), body: body.to_string().into_bytes() }
}

fn exchange(url: &str, answer: Answer) -> Option<Exchange> {
    Some(Exchange { url: url.to_owned(), outcome: Ok(answer) })
}

fn challenged() -> Answer {
    let challenge = format!("Bearer resource_metadata=\"{METADATA}\", scope=\"mcp:read\"");
    Answer { challenge: Some(challenge), ..answer(401, &json!({ "jsonrpc": "2.0" })) }
}

fn metadata() -> Value {
    json!({
        "resource": "https://svc.example/mcp",
        "authorization_servers": ["https://issuer.example"],
        "scopes_supported": ["mcp:read"],
        "bearer_methods_supported": ["header"],
    })
}

fn issuer_metadata() -> Value {
    json!({
        "issuer": "https://issuer.example",
        "jwks_uri": "https://issuer.example/keys?key=other",
        "token_endpoint": "https://issuer.example/token",
        "code_challenge_methods_supported": ["plain", "S256"],
    })
}

fn key(id: &str) -> Value {
    let coordinate = crate::crypto::jose::encode(&[0xa5; 32]);
    json!({ "kty": "EC", "crv": "P-256", "x": coordinate, "y": coordinate, "kid": id })
}

fn environment(status: McpStatus) -> Environment {
    Environment { status: Some(status), problems: Vec::new(), warnings: Vec::new() }
}

/// A server for this machine, with nothing wrong.
fn local() -> Facts {
    let rejection = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602 } });
    Facts {
        environment: environment(status(LOCAL)),
        daemon: Ok(status(LOCAL)),
        endpoint: exchange("http://127.0.0.1:7080/mcp", answer(400, &rejection)),
        metadata: None,
        issuer: None,
        keys: None,
    }
}

/// A server that others reach, with nothing wrong.
fn remote() -> Facts {
    let forwarding_headers = Some(vec!["x-forwarded-for".into()]);
    Facts {
        environment: environment(status(REMOTE)),
        daemon: Ok(McpStatus { forwarding_headers, ..status(REMOTE) }),
        endpoint: exchange("https://svc.example/mcp", challenged()),
        metadata: exchange(METADATA, answer(200, &metadata())),
        issuer: exchange(ISSUER_METADATA, answer(200, &issuer_metadata())),
        keys: exchange(
            "https://issuer.example/keys?key=secret",
            answer(200, &json!({ "keys": [key("a"), key("b")] })),
        ),
    }
}

fn codes(facts: &Facts) -> Vec<Code> {
    let findings = diagnose(facts).findings;
    for finding in &findings {
        assert!(!finding.next.is_empty() && !finding.message.contains("secret"), "{finding:?}");
    }
    findings.iter().map(|finding| finding.code).collect()
}

#[track_caller]
fn check(mut facts: Facts, change: impl FnOnce(&mut Facts), expected: &[Code]) {
    change(&mut facts);
    assert_eq!(codes(&facts), expected);
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    check(local(), |_| {}, &[]);
    check(remote(), |_| {}, &[]);
    let off = Facts {
        environment: environment(status(&[])),
        daemon: Ok(status(&[])),
        endpoint: None,
        metadata: None,
        issuer: None,
        keys: None,
    };
    check(off, |_| {}, &[]);
    let diagnosis = diagnose(&remote());
    assert_eq!((diagnosis.keys, diagnosis.ahead_seconds), (Some(vec!["ES256", "ES256"]), Some(0)));
}

#[test]
fn an_environment_that_cannot_be_used_and_a_daemon_that_is_away_are_told_apart() {
    let problem =
        |name: &str| SettingProblem { name: name.to_owned(), what: "it is wrong".to_owned() };
    let away = || Err(Away::new("cannot reach it".to_owned(), &["start it".to_owned()]));
    check(local(), |it| it.daemon = away(), &[Code::DaemonAway]);
    check(remote(), |it| it.daemon = away(), &[Code::DaemonAway]);
    let refused = |it: &mut Facts| {
        it.environment.status = None;
        it.environment.problems = vec![problem("SVC_MCP"), problem("SVC_PUBLIC_URL")];
    };
    check(local(), refused, &[Code::SettingRefused; 2]);
    check(local(), |it| it.environment.warnings.push(problem("MCP_V2")), &[Code::SettingIgnored]);
    let mut both = local();
    refused(&mut both);
    both.daemon = away();
    assert!(both.subject().is_none());
    check(both, |_| {}, &[Code::SettingRefused, Code::SettingRefused, Code::DaemonAway]);
}

#[test]
fn each_setting_that_differs_is_one_finding() {
    let differs = [Code::DaemonDiffers];
    for (here, there) in [
        (status(&[]), status(LOCAL)),
        (status(LOCAL), status(&[])),
        (with(LOCAL, "MCP_V2_EXPERIMENTAL", "true"), status(LOCAL)),
        (with(LOCAL, "MCP_PROTOCOL_VERSION", "2025-03-26"), status(LOCAL)),
        (with(LOCAL, "SVC_PUBLIC_LISTEN", "127.0.0.1:9"), status(LOCAL)),
        (with(REMOTE, "SVC_PUBLIC_URL", "https://other.example"), status(REMOTE)),
        (with(REMOTE, "SVC_MCP_ISSUER", "https://other.example"), status(REMOTE)),
        (with(REMOTE, "SVC_MCP_JWKS_URL", "https://other.example"), status(REMOTE)),
        (with(REMOTE, "SVC_MCP_AUDIENCE", "https://other.example/mcp"), status(REMOTE)),
        (status(REMOTE), with(REMOTE, "SVC_MCP_AUDIENCE", "other")),
        (with(REMOTE, "SVC_MCP_ALGORITHMS", "EdDSA"), status(REMOTE)),
        (with(REMOTE, "SVC_MCP_TOKEN_TYPE", "jwt"), status(REMOTE)),
    ] {
        let found = differences(&here, &there);
        assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), differs, "{found:?}");
        assert!(found[0].message.contains("in this environment, and "));
    }
    let types = differences(&with(REMOTE, "SVC_MCP_TOKEN_TYPE", "JWT"), &status(REMOTE));
    let said = "the type of tokens is jwt in this environment, and at+jwt in the running svcd";
    assert_eq!(types[0].message, said);
    let audiences = differences(&status(REMOTE), &with(REMOTE, "SVC_MCP_AUDIENCE", "other"));
    let said =
        "the audience of tokens is the endpoint in this environment, and other in the running svcd";
    assert_eq!(audiences[0].message, said);
    // Without tokens there is nothing to compare but that.
    let local_url = with(LOCAL, "SVC_PUBLIC_URL", "http://localhost:7080");
    let tokens = with(REMOTE, "SVC_PUBLIC_URL", "http://localhost:7080");
    let found = differences(&local_url, &tokens);
    assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), differs, "{found:?}");
    // Only the daemon knows its port, and the query is left out of the comparison.
    assert_eq!(differences(&with(LOCAL, "SVC_PUBLIC_LISTEN", "127.0.0.1:0"), &status(LOCAL)), []);
    let other_query = with(REMOTE, "SVC_MCP_JWKS_URL", "https://issuer.example/keys?key=2");
    assert_eq!(differences(&other_query, &status(REMOTE)), []);
}

#[test]
fn what_answers_at_the_endpoint_is_judged_by_what_it_should_be() {
    let rpc = json!({ "jsonrpc": "2.0", "id": 1 });
    let reply = |status: u16, body: Value| {
        move |facts: &mut Facts| {
            let endpoint = facts.endpoint.take().unwrap();
            facts.endpoint = exchange(&endpoint.url, answer(status, &body));
        }
    };
    check(local(), reply(200, rpc.clone()), &[Code::EndpointDiffers]);
    check(local(), reply(200, json!("<html>")), &[Code::EndpointRefuses]);
    check(remote(), reply(401, rpc.clone()), &[Code::ChallengeMissing]);
    check(remote(), reply(200, rpc.clone()), &[Code::TokensNotAsked]);
    check(remote(), reply(400, rpc.clone()), &[Code::TokensNotAsked]);
    for status in [301, 403, 404, 421, 429, 500, 502, 503] {
        check(remote(), reply(status, rpc.clone()), &[Code::EndpointRefuses]);
        check(local(), reply(status, rpc.clone()), &[Code::EndpointRefuses]);
    }
    check(local(), reply(401, rpc.clone()), &[Code::EndpointRefuses]);
    for facts in [local(), remote()] {
        let silent = |it: &mut Facts| it.endpoint.as_mut().unwrap().outcome = Err("late".into());
        check(facts, silent, &[Code::EndpointUnreachable]);
    }
    let all_silent = |it: &mut Facts| {
        for exchange in [&mut it.endpoint, &mut it.metadata] {
            exchange.as_mut().unwrap().outcome = Err("late".into());
        }
    };
    check(remote(), all_silent, &[Code::EndpointUnreachable]);
    let modern = |facts: &mut Facts| {
        facts.daemon = Ok(with(LOCAL, "MCP_V2_EXPERIMENTAL", "true"));
        facts.environment = environment(with(LOCAL, "MCP_V2_EXPERIMENTAL", "true"));
    };
    check(local(), modern, &[Code::EndpointDiffers]);
    let mut answered = local();
    modern(&mut answered);
    check(answered, reply(200, rpc), &[]);
}

#[test]
fn metadata_and_keys_must_be_there_and_be_those_of_the_daemon() {
    let metadata_is =
        |answer: Answer| move |it: &mut Facts| it.metadata = exchange(METADATA, answer);
    for (member, value) in [
        ("resource", json!("https://svc.example/mcp/")),
        ("authorization_servers", json!(["https://other.example"])),
    ] {
        let mut document = metadata();
        document[member] = value;
        check(remote(), metadata_is(answer(200, &document)), &[Code::MetadataDiffers]);
    }
    check(remote(), metadata_is(answer(404, &metadata())), &[Code::MetadataUnavailable]);
    check(remote(), metadata_is(answer(200, &json!([]))), &[Code::MetadataUnavailable]);
    let issuer_is =
        |answer: Answer| move |it: &mut Facts| it.issuer = exchange(ISSUER_METADATA, answer);
    for (member, value, code) in [
        ("issuer", json!("https://issuer.example/"), Code::IssuerMetadataDiffers),
        ("jwks_uri", json!("https://issuer.example/other"), Code::IssuerMetadataDiffers),
        ("code_challenge_methods_supported", json!(["plain"]), Code::IssuerPkceMissing),
        ("issuer", json!(1), Code::IssuerMetadataUnavailable),
    ] {
        let mut document = issuer_metadata();
        document[member] = value;
        check(remote(), issuer_is(answer(200, &document)), &[code]);
    }
    let least = json!({
        "issuer": "https://issuer.example", "code_challenge_methods_supported": ["S256"],
    });
    check(remote(), issuer_is(answer(200, &least)), &[]);
    let unavailable = [Code::IssuerMetadataUnavailable];
    check(remote(), issuer_is(answer(404, &issuer_metadata())), &unavailable);
    let keys_are = |answer: Answer| {
        move |it: &mut Facts| it.keys = exchange("https://issuer.example/keys?key=secret", answer)
    };
    let set = |keys: Vec<Value>| answer(200, &json!({ "keys": keys }));
    check(remote(), keys_are(answer(500, &json!({}))), &[Code::KeysUnavailable]);
    for unusable in [set(Vec::new()), set(vec![key("a"), key("a")]), answer(200, &json!("x"))] {
        check(remote(), keys_are(unusable), &[Code::KeysUnusable]);
    }
    let silent = |it: &mut Facts| it.keys.as_mut().unwrap().outcome = Err("late".into());
    check(remote(), silent, &[Code::KeysUnavailable]);
}

#[test]
fn clocks_may_be_half_a_minute_apart() {
    let ahead = |seconds: i64| {
        move |it: &mut Facts| {
            if let Ok(answer) = &mut it.keys.as_mut().unwrap().outcome {
                answer.ahead_seconds = Some(seconds);
            }
        }
    };
    for seconds in [-30, -1, 1, 30] {
        check(remote(), ahead(seconds), &[]);
    }
    for seconds in [-31, 31, i64::MIN, i64::MAX] {
        check(remote(), ahead(seconds), &[Code::ClockSkew]);
    }
}

#[test]
fn how_requests_arrive_shows_what_a_proxy_leaves_out() {
    let arrived = |names: Option<&'static [&'static str]>| {
        move |it: &mut Facts| {
            let names = names.map(|names| names.iter().map(|name| (*name).into()).collect());
            it.daemon.as_mut().ok().unwrap().forwarding_headers = names;
        }
    };
    check(remote(), arrived(None), &[]);
    check(remote(), arrived(Some(&["x-forwarded-for", "x-real-ip"])), &[]);
    check(remote(), arrived(Some(&[])), &[Code::ForwardingMissing]);
    check(remote(), arrived(Some(&["forwarded"])), &[Code::ForwardingMissing]);
    check(local(), arrived(Some(&[])), &[]);
    check(local(), arrived(Some(&["forwarded"])), &[Code::ForwardingRefused]);
}

#[test]
fn the_metadata_of_an_issuer_is_looked_for_where_clients_look() {
    let (oauth, openid) = ("oauth-authorization-server", "openid-configuration");
    for (issuer, urls) in [
        (
            "https://a.example",
            vec![
                format!("https://a.example/.well-known/{oauth}"),
                format!("https://a.example/.well-known/{openid}"),
            ],
        ),
        (
            "https://a.example/realms/one/",
            vec![
                format!("https://a.example/.well-known/{oauth}/realms/one"),
                format!("https://a.example/.well-known/{openid}/realms/one"),
                format!("https://a.example/realms/one/.well-known/{openid}"),
            ],
        ),
    ] {
        assert_eq!(issuer::metadata_urls(issuer), urls);
    }
}
