//! Tokens that an issuer signs, and which fault each of them has.

use serde_json::{Value, json};

use super::*;
use crate::simulator::Issuer;

const NOW: i64 = 1_795_251_600;
const ISSUER: &str = "https://issuer.example/";
const RESOURCE: &str = "https://svc.example/mcp";

fn rules() -> AccessTokenRules {
    AccessTokenRules {
        issuer: ISSUER.to_owned(),
        audience: RESOURCE.to_owned(),
        algorithms: vec![Algorithm::Es256, Algorithm::Rs256],
        token_type: "at+jwt".to_owned(),
    }
}

fn header() -> Value {
    json!({"alg": "RS256", "kid": "one", "typ": "at+jwt"})
}

fn claims() -> Value {
    json!({
        "iss": ISSUER,
        "aud": RESOURCE,
        "exp": NOW + 300,
        "iat": NOW,
        "sub": "someone",
        "client_id": "a-client",
        "scope": "mcp:read",
    })
}

/// Returns an object with one member replaced, or left out.
fn with(mut object: Value, name: &str, value: Option<Value>) -> Value {
    let members = object.as_object_mut().unwrap();
    match value {
        Some(value) => drop(members.insert(name.to_owned(), value)),
        None => drop(members.remove(name)),
    }
    object
}

/// Returns what a token proves to a service that knows the issuer's key as `one`.
fn check_token(token: &str) -> Result<Verified, Fault> {
    let document = Issuer::key_document(&["one"]).to_string();
    let keys = KeySet::read(document.as_bytes(), &rules().algorithms).unwrap();
    let now = Timestamp::from_micros(NOW * 1_000_000);
    Token::read(token, &rules(), now)?.verify(&keys)
}

fn check_signed_token(header: &Value, claims: &Value) -> Result<Verified, Fault> {
    check_token(&Issuer::sign(header, claims))
}

fn of_claim(name: &str, value: Option<Value>) -> Result<Verified, Fault> {
    check_signed_token(&header(), &with(claims(), name, value))
}

fn seconds(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

#[test]
fn a_good_token_says_whom_it_speaks_for() {
    let wanted = Verified {
        caller: Caller {
            subject: "https://issuer.example/ someone".to_owned(),
            client: "a-client".to_owned(),
            scopes: vec![Scope::Read],
        },
        expires_at: seconds(NOW + 360),
    };
    assert_eq!(check_signed_token(&header(), &claims()), Ok(wanted.clone()));
    for typ in ["AT+JWT", "application/at+jwt", "Application/AT+jwt"] {
        let header = with(header(), "typ", Some(typ.into()));
        assert_eq!(check_signed_token(&header, &claims()), Ok(wanted.clone()), "{typ}");
    }
    for audience in [json!([RESOURCE]), json!(["https://other.example", RESOURCE])] {
        assert_eq!(of_claim("aud", Some(audience)), Ok(wanted.clone()));
    }
    for name in ["iat", "nbf"] {
        assert_eq!(of_claim(name, None), Ok(wanted.clone()), "{name} may be left out");
    }
    let older = with(with(claims(), "client_id", None), "azp", Some("a-client".into()));
    assert_eq!(check_signed_token(&header(), &older), Ok(wanted));
}

#[test]
fn scopes_are_read_from_either_claim_and_those_of_others_are_left_out() {
    let all = vec![Scope::Read, Scope::Invoke, Scope::Pair];
    for (scope, scp, wanted) in [
        (Some(json!("mcp:pair mcp:invoke other mcp:read")), None, &all),
        (Some(json!("mcp:read")), Some(json!(["mcp:invoke"])), &vec![Scope::Read]),
        (None, Some(json!(["mcp:read", "mcp:invoke", "mcp:pair"])), &all),
        (None, Some(json!("mcp:read mcp:invoke")), &vec![Scope::Read, Scope::Invoke]),
        (Some(json!("")), None, &Vec::new()),
        (Some(json!("mcp:read:all MCP:READ mcp:rea d")), None, &Vec::new()),
        (None, None, &Vec::new()),
    ] {
        let claims = with(with(claims(), "scope", scope.clone()), "scp", scp.clone());
        let found = check_signed_token(&header(), &claims).unwrap().caller.scopes;
        assert_eq!(found, *wanted, "{scope:?} {scp:?}");
    }
    for bad in [json!(null), json!(1), json!({"mcp:read": true}), json!([1]), json!([["mcp:read"]])]
    {
        assert_eq!(of_claim("scope", Some(bad.clone())), Err(Fault::Claims), "{bad}");
    }
}

#[test]
fn clocks_may_differ_by_a_minute_and_no_more() {
    let good = |name, at: i64| of_claim(name, Some(at.into())).is_ok();
    assert!(good("exp", NOW - 59) && good("iat", NOW + 60) && good("nbf", NOW + 60));
    for (name, at, fault) in [
        ("exp", NOW - 60, Fault::Expired),
        ("exp", 0, Fault::Expired),
        ("exp", i64::MIN, Fault::Expired),
        ("iat", NOW + 61, Fault::NotYetValid),
        ("iat", i64::MAX, Fault::NotYetValid),
        ("nbf", NOW + 61, Fault::NotYetValid),
    ] {
        assert_eq!(of_claim(name, Some(at.into())), Err(fault), "{name} {at}");
    }
    for name in ["exp", "iat", "nbf"] {
        for bad in [json!(null), json!("0"), json!(1.5), json!(u64::MAX), json!([NOW])] {
            assert_eq!(of_claim(name, Some(bad.clone())), Err(Fault::Malformed), "{name} {bad}");
        }
    }
    assert_eq!(of_claim("exp", None), Err(Fault::Malformed));
}

#[test]
fn issuer_audience_subject_and_client_are_required() {
    for (name, value, fault) in [
        ("iss", None, Fault::Issuer),
        ("iss", Some(json!("https://issuer.example")), Fault::Issuer),
        ("iss", Some(json!([ISSUER])), Fault::Issuer),
        ("aud", None, Fault::Audience),
        ("aud", Some(json!([])), Fault::Audience),
        ("aud", Some(json!("https://svc.example/mcp/")), Fault::Audience),
        ("aud", Some(json!("https://svc.example")), Fault::Audience),
        ("aud", Some(json!([RESOURCE, 1])), Fault::Audience),
        ("aud", Some(json!({"0": RESOURCE})), Fault::Audience),
        ("sub", None, Fault::Claims),
        ("sub", Some(json!("")), Fault::Claims),
        ("sub", Some(json!(1)), Fault::Claims),
        ("sub", Some(json!("s".repeat(513))), Fault::Claims),
        ("client_id", None, Fault::Claims),
        ("client_id", Some(json!(null)), Fault::Claims),
        ("client_id", Some(json!("c".repeat(513))), Fault::Claims),
    ] {
        assert_eq!(of_claim(name, value.clone()), Err(fault), "{name} {value:?}");
    }
    let both = with(with(claims(), "client_id", Some(json!(""))), "azp", Some("a-client".into()));
    assert_eq!(check_signed_token(&header(), &both), Err(Fault::Claims), "azp replaces nothing");
}

#[test]
fn a_header_chooses_nothing() {
    for (name, value, fault) in [
        ("alg", Some(json!("none")), Fault::Algorithm),
        ("alg", Some(json!("HS256")), Fault::Algorithm),
        ("alg", Some(json!("PS256")), Fault::Algorithm),
        ("alg", Some(json!("EdDSA")), Fault::Algorithm),
        ("alg", Some(json!(["RS256"])), Fault::Algorithm),
        ("alg", None, Fault::Algorithm),
        // It is configured, and the key is of another.
        ("alg", Some(json!("ES256")), Fault::Algorithm),
        ("typ", None, Fault::Type),
        ("typ", Some(json!("JWT")), Fault::Type),
        ("typ", Some(json!("at+jwt ")), Fault::Type),
        ("typ", Some(json!("application/application/at+jwt")), Fault::Type),
        ("typ", Some(json!(["at+jwt"])), Fault::Type),
        ("kid", None, Fault::Malformed),
        ("kid", Some(json!("")), Fault::Malformed),
        ("kid", Some(json!("o ne")), Fault::Malformed),
        ("kid", Some(json!(1)), Fault::Malformed),
        ("kid", Some(json!("two")), Fault::Key),
        ("crit", Some(json!(["exp"])), Fault::Header),
        ("b64", Some(json!(true)), Fault::Header),
        ("jku", Some(json!("https://evil.example/keys")), Fault::Header),
        ("jwk", Some(Issuer::key_document(&["one"])["keys"][0].clone()), Fault::Header),
        ("x5u", Some(json!("https://evil.example")), Fault::Header),
        ("x5c", Some(json!(["MII"])), Fault::Header),
        ("zip", Some(json!("DEF")), Fault::Header),
        ("enc", Some(json!("A256GCM")), Fault::Header),
    ] {
        let bent = with(header(), name, value.clone());
        assert_eq!(check_signed_token(&bent, &claims()), Err(fault), "{name} {value:?}");
    }
}

#[test]
fn a_token_has_one_spelling_and_a_bound() {
    let good = Issuer::sign(&header(), &claims());
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header_part, claims_part) = signed.split_once('.').unwrap();
    let twice = |claims: &str| {
        let pem = crate::simulator::Simulator::start().unwrap().private_key_pem();
        Issuer::sign_with(pem, &header().to_string(), claims)
    };
    let claims_text = claims().to_string();
    for bad in [
        String::new(),
        "a.b".to_owned(),
        format!("{good}.x"),
        format!("{good}="),
        format!(" {good}"),
        format!("{signed}."),
        format!("{header_part}..{signature}"),
        format!(".{claims_part}.{signature}"),
        twice("[]"),
        twice(&claims_text.replacen('{', "{\"sub\":\"another\",", 1)),
        twice(&format!("{claims_text}{claims_text}")),
        twice(&claims_text.replacen(
            '{',
            &format!("{{\"x\":{}1{},", "[".repeat(9), "]".repeat(9)),
            1,
        )),
    ] {
        assert_eq!(check_token(&bad), Err(Fault::Malformed), "{bad}");
    }
    assert_eq!(check_token(&format!("{signed}.AAAA")), Err(Fault::Signature));
    let other = Issuer::sign(&header(), &with(claims(), "sub", Some("another".into())));
    let (other_signed, _) = other.rsplit_once('.').unwrap();
    assert_eq!(check_token(&format!("{other_signed}.{signature}")), Err(Fault::Signature));
    let padded = |count: usize| {
        Issuer::sign(&header(), &with(claims(), "padding", Some("x".repeat(count).into())))
    };
    let room = (TOKEN_BYTES_MAX - padded(1).len()) / 4 * 3;
    assert!(check_token(&padded(room)).is_ok());
    assert_eq!(check_token(&padded(room + 8)), Err(Fault::Malformed));
}
