//! A person's code, sent without an agent: the same gate as for `/mcp`, and a scope of its own.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc::api::relay::{DesignSession, Invocation, PairingClaim, RelayRefusal};
use svc::domain::id::{InvocationId, ProposalId, RelaySessionId};
use svc::domain::time::Timestamp;
use svc::http::message::{Response, Surface};
use svc::mcp::Caller;
use svc::mcp::relay::{Relay, Waiter};
use svc::relay::action::Checked;

use super::attacks::{CHALLENGE, INVALID_TOKEN, NO_TOKEN};
use super::{HOST, Site, header, refusal};
use crate::support::world::json;

const PATH: &str = "/relay/v1/pairings/claim";
const CODE: &str = "7K2M-9QXV";
const BODY: &str = r#"{"code":"7K2M-9QXV"}"#;
const PAIRING: &str = "0198c0de-0000-7000-8000-000000000001";

/// A relay that knows one code, and remembers who sent which.
#[derive(Default)]
struct OneCode {
    sent: Mutex<Vec<(String, String, String)>>,
    /// What is said instead of an answer.
    refused: Option<RelayRefusal>,
}

impl Relay for OneCode {
    fn claim_pairing(
        &self,
        caller: &Caller,
        _peer: Option<std::net::IpAddr>,
        code: &str,
    ) -> Result<PairingClaim, RelayRefusal> {
        let sent = (caller.subject.clone(), caller.client.clone(), code.to_owned());
        self.sent.lock().unwrap().push(sent);
        match &self.refused {
            Some(refused) => Err(refused.clone()),
            None if code != CODE => Err(refused("not_found", None)),
            None => Ok(PairingClaim {
                pairing: PAIRING.parse().unwrap(),
                tool: Cow::Borrowed("penpot"),
                file: Some("Login".to_owned()),
                expires_at: Timestamp::from_micros(1_795_253_400_000_000),
            }),
        }
    }

    fn sessions(&self, _: &Caller) -> Result<Vec<DesignSession>, RelayRefusal> {
        unreachable!("nobody asks for sessions here")
    }

    fn propose(
        &self,
        _: &Caller,
        _: Option<RelaySessionId>,
        _: Vec<Checked>,
    ) -> Result<ProposalId, RelayRefusal> {
        unreachable!("nobody proposes here")
    }

    fn steps(&self, _: &Caller, _: ProposalId) -> Result<Vec<Invocation>, RelayRefusal> {
        unreachable!("nobody proposes here")
    }

    fn invocation(&self, _: &Caller, _: InvocationId) -> Result<Invocation, RelayRefusal> {
        unreachable!("nobody proposes here")
    }

    fn cancel(&self, _: &Caller, _: InvocationId) -> Result<Invocation, RelayRefusal> {
        unreachable!("nobody proposes here")
    }

    fn wait(&self, _: ProposalId, _: Duration, _: Box<dyn Waiter>) {
        unreachable!("nobody proposes here")
    }
}

fn refused(code: &'static str, retry_after_seconds: Option<u64>) -> RelayRefusal {
    let message = format!("{code}, and what to do");
    RelayRefusal { code: Cow::Borrowed(code), message, sessions: Vec::new(), retry_after_seconds }
}

fn with(mut site: Site, relay: &Arc<OneCode>) -> Site {
    site.world = site.world.with_relay(Arc::<OneCode>::clone(relay));
    site
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
    let relay = Arc::<OneCode>::default();
    let site = with(Site::remote(&[]), &relay);
    let answer = claim(&site, "mcp:read mcp:pair", BODY);
    assert_eq!(answer.status, 200);
    let wanted = json!({
        "pairing": PAIRING,
        "tool": "penpot",
        "file": "Login",
        "expiresAt": "2026-11-21T09:30:00.000000Z",
    });
    assert_eq!(json(&answer), wanted);
    let (subject, client, code) = relay.sent.lock().unwrap().pop().unwrap();
    assert_eq!(code, CODE);
    let claims = site.keys.claims(site.now());
    assert_eq!(subject, format!("{} {}", super::ISSUER, claims["sub"].as_str().unwrap()));
    assert_eq!(client, claims["client_id"].as_str().unwrap());
}

#[test]
fn without_a_token_that_allows_it_no_code_is_looked_at() {
    let relay = Arc::<OneCode>::default();
    let site = with(Site::remote(&[]), &relay);
    let none = site.post(PATH, BODY, &[HOST]);
    assert_eq!((none.status.as_u16(), json(&none)), (401, refusal(NO_TOKEN)));
    assert_eq!(header(&none, "www-authenticate"), CHALLENGE);
    let forged = site.post(PATH, BODY, &[HOST, ("authorization", "Bearer x.y.z")]);
    assert_eq!((forged.status.as_u16(), json(&forged)), (401, refusal(INVALID_TOKEN)));
    for scopes in ["mcp:read", "mcp:read mcp:invoke", "mcp:read mcp:pairs"] {
        let answer = claim(&site, scopes, BODY);
        assert_eq!(answer.status, 403, "{scopes}");
        assert_eq!(json(&answer)["outcome"], "insufficient_scope");
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
    assert!(relay.sent.lock().unwrap().is_empty());
}

#[test]
fn a_body_that_is_no_code_is_refused_and_repeated_nowhere() {
    let relay = Arc::<OneCode>::default();
    let site = with(Site::remote(&[]), &relay);
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
        assert_eq!(
            (answer.status.as_u16(), &json(&answer)["outcome"]),
            (400, &json!("invalid_request")),
            "{body}"
        );
        assert!(!super::text(&answer).contains("7K2M"), "{body}");
    }
    let huge = format!(r#"{{"code":"{}"}}"#, "A".repeat(1_024));
    assert_eq!(claim(&site, "mcp:read mcp:pair", &huge).status, 413);
    let token = token(&site, "mcp:read mcp:pair");
    let length = BODY.len().to_string();
    let headers = [
        HOST,
        ("authorization", &token),
        ("content-length", &length),
        ("content-type", "text/plain"),
    ];
    let plain = site.world.send(Surface::Public, Method::POST, PATH, &headers, BODY.into());
    assert_eq!(plain.status, 415);
    assert!(relay.sent.lock().unwrap().is_empty());
}

#[test]
fn each_refusal_of_the_relay_has_its_status() {
    for (code, wait, status, outcome, retry) in [
        ("not_found", None, 404, "not_found", ""),
        ("too_many_codes", Some(600), 429, "rate_limited", "600"),
        ("unavailable", None, 503, "unavailable", "5"),
    ] {
        let relay =
            Arc::new(OneCode { refused: Some(refused(code, wait)), sent: Mutex::default() });
        let site = with(Site::remote(&[]), &relay);
        let answer = claim(&site, "mcp:read mcp:pair", BODY);
        let body = json(&answer);
        assert_eq!((answer.status.as_u16(), &body["outcome"]), (status, &json!(outcome)));
        assert_eq!(body["detail"], format!("{code}, and what to do"));
        assert_eq!(header(&answer, "retry-after"), retry, "{code}");
    }
}

#[test]
fn a_local_one_asks_for_no_token_and_without_the_relay_there_is_no_such_path() {
    let host = ("host", "localhost:7080");
    let relay = Arc::<OneCode>::default();
    let site = with(Site::with(&[("SVC_MCP", "true")]), &relay);
    let answer = site.post(PATH, BODY, &[host]);
    assert_eq!((answer.status.as_u16(), &json(&answer)["pairing"]), (200, &json!(PAIRING)));
    let sent = relay.sent.lock().unwrap().pop();
    assert_eq!(sent, Some((String::new(), String::new(), CODE.to_owned())));
    assert_eq!(site.post(PATH, BODY, &[host, ("x-forwarded-for", "192.0.2.1")]).status, 403);
    let off = Site::with(&[("SVC_MCP", "true")]);
    assert_eq!(off.post(PATH, BODY, &[host]).status, 404);
}
