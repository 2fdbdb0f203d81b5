//! Which tokens get in, and that no forged one does.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde_json::{Value, json};

use super::attacks::{CHALLENGE, with};
use super::{HOST, JWKS_URL, MESSAGE, Site, header, refusal, text};
use crate::support::keys::KINDS;
use crate::support::log::lines_of;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn body(answer: &svc::http::message::Response) -> Value {
    crate::support::world::json(answer)
}

#[test]
fn a_good_token_of_each_algorithm_gets_in() {
    let site = Site::remote(&[]);
    let mut sessions = Vec::new();
    for kind in KINDS {
        let bearer = format!("Bearer {}", site.keys.sign(kind, &site.keys.claims(site.now())));
        for _ in 0..2 {
            let answer = site.call(&[("authorization", &bearer)]);
            assert_eq!(answer.status, 200, "{kind}: {}", text(&answer));
            sessions.push(header(&answer, "mcp-session-id").to_owned());
        }
        // It is one caller whatever it signs with: it comes by its sessions with any of them.
        for session in &sessions {
            let headers = [HOST, ("authorization", &bearer), ("mcp-session-id", session)];
            assert_eq!(site.post("/mcp", PING, &headers).status, 200, "{kind}");
        }
    }
    assert_eq!(site.fetched(), 1, "one request brings all keys, and tokens are remembered");
    let several =
        with(site.keys.claims(site.now()), "aud", json!(["x", "https://svc.example/mcp"]));
    assert_eq!(site.call_with(&site.keys.sign("EdDSA", &several)).status, 200);
}

#[test]
fn no_forged_token_gets_in() {
    let mut site = Site::remote(&[]);
    let attacks = site.keys.attacks(site.now());
    assert!(attacks.len() > 150, "{}", attacks.len());
    let mut secrets = Vec::new();
    let lines = lines_of(|| {
        for (number, attack) in (0_u32..).zip(&attacks) {
            // A peer may ask for one unknown key a minute, and all together for three at once.
            site.world.peer = Some(IpAddr::V4(Ipv4Addr::from_bits(0xc000_0200 + number)));
            let target =
                attack.query.as_ref().map_or("/mcp".to_owned(), |query| format!("/mcp?{query}"));
            let mut headers = vec![HOST];
            headers.extend(attack.authorization.iter().map(|it| ("authorization", it.as_str())));
            let before = attack.fault.map(|fault| site.faults(fault));
            let answer = site.post(&target, MESSAGE, &headers);
            let (status, challenge, message) = attack.answer();
            assert_eq!(answer.status, status, "{}: {}", attack.name, text(&answer));
            assert_eq!(header(&answer, "www-authenticate"), challenge, "{}", attack.name);
            assert_eq!(body(&answer), refusal(message), "{}", attack.name);
            assert_eq!(header(&answer, "content-type"), "application/json");
            assert_eq!(header(&answer, "retry-after"), "", "{}", attack.name);
            assert_eq!(header(&answer, "mcp-session-id"), "", "{}", attack.name);
            let after = attack.fault.map(|fault| site.faults(fault));
            assert_eq!(after, before.map(|count| count + 1), "{}: {:?}", attack.name, attack.fault);
            secrets.extend(attack.authorization.iter().cloned());
        }
    });
    let mut counted = 0;
    for gate in ["no_token", "invalid_request", "invalid_token"] {
        let of_gate = attacks.iter().filter(|attack| attack.gate == gate).count();
        assert_eq!(site.refusals(gate), u64::try_from(of_gate).unwrap(), "{gate}");
        counted += of_gate;
    }
    assert_eq!(counted, attacks.len());
    let about = lines.iter().filter(|line| line.event() == "access_token.refused");
    assert_eq!(about.count(), 1, "the clock stands still, so one line stands for all");
    let logged = format!("{lines:?}");
    for secret in secrets {
        for part in secret.split([' ', '.']).filter(|part| part.len() > 20) {
            assert!(!logged.contains(part), "{part} is in the log");
        }
    }
    assert!(!logged.contains("someone") && !logged.contains("a-client"), "{logged}");
    assert_eq!(site.call_with(&site.good_token()).status, 200, "a good one still gets in");
}

#[test]
fn an_algorithm_that_is_not_configured_is_refused_though_the_issuer_has_its_key() {
    let site = Site::remote(&[("SVC_MCP_ALGORITHMS", "ES256")]);
    for kind in KINDS {
        let token = site.keys.sign(kind, &site.keys.claims(site.now()));
        let wanted = if kind == "ES256" { 200 } else { 401 };
        assert_eq!(site.call_with(&token).status, wanted, "{kind}");
    }
    assert_eq!(site.faults("algorithm"), 2);
}

#[test]
fn a_token_without_the_scope_is_told_which_one_it_needs() {
    let site = Site::remote(&[]);
    for scope in [json!(null), json!(""), json!("openid"), json!("mcp:invoke"), json!("mcp:reader")]
    {
        let claims = with(site.keys.claims(site.now()), "scope", scope.clone());
        let token = site.keys.sign("RS256", &claims);
        // The second time it is known.
        for _ in 0..2 {
            let answer = site.call_with(&token);
            assert_eq!(answer.status, 403, "{scope}");
            let wanted = format!("{CHALLENGE}, error=\"insufficient_scope\"");
            assert_eq!(header(&answer, "www-authenticate"), wanted);
            let message = "the token lacks a scope that is needed; see WWW-Authenticate";
            assert_eq!(body(&answer), refusal(message));
        }
    }
    assert_eq!((site.refusals("scope"), site.faults("claims")), (10, 0));
}

#[test]
fn keys_that_cannot_be_had_are_no_refusal_of_a_token() {
    let site = Site::remote(&[]);
    let twice = {
        let (one, other) = (site.keys.jwk("ES256", "ES256"), site.keys.jwk("EdDSA", "ES256"));
        json!({"keys": [one, other]})
    };
    let weak = json!({"keys": [{"kty": "oct", "kid": "ES256", "k": "c2VjcmV0"}]});
    for unusable in [None, Some(twice), Some(weak), Some(json!({})), Some(json!("keys"))] {
        site.publish(unusable.clone());
        let answer = site.call_with(&site.good_token());
        assert_eq!(answer.status, 503, "{unusable:?}");
        assert_eq!(header(&answer, "retry-after"), "5");
        assert_eq!(header(&answer, "www-authenticate"), "", "another token would not help");
        let message = "the keys for checking tokens are not available; retry after the number of \
                       seconds in Retry-After";
        assert_eq!(body(&answer), refusal(message));
        // What is wrong by itself is refused without keys.
        let expired = with(site.keys.claims(site.now()), "exp", json!(site.now() - 60));
        assert_eq!(site.call_with(&site.keys.sign("ES256", &expired)).status, 401);
        assert_eq!(site.call(&[]).status, 401);
        site.world.clock.advance(Duration::from_secs(5));
    }
    assert_eq!(site.refusals("keys_unavailable"), 5);
    site.publish(Some(site.keys.document()));
    assert_eq!(site.call_with(&site.good_token()).status, 200);
    // Keys that are there outlive an outage.
    site.publish(None);
    site.world.clock.advance(Duration::from_hours(1));
    assert_eq!(site.call_with(&site.good_token()).status, 200);
}

#[test]
fn an_unknown_key_is_401_when_it_was_asked_for_and_503_when_it_may_not_be() {
    let mut site = Site::remote(&[]);
    site.world.peer = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    let unknown = |site: &Site| {
        let named = with(super::attacks::header("ES256"), "kid", "new".into());
        site.keys.sign_as("ES256", &named, &site.keys.claims(site.now()))
    };
    assert_eq!(site.call_with(&site.good_token()).status, 200);
    assert_eq!(site.call_with(&unknown(&site)).status, 401);
    let answer = site.call_with(&unknown(&site));
    assert_eq!((answer.status.as_u16(), header(&answer, "retry-after")), (503, "60"));
    assert_eq!(site.fetched(), 2);
    // The issuer rotates: a caller that may ask brings the key in for all.
    site.publish(Some(json!({"keys": [site.keys.jwk("ES256", "new")]})));
    site.world.peer = Some(IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)));
    assert_eq!(site.call_with(&unknown(&site)).status, 200);
    site.world.peer = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    assert_eq!(site.call_with(&unknown(&site)).status, 200);
}

#[test]
fn a_remembered_token_is_refused_as_soon_as_its_key_is_gone() {
    let site = Site::remote(&[]);
    let old = site.good_token();
    assert_eq!(site.call_with(&old).status, 200);
    site.world.clock.advance(Duration::from_secs(570));
    let kept = site.good_token();
    assert_eq!(site.call_with(&kept).status, 200);
    site.publish(Some(json!({"keys": [site.keys.jwk("EdDSA", "EdDSA")]})));
    site.world.clock.advance(Duration::from_secs(29));
    assert_eq!(site.call_with(&kept).status, 200, "{JWKS_URL} was not asked again");
    site.world.clock.advance(Duration::from_secs(1));
    let other = site.keys.sign("EdDSA", &site.keys.claims(site.now()));
    assert_eq!(
        site.call_with(&other).status,
        200,
        "the keys are ten minutes old, and fetched again"
    );
    assert_eq!(site.call_with(&kept).status, 401);
}

#[test]
fn a_token_expires_while_it_is_remembered() {
    let site = Site::remote(&[]);
    let claims = with(site.keys.claims(site.now()), "exp", json!(site.now() + 10 - 60));
    let token = site.keys.sign("ES256", &claims);
    assert_eq!(site.call_with(&token).status, 200);
    site.world.clock.advance(Duration::from_secs(9));
    assert_eq!(site.call_with(&token).status, 200);
    site.world.clock.advance(Duration::from_secs(1));
    assert_eq!(site.call_with(&token).status, 401);
}
