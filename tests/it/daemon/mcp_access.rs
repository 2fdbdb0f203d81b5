//! The gate of `/mcp` over sockets: forged tokens, keys that are fetched, and keys that cannot be had.

use serde_json::{Value, json};
use svc::runtime::clock::{Clock as _, SystemClock};

use super::ask::{Answer, Ask};
use super::process::Daemon;
use super::site::Site;
use crate::cli_client::canned_server::{CannedServer, Reply};
use crate::mcp_access::attacks::{ISSUER, Keys};
use crate::mcp_access::{MESSAGE, refusal};

/// Starts a daemon that others reach, whose issuer answers so often with its keys.
fn start(keys: &Keys, answers: usize) -> (Site, Daemon, CannedServer) {
    let document = keys.document().to_string();
    let issuer = CannedServer::tcp((0..answers).map(|_| Reply::json(200, &document)).collect());
    let mut site = Site::new();
    for (name, value) in [
        ("SVC_MCP", "true"),
        ("SVC_PUBLIC_URL", "https://svc.example"),
        ("SVC_MCP_ISSUER", ISSUER),
        ("SVC_MCP_JWKS_URL", &format!("{}/keys", issuer.url)),
        ("SVC_MCP_ORIGINS", "https://app.example"),
        ("SVC_MCP_ALGORITHMS", "ES256,RS256,EdDSA"),
        ("SVC_MCP_SUBJECT_RATE", "1000000"),
    ] {
        site.set(name, value);
    }
    let daemon = site.start();
    (site, daemon, issuer)
}

fn now() -> i64 {
    SystemClock::new().now().micros() / 1_000_000
}

fn message(target: &str) -> Ask {
    Ask::post(target).header("Content-Type", "application/json").body(MESSAGE)
}

/// Returns a request that says it comes from a peer of its own, through the proxy on this machine.
fn call(target: &str, number: usize) -> Ask {
    let peer = format!("192.0.2.{}", number % 256);
    message(target).header("Host", "svc.example").header("X-Forwarded-For", peer)
}

fn bearer(daemon: &Daemon, token: &str) -> Answer {
    daemon.public.ask(&call("/mcp", 0).header("Authorization", format!("Bearer {token}")))
}

#[test]
fn forged_tokens_are_refused_and_good_ones_get_in() {
    let keys = Keys::new();
    // The first request for keys, and one for each key id that does not exist.
    let (_site, daemon, issuer) = start(&keys, 3);
    let good = keys.sign("RS256", &keys.claims(now()));
    let session = bearer(&daemon, &good).header("mcp-session-id").to_owned();
    assert_eq!(session.len(), 32);
    let request = issuer.request();
    assert_eq!(request.line(), "GET /keys HTTP/1.1");
    assert_eq!(request.header("authorization"), None, "no token is sent on");
    let attacks = keys.attacks(now());
    for (number, attack) in attacks.iter().enumerate() {
        let target = attack.query.as_ref().map_or("/mcp".to_owned(), |it| format!("/mcp?{it}"));
        let ask = call(&target, number);
        let ask = attack.authorization.iter().fold(ask, |ask, it| ask.header("Authorization", it));
        let answer = daemon.public.ask(&ask);
        let (status, challenge, message) = attack.answer();
        assert_eq!(answer.status, status, "{}: {}", attack.name, answer.text());
        assert_eq!(answer.header("www-authenticate"), challenge, "{}", attack.name);
        assert_eq!(answer.json(), refusal(message), "{}", attack.name);
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{}", attack.name);
        assert_eq!(answer.header("mcp-session-id"), "", "{}", attack.name);
    }
    assert_eq!(issuer.requests().len(), 2, "one for each unknown key id");
    let long = call("/mcp", 0).header("Authorization", format!("Bearer {}", "x".repeat(16 << 10)));
    assert_eq!((daemon.public.ask(&long).status, daemon.public.ask(&long).body), (431, vec![]));
    assert_eq!(bearer(&daemon, &keys.sign("EdDSA", &keys.claims(now()))).status, 200);
    let of_tokens = attacks.iter().filter(|attack| attack.gate == "invalid_token").count();
    let counted = daemon.metric("svc_mcp_refusals_total{gate=\"invalid_token\"}");
    assert_eq!(counted, u64::try_from(of_tokens).unwrap());
    let log = daemon.logged("access_token.refused");
    for part in attacks.iter().flat_map(|it| &it.authorization).flat_map(|it| it.split(['.', ' ']))
    {
        assert!(part.len() <= 20 || !log.contains(part), "{part} is in the log");
    }
}

#[test]
fn an_issuer_that_is_down_refuses_no_token_and_its_metadata_are_served() {
    let keys = Keys::new();
    let (_site, daemon, _issuer) = start(&keys, 0);
    let answer = bearer(&daemon, &keys.sign("ES256", &keys.claims(now())));
    assert_eq!((answer.status, answer.header("retry-after")), (503, "5"));
    assert_eq!(answer.header("www-authenticate"), "");
    let metadata = daemon.public.ask(&Ask::get("/.well-known/oauth-protected-resource/mcp"));
    assert_eq!(metadata.status, 200);
    assert_eq!(metadata.member("resource"), "https://svc.example/mcp");
    assert_eq!(metadata.json()["authorization_servers"][0], ISSUER);
}

#[test]
fn without_tokens_it_serves_its_own_machine_at_the_port_it_was_given() {
    let mut site = Site::new();
    site.set("SVC_MCP", "true");
    let daemon = site.start();
    let super::ask::Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
    let own = message("/mcp").header("Host", format!("localhost:{}", address.port()));
    let page = own.clone().header("Origin", format!("http://{address}"));
    for (ask, status) in [
        (own.clone(), 200),
        (page, 200),
        (own.header("X-Forwarded-For", "192.0.2.1"), 403),
        (message("/mcp"), 421),
        (Ask::get("/.well-known/oauth-protected-resource"), 404),
    ] {
        assert_eq!(daemon.public.ask(&ask).status, status, "{ask:?}");
    }
}

#[test]
fn what_others_reach_does_not_start_without_tokens_and_says_all_that_is_missing() {
    let mut site = Site::new();
    site.set("SVC_MCP", "true");
    site.set("SVC_PUBLIC_LISTEN", "0.0.0.0:0");
    let missing = ["SVC_PUBLIC_URL", "SVC_MCP_ISSUER", "SVC_MCP_JWKS_URL", "SVC_MCP_ORIGINS"];
    for arguments in [&[][..], &["check-config"]] {
        let ended = site.run(arguments);
        assert_eq!(ended.code, Some(78), "{ended:?}");
        assert!(ended.stderr.contains("4 problem(s)"), "{}", ended.stderr);
        for name in missing {
            assert!(ended.stderr.contains(&format!("  {name}: it is missing; ")), "{name}");
        }
    }
    for origins in ["*", "https://app.example,*", "https://*.example"] {
        site.set("SVC_MCP_ORIGINS", origins);
        let ended = site.run(&["check-config"]);
        let told = ended.stderr.contains("  SVC_MCP_ORIGINS: it is not allowed; use exact origins");
        assert!(ended.code == Some(78) && told, "{}", ended.stderr);
    }
}

#[test]
fn operators_are_told_how_it_is_set_up_and_how_requests_arrive() {
    const STATUS: &str = "/api/v1/mcp";
    let keys = Keys::new();
    let (_site, daemon, issuer) = start(&keys, 0);
    for endpoint in daemon.operator_endpoints() {
        let answer = endpoint.ask(&Ask::get(STATUS));
        assert_eq!(answer.status, 200, "{answer:?}");
        let status = answer.json();
        assert_eq!(status["enabled"], true);
        assert_eq!(status["modernRouting"], false);
        assert_eq!(status["endpoint"], "https://svc.example/mcp");
        assert_eq!(status["authorization"]["issuer"], ISSUER);
        assert_eq!(status["authorization"]["jwksUrl"], format!("{}/keys", issuer.url));
        assert_eq!(status["forwardingHeaders"], Value::Null, "there was no request");
    }
    assert_eq!(daemon.public.ask(&Ask::get(STATUS)).status, 404);
    for (ask, names) in [
        (Ask::post("/mcp"), json!([])),
        (call("/mcp", 7), json!(["x-forwarded-for"])),
        (call("/mcp", 7).header("X-Real-IP", "192.0.2.7"), json!(["x-forwarded-for", "x-real-ip"])),
    ] {
        daemon.public.ask(&ask);
        let answer = daemon.control.ask(&Ask::get(STATUS));
        assert_eq!(answer.json()["forwardingHeaders"], names);
        assert!(!answer.text().contains("192.0.2"), "{}", answer.text());
    }
}
