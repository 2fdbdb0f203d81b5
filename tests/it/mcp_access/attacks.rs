//! Forged tokens, as plain data, so that the same are sent through the routes and over sockets.

use ring::hmac;
use serde_json::{Value, json};

use crate::support::keys::{KINDS, Key, encoded};

pub(crate) const ISSUER: &str = "https://issuer.example";
pub(crate) const RESOURCE: &str = "https://svc.example/mcp";
/// What every 401 says first.
pub(crate) const CHALLENGE: &str = "Bearer resource_metadata=\"https://svc.example/.well-known/\
                                    oauth-protected-resource/mcp\", scope=\"mcp:read\"";
const NO_TOKEN: &str = "send one bearer token in the Authorization header";
const INVALID_REQUEST: &str =
    "send the Authorization header once, as the word Bearer, a space and one token";
const INVALID_TOKEN: &str = "the token is not valid here; get another one";
/// Largest token that is read, in bytes.
const TOKEN_BYTES_MAX: usize = 8 << 10;

/// A request that must not get in.
pub(crate) struct Attack {
    pub(crate) name: String,
    pub(crate) query: Option<String>,
    /// Each `Authorization` header.
    pub(crate) authorization: Vec<String>,
    /// What the gate counts it as.
    pub(crate) gate: &'static str,
    /// Why its token is refused; `None` if there is none to look at.
    pub(crate) fault: Option<&'static str>,
}

impl Attack {
    /// Returns the status, the challenge and the sentence of the answer.
    pub(crate) fn answer(&self) -> (u16, String, &'static str) {
        let (status, message) = match self.gate {
            "no_token" => return (401, CHALLENGE.to_owned(), NO_TOKEN),
            "invalid_request" => (400, INVALID_REQUEST),
            _ => (401, INVALID_TOKEN),
        };
        (status, format!("{CHALLENGE}, error=\"{}\"", self.gate), message)
    }
}

/// The issuer's keys, one of each kind, which is also the id, and others that are not published.
pub(crate) struct Keys {
    keys: Vec<(&'static str, Key)>,
    others: Vec<(&'static str, Key)>,
}

/// A token without its signature.
fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()))
}

pub(crate) fn header(kind: &str) -> Value {
    json!({"alg": kind, "kid": kind, "typ": "at+jwt"})
}

/// Returns an object with one member replaced, or left out when it is null.
pub(crate) fn with(mut object: Value, name: &str, value: Value) -> Value {
    let members = object.as_object_mut().unwrap();
    if value.is_null() {
        drop(members.remove(name));
    } else {
        drop(members.insert(name.to_owned(), value));
    }
    object
}

impl Keys {
    pub(crate) fn new() -> Self {
        let make = || KINDS.map(|kind| (kind, Key::new(kind))).into();
        let mut others: Vec<(&'static str, Key)> = make();
        // There is one RSA key, which is the issuer's.
        others.retain(|(kind, _)| *kind != "RS256");
        Self { keys: make(), others }
    }

    pub(crate) fn jwk(&self, kind: &str, id: &str) -> Value {
        self.key(kind).signer(id).jwk()
    }

    /// The document that the issuer publishes.
    pub(crate) fn document(&self) -> Value {
        json!({"keys": KINDS.map(|kind| self.jwk(kind, kind))})
    }

    fn key(&self, kind: &str) -> &Key {
        &self.keys.iter().find(|(known, _)| *known == kind).unwrap().1
    }

    /// The claims of a good token. `now` is in seconds.
    pub(crate) fn claims(&self, now: i64) -> Value {
        json!({
            "iss": ISSUER,
            "aud": RESOURCE,
            "exp": now + 600,
            "iat": now,
            "jti": "a-token",
            "sub": "someone",
            "client_id": "a-client",
            "scope": "openid mcp:read",
        })
    }

    /// Signs claims with a header that is right.
    pub(crate) fn sign(&self, kind: &str, claims: &Value) -> String {
        self.sign_as(kind, &header(kind), claims)
    }

    /// Signs a header and claims with the key of a kind.
    pub(crate) fn sign_as(&self, kind: &str, header: &Value, claims: &Value) -> String {
        let message = unsigned(header, claims);
        let signature = encoded(self.key(kind).sign(&message));
        format!("{message}.{signature}")
    }

    /// Every attack. `now` is in seconds.
    pub(crate) fn attacks(&self, now: i64) -> Vec<Attack> {
        let mut attacks = self.without_a_token(now);
        let forged = [
            self.of_signatures(now),
            self.of_algorithms(now),
            self.of_headers(now),
            self.of_claims(now),
        ];
        attacks.extend(forged.into_iter().flatten().map(|(name, token, fault)| Attack {
            name,
            query: None,
            authorization: vec![format!("Bearer {token}")],
            gate: "invalid_token",
            fault: Some(fault),
        }));
        attacks
    }

    fn without_a_token(&self, now: i64) -> Vec<Attack> {
        let good = self.sign("ES256", &self.claims(now));
        let bearer = format!("Bearer {good}");
        let long = with(self.claims(now), "padding", "x".repeat(TOKEN_BYTES_MAX).into());
        let long = self.sign("ES256", &long);
        assert!((TOKEN_BYTES_MAX..2 * TOKEN_BYTES_MAX).contains(&long.len()));
        [
            ("no token", "no_token", None, vec![]),
            ("without a scheme", "no_token", None, vec![good.clone()]),
            ("another scheme", "no_token", None, vec![format!("Basic {good}")]),
            ("another scheme that binds a key", "no_token", None, vec![format!("DPoP {good}")]),
            ("a tab for a space", "no_token", None, vec![format!("Bearer\t{good}")]),
            ("in the query", "no_token", Some(format!("access_token={good}")), vec![]),
            (
                "in the query, of another name",
                "no_token",
                Some(format!("token={good}&bearer={good}")),
                vec![],
            ),
            ("two tokens", "invalid_request", None, vec![bearer.clone(), bearer.clone()]),
            (
                "two tokens, one of them none",
                "invalid_request",
                None,
                vec!["Bearer x".to_owned(), bearer.clone()],
            ),
            ("two schemes", "invalid_request", None, vec!["Basic eDp5".to_owned(), bearer.clone()]),
            (
                "two tokens in one header",
                "invalid_request",
                None,
                vec![format!("{bearer}, {bearer}")],
            ),
            ("empty", "invalid_request", None, vec!["Bearer ".to_owned()]),
            ("a scheme alone", "invalid_request", None, vec!["bearer".to_owned()]),
            ("two spaces", "invalid_request", None, vec![format!("Bearer  {good}")]),
            ("of other letters", "invalid_request", None, vec!["Bearer \"token\"".to_owned()]),
            ("above 8 KiB", "invalid_token", None, vec![format!("Bearer {long}")]),
        ]
        .into_iter()
        .map(|(name, gate, query, authorization)| Attack {
            name: name.to_owned(),
            query,
            authorization,
            gate,
            fault: None,
        })
        .collect()
    }

    fn of_signatures(&self, now: i64) -> Vec<(String, String, &'static str)> {
        let claims = self.claims(now);
        let mut attacks = Vec::new();
        for kind in KINDS {
            let good = self.sign(kind, &claims);
            let (message, signature) = good.rsplit_once('.').unwrap();
            let other = self.sign(kind, &with(claims.clone(), "sub", "another".into()));
            let (_, of_other) = other.rsplit_once('.').unwrap();
            let zeros = encoded(vec![0; self.key(kind).sign("").len()]);
            for (name, token, fault) in [
                ("of other claims", format!("{message}.{of_other}"), "signature"),
                ("of zeros", format!("{message}.{zeros}"), "signature"),
                ("too short", format!("{message}.{}", encoded("short")), "signature"),
                ("empty", format!("{message}."), "malformed"),
                ("missing", message.to_owned(), "malformed"),
                ("twice", format!("{message}.{signature}.{signature}"), "malformed"),
                ("padded", format!("{good}="), "malformed"),
            ] {
                attacks.push((format!("{kind}: signature {name}"), token, fault));
            }
        }
        for (kind, key) in &self.others {
            let message = unsigned(&header(kind), &claims);
            let token = format!("{message}.{}", encoded(key.sign(&message)));
            attacks.push((format!("{kind}: key of another issuer"), token, "signature"));
        }
        attacks
    }

    fn of_algorithms(&self, now: i64) -> Vec<(String, String, &'static str)> {
        let claims = self.claims(now);
        let mut attacks = Vec::new();
        for kind in KINDS {
            let jwk = self.jwk(kind, kind);
            let point = jwk["x"].as_str().or(jwk["n"].as_str()).unwrap().to_owned();
            for secret in [jwk.to_string(), point, self.document().to_string(), String::new()] {
                // The public key as a secret: said openly, and under the key's own algorithm.
                for (said, fault) in [("HS256", "algorithm"), (kind, "signature")] {
                    let message = unsigned(&with(header(kind), "alg", said.into()), &claims);
                    let secret = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
                    let mac = encoded(hmac::sign(&secret, message.as_bytes()));
                    let name = format!("{kind}: public key as a secret, as {said}");
                    attacks.push((name, format!("{message}.{mac}"), fault));
                }
            }
            for said in ["none", "None", "nOnE", "", "HS256", "RS384", "PS256", "ES384", "ES256K"] {
                let header = with(header(kind), "alg", said.into());
                let name = format!("{kind}: algorithm {said:?}");
                attacks.push((name, self.sign_as(kind, &header, &claims), "algorithm"));
                let message = unsigned(&header, &claims);
                let name = format!("{kind}: algorithm {said:?} without a signature");
                attacks.push((name, format!("{message}."), "malformed"));
            }
            for other in KINDS.into_iter().filter(|other| *other != kind) {
                let header = with(header(kind), "alg", other.into());
                let name = format!("{kind}: said to be {other}");
                attacks.push((name, self.sign_as(kind, &header, &claims), "algorithm"));
                let name = format!("{kind}: under the key of {other}");
                let header = with(self::header(kind), "kid", other.into());
                attacks.push((name, self.sign_as(kind, &header, &claims), "algorithm"));
            }
        }
        attacks
    }

    fn of_headers(&self, now: i64) -> Vec<(String, String, &'static str)> {
        let claims = self.claims(now);
        let of = |name: &str, value: Value, fault| {
            let header = with(header("ES256"), name, value.clone());
            (format!("header {name} {value:.40}"), self.sign_as("ES256", &header, &claims), fault)
        };
        let own = self.others[0].1.signer("ES256").jwk();
        vec![
            of("kid", Value::Null, "malformed"),
            of("kid", json!(1), "malformed"),
            of("kid", json!("k".repeat(129)), "malformed"),
            of("kid", json!("unknown"), "key"),
            of("kid", json!("../ES256"), "key"),
            of("typ", Value::Null, "type"),
            of("typ", json!("JWT"), "type"),
            of("typ", json!("id+jwt"), "type"),
            of("typ", json!("logout+jwt"), "type"),
            of("crit", json!(["exp"]), "header"),
            of("b64", json!(false), "header"),
            of("jwk", own, "header"),
            of("jku", json!("https://evil.example/keys"), "header"),
            of("x5u", json!("https://evil.example/keys"), "header"),
            of("x5c", json!(["MII"]), "header"),
            of("zip", json!("DEF"), "header"),
            of("enc", json!("A256GCM"), "header"),
        ]
    }

    fn of_claims(&self, now: i64) -> Vec<(String, String, &'static str)> {
        let of = |name: &str, value: Value, fault| {
            let claims = with(self.claims(now), name, value.clone());
            (format!("claim {name} {value:.40}"), self.sign("ES256", &claims), fault)
        };
        vec![
            of("iss", Value::Null, "issuer"),
            of("iss", json!("https://issuer.example/"), "issuer"),
            of("iss", json!("https://evil.example"), "issuer"),
            of("aud", Value::Null, "audience"),
            of("aud", json!("https://other.example/mcp"), "audience"),
            of("aud", json!("https://svc.example"), "audience"),
            of("aud", json!("a-client"), "audience"),
            of("aud", json!([]), "audience"),
            of("aud", json!(["https://other.example/mcp", "https://svc.example/mcp/"]), "audience"),
            of("exp", Value::Null, "malformed"),
            of("exp", json!(now - 60), "expired"),
            of("exp", json!(0), "expired"),
            of("exp", json!((now + 600).to_string()), "malformed"),
            of("exp", json!(1e300), "malformed"),
            of("nbf", json!(now + 120), "not_yet_valid"),
            of("iat", json!(now + 120), "not_yet_valid"),
            of("sub", Value::Null, "claims"),
            of("sub", json!(""), "claims"),
            of("client_id", Value::Null, "claims"),
            of("client_id", json!({}), "claims"),
            of("scope", json!(7), "claims"),
        ]
    }
}
