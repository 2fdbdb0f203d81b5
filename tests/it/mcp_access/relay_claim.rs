//! A person's code, sent without an agent: the same gate as for `/mcp`, and a scope of its own.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc::domain::id::PairingId;
use svc::http::message::{Response, Surface};
use svc::relay::code::PairingCode;
use svc::runtime::clock::Clock as _;

use super::attacks::{CHALLENGE, ISSUER};
use super::{HOST, REMOTE, Site, header};
use crate::support::World;
use crate::support::relay::Relay;
use crate::support::world::json;

const PATH: &str = "/relay/v1/pairings/claim";
const CODE: &str = "7K2M-9QXV";
const BODY: &str = r#"{"code":"7K2M-9QXV"}"#;

/// Starts one that others reach, whose relay offers one code.
fn site() -> (Site, PairingId) {
    with_code(Site::around(World::with_relay(), REMOTE))
}

fn with_code(site: Site) -> (Site, PairingId) {
    let code: PairingCode = CODE.parse().unwrap();
    let pairing = Relay::new(&site.world.store, &site.world.clock).begin(code.digest());
    (site, pairing)
}

/// The subject and the client who claimed the code; `None` while it is offered.
fn claimed_by((site, pairing): (&Site, PairingId)) -> Option<(String, String)> {
    let claimed = site.world.store.relay_pairing(pairing).unwrap();
    claimed.map(|it| (it.subject, it.client))
}

fn token(site: &Site, scopes: &str) -> String {
    let mut claims = site.keys.claims(site.now());
    claims["scope"] = Value::from(scopes);
    format!("Bearer {}", site.keys.sign("ES256", &claims))
}

/// Claims with a token that has these scopes.
fn claim(site: &Site, scopes: &str, body: &str) -> Response {
    site.post(PATH, body, &[HOST, ("authorization", &token(site, scopes))])
}

#[test]
fn who_has_the_scope_claims_a_pairing_under_their_own_name() {
    let (site, pairing) = site();
    // Blanks and case are the person's.
    let answer = claim(&site, "mcp:read mcp:pair", r#"{"code":" 7k2m 9qxv"}"#);
    assert_eq!(answer.status, 200, "{}", super::text(&answer));
    let claim_of = json(&answer);
    assert_eq!((&claim_of["tool"], &claim_of["file"]), (&json!("penpot"), &Value::Null));
    let until = site.world.clock.now().plus(Duration::from_secs(60));
    assert_eq!(claim_of["expiresAt"], until.to_string());
    let claims = site.keys.claims(site.now());
    let subject = format!("{ISSUER} {}", claims["sub"].as_str().unwrap());
    let client = claims["client_id"].as_str().unwrap().to_owned();
    assert_eq!(claimed_by((&site, pairing)), Some((subject, client)));
    // Once.
    let again = claim(&site, "mcp:read mcp:pair", BODY);
    assert_eq!((again.status.as_u16(), &json(&again)["outcome"]), (404, &json!("not_found")));
}

#[test]
fn without_a_token_that_allows_it_no_code_is_looked_at() {
    let (site, pairing) = site();
    let none = site.post(PATH, BODY, &[HOST]);
    assert_eq!(none.status, 401);
    assert_eq!(header(&none, "www-authenticate"), CHALLENGE);
    let forged = site.post(PATH, BODY, &[HOST, ("authorization", "Bearer x.y.z")]);
    assert_eq!(forged.status, 401);
    let invalid = format!("{CHALLENGE}, error=\"invalid_token\"");
    assert_eq!(header(&forged, "www-authenticate"), invalid);
    for scopes in ["mcp:read", "mcp:read mcp:invoke", "mcp:read mcp:pairs"] {
        let answer = claim(&site, scopes, BODY);
        assert_eq!(answer.status, 403, "{scopes}");
        assert_eq!(json(&answer)["outcome"], "forbidden");
        let challenge = CHALLENGE.replace("mcp:read", "mcp:read mcp:pair");
        let wanted = format!("{challenge}, error=\"insufficient_scope\"");
        assert_eq!(header(&answer, "www-authenticate"), wanted);
    }
    let only_pair = claim(&site, "mcp:pair", BODY);
    assert_eq!(only_pair.status, 403, "every request needs mcp:read");
    let operator = format!("Bearer {}", crate::support::world::TOKEN);
    let operator = site.post(PATH, BODY, &[HOST, ("authorization", &operator)]);
    assert_eq!(operator.status, 401, "an operator is not the person");
    for headers in [
        [("host", "evil.example"), ("authorization", &*token(&site, "mcp:read mcp:pair"))],
        [HOST, ("origin", "https://evil.example")],
    ] {
        let answer = site.post(PATH, BODY, &headers);
        assert!([403, 421].contains(&answer.status.as_u16()), "{headers:?}");
    }
    assert_eq!(claimed_by((&site, pairing)), None);
}

#[test]
fn a_body_that_has_no_code_is_refused_and_repeated_nowhere() {
    let (site, pairing) = site();
    let long = format!(r#"{{"code":"{}"}}"#, "A".repeat(65));
    for body in [
        "",
        "{}",
        "[]",
        r#""7K2M-9QXV""#,
        r#"{"code":7}"#,
        r#"{"code":""}"#,
        r#"{"code":"7K2M-9QXV","code":"7K2M-9QXV"}"#,
        r#"{"code":"7K2M-9QXV","subject":"someone"}"#,
        r#"{"code":"7K2M-9QXV"} "#.repeat(2).as_str(),
        &long,
    ] {
        let answer = claim(&site, "mcp:read mcp:pair", body);
        let said = (answer.status.as_u16(), &json(&answer)["outcome"]);
        assert_eq!(said, (400, &json!("invalid_request")), "{body}");
        assert!(!super::text(&answer).contains("7K2M"), "{body}");
    }
    let huge = format!(r#"{{"code":"{}"}}"#, "A".repeat(1_024));
    assert_eq!(claim(&site, "mcp:read mcp:pair", &huge).status, 413);
    let token = token(&site, "mcp:read mcp:pair");
    let length = BODY.len().to_string();
    let headers = [
        HOST,
        ("authorization", &*token),
        ("content-length", &length),
        ("content-type", "text/plain"),
    ];
    let plain = site.world.send(Surface::Public, Method::POST, PATH, &headers, BODY.into());
    assert_eq!(plain.status, 415);
    assert_eq!(claimed_by((&site, pairing)), None);
}

#[test]
fn wrong_codes_have_one_answer_and_the_sixth_waits() {
    let (site, pairing) = site();
    let wrong = ["7K2M-9QXW", "0000-0000", "no code", "7K2M-9QXV-7K2M", r"\u0000"];
    let mut bodies = Vec::new();
    for code in wrong {
        let answer = claim(&site, "mcp:read mcp:pair", &format!(r#"{{"code":"{code}"}}"#));
        assert_eq!(answer.status, 404, "{code}");
        bodies.push(json(&answer));
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    // Now not even the right one is looked at.
    let answer = claim(&site, "mcp:read mcp:pair", BODY);
    let said = (answer.status.as_u16(), &json(&answer)["outcome"]);
    assert_eq!(said, (429, &json!("too_many_requests")));
    let wait: u64 = header(&answer, "retry-after").parse().unwrap();
    assert!((1..=601).contains(&wait), "{wait}");
    assert_eq!(claimed_by((&site, pairing)), None);
}

/// Codes can be guessed under many accounts, by either path; from one address all of that is counted together.
#[test]
fn wrong_codes_of_a_peer_are_counted_under_all_accounts_and_by_both_paths() {
    let (mut site, pairing) = site();
    let bearer = |site: &Site, number: u32| {
        let mut claims = site.keys.claims(site.now());
        claims["scope"] = Value::from("mcp:read mcp:pair");
        claims["sub"] = Value::from(format!("person-{number}"));
        format!("Bearer {}", site.keys.sign("ES256", &claims))
    };
    let tool = |site: &Site, number: u32, code: &str| {
        let token = bearer(site, number);
        let own = [HOST, ("authorization", &*token)];
        let begun = site.post("/mcp", crate::mcp_access::MESSAGE, &own);
        let session = header(&begun, "mcp-session-id").to_owned();
        let within = [&own[..], &[("mcp-session-id", &*session)]].concat();
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        site.post("/mcp", initialized, &within);
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "pair_design_session", "arguments": {"code": code}}});
        let answer = site.post("/mcp", &call.to_string(), &within);
        json(&answer)["result"]["structuredContent"].clone()
    };
    site.world.peer = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    for number in 0..4 {
        assert_eq!(tool(&site, number, "0000-0000")["code"], "not_found", "{number}");
    }
    let token = bearer(&site, 4);
    let headers = [HOST, ("authorization", &*token)];
    let wrong = site.post(PATH, r#"{"code":"0000-0000"}"#, &headers);
    assert_eq!(wrong.status, 404, "{}", super::text(&wrong));
    // From here on not even the right one is looked at.
    let refused = tool(&site, 5, CODE);
    assert_eq!(refused["code"], "too_many_codes", "{refused}");
    assert_eq!(claimed_by((&site, pairing)), None);
    site.world.peer = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)));
    assert_eq!(tool(&site, 6, CODE)["state"], "claimed");
}

#[test]
fn a_local_one_asks_for_no_token_and_without_the_relay_there_is_no_such_path() {
    let host = ("host", "localhost:7080");
    let (site, pairing) = with_code(Site::around(World::with_relay(), &[("SVC_MCP", "true")]));
    assert_eq!(site.post(PATH, BODY, &[host, ("x-forwarded-for", "192.0.2.1")]).status, 403);
    let answer = site.post(PATH, BODY, &[host]);
    assert_eq!(answer.status, 200, "{}", super::text(&answer));
    assert_eq!(claimed_by((&site, pairing)), Some(("local".to_owned(), "local".to_owned())));
    let off = Site::with(&[("SVC_MCP", "true")]);
    assert_eq!(off.post(PATH, BODY, &[host]).status, 404);
}
