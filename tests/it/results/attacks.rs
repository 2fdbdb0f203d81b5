//! Attacks on the credential of a result. Each gets the very same 401, and changes nothing.

use ring::hmac;
use serde_json::{Value, json};
use svc::simulator::Issuer;

use super::{Attempt, RECORDED, as_str, body, encode, everything, hex, post, seconds, started};
use crate::support::World;
use crate::support::world::{bytes, commit};

const OTHER_KEY: &str = include_str!("../../data/throwaway-key-other.pem");

/// What an attack has at hand.
struct Bench<'a> {
    world: &'a World,
    attempt: &'a Attempt,
    body: &'a str,
}

impl Bench<'_> {
    fn claims(&self) -> Value {
        self.attempt.claims(self.world, self.body, "attack")
    }

    /// A good token but for one claim.
    fn claim(&self, name: &str, value: Value) -> String {
        let mut claims = self.claims();
        claims[name] = value;
        Issuer::sign(&Issuer::header(), &claims)
    }

    fn without(&self, name: &str) -> String {
        let mut claims = self.claims();
        claims.as_object_mut().unwrap().remove(name);
        Issuer::sign(&Issuer::header(), &claims)
    }

    /// A good token but for one member of the header.
    fn header(&self, name: &str, value: Value) -> String {
        let mut header = Issuer::header();
        header[name] = value;
        Issuer::sign(&header, &self.claims())
    }

    /// Claims and header as text, signed with the right key.
    fn text(&self, header: &str, claims: &str) -> String {
        let key = svc::simulator::Simulator::start().unwrap().private_key_pem();
        Issuer::sign_with(key, header, claims)
    }

    fn good(&self) -> String {
        Issuer::sign(&Issuer::header(), &self.claims())
    }
}

fn keys(bench: &Bench<'_>) -> Vec<(String, String)> {
    let (header, claims) = (Issuer::header(), bench.claims());
    let parts =
        |header: &Value| format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let mut hs256 = header.clone();
    hs256["alg"] = "HS256".into();
    let document = Issuer::key_document(&["simulated-key"]);
    let modulus = document["keys"][0]["n"].as_str().unwrap();
    let mut attacks = vec![(
        "wrong key".to_owned(),
        Issuer::sign_with(OTHER_KEY, &header.to_string(), &claims.to_string()),
    )];
    for secret in [modulus.as_bytes(), document.to_string().as_bytes(), b"".as_slice()] {
        let signed = parts(&hs256);
        let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
        attacks.push((
            "public key as secret".to_owned(),
            format!("{signed}.{}", encode(mac.as_ref())),
        ));
        // The header promises what the signature is not.
        let signed = parts(&header);
        let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
        attacks
            .push(("secret under RS256".to_owned(), format!("{signed}.{}", encode(mac.as_ref()))));
    }
    let unsigned = ["none", "None", "NONE", "nOnE", ""].map(|algorithm| {
        let mut header = header.clone();
        header["alg"] = algorithm.into();
        (format!("alg {algorithm:?}"), format!("{}.", parts(&header)))
    });
    attacks.extend(unsigned);
    for algorithm in ["HS256", "RS384", "RS512", "PS256", "ES256", "EdDSA", "rs256", "RS256 "] {
        attacks.push((format!("alg {algorithm}"), bench.header("alg", algorithm.into())));
    }
    attacks.push(("alg in a list".to_owned(), bench.header("alg", json!(["RS256"]))));
    attacks
}

fn headers(bench: &Bench<'_>) -> Vec<(String, String)> {
    let mut attacks = Vec::new();
    for id in [json!(""), json!(null), json!(1), json!(["simulated-key"]), json!("k".repeat(129))] {
        attacks.push((format!("kid {id:.40}"), bench.header("kid", id)));
    }
    let key = Issuer::key_document(&["simulated-key"])["keys"][0].clone();
    for (name, value) in [
        ("crit", json!(["exp"])),
        ("crit", json!([])),
        ("b64", json!(false)),
        ("b64", json!(true)),
        ("jku", json!("https://evil.example/keys")),
        ("jwk", key),
        ("x5u", json!("https://evil.example")),
        ("x5c", json!(["MII"])),
        ("zip", json!("DEF")),
        ("enc", json!("A256GCM")),
        ("typ", json!("at+jwt")),
        ("typ", json!("JWE")),
        ("typ", json!(null)),
    ] {
        attacks.push((format!("header {name} {value:.40}"), bench.header(name, value)));
    }
    let claims = bench.claims().to_string();
    for header in [
        "{\"alg\":\"RS256\",\"typ\":\"JWT\"}",
        "{\"kid\":\"simulated-key\"}",
        "{\"alg\":\"RS256\",\"alg\":\"RS256\",\"kid\":\"simulated-key\"}",
        "{\"alg\":\"none\",\"alg\":\"RS256\",\"kid\":\"simulated-key\"}",
        "{\"alg\":\"RS256\",\"kid\":\"simulated-key\",\"kid\":\"simulated-key\"}",
        "{\"alg\":\"RS256\",\"kid\":\"simulated-key\"}x",
        "[\"RS256\",\"simulated-key\"]",
        "\"RS256\"",
        "{}",
        "",
    ] {
        attacks.push((format!("header {header}"), bench.text(header, &claims)));
    }
    attacks
}

fn issuance(bench: &Bench<'_>) -> Vec<(&'static str, Value)> {
    let now = seconds(bench.world);
    let audience = bench.claims()["aud"].clone();
    let nonce = &bench.attempt.nonce;
    let of_body = |text: &str| super::sha256(text);
    vec![
        ("iss", json!("https://other.example")),
        ("iss", json!("https://issuer.example/")),
        ("iss", json!("https://ISSUER.example")),
        ("iss", json!(["https://issuer.example"])),
        ("iss", json!("http://issuer.example")),
        ("iss", json!("")),
        ("aud", json!([audience])),
        ("aud", json!([audience, "x"])),
        ("aud", json!("")),
        ("aud", json!(format!("{} ", audience.as_str().unwrap()))),
        ("aud", json!("https://github.com/org-1")),
        ("aud", json!(format!("svcd:v1:{nonce}:{}", of_body("{}")))),
        ("aud", json!(format!("svcd:v1:{}:{}", "0".repeat(32), of_body(bench.body)))),
        ("aud", json!(format!("svcd:v2:{nonce}:{}", of_body(bench.body)))),
        ("aud", json!(format!("svcd:v1:{nonce}:{}", of_body(bench.body).to_uppercase()))),
        ("aud", json!(format!("svcd:v1::{}", of_body(bench.body)))),
        ("jti", json!("")),
        ("jti", json!(5)),
        ("jti", json!("j".repeat(1025))),
        ("iat", json!(now + 61)),
        ("iat", json!(now - 601)),
        ("iat", json!(now.to_string())),
        ("iat", json!(-1)),
        ("iat", json!(i64::MAX)),
        ("iat", json!(i64::MIN)),
        ("iat", json!(u64::MAX)),
        ("iat", json!(1.5)),
        ("iat", json!(null)),
        ("nbf", json!(now + 61)),
        ("nbf", json!("0")),
        ("nbf", json!(null)),
        ("nbf", json!(0.5)),
        ("exp", json!(now - 60)),
        ("exp", json!(now.to_string())),
        ("exp", json!(0)),
        ("exp", json!(i64::MIN)),
        ("exp", json!(u64::MAX)),
        ("exp", json!(null)),
    ]
}

fn identity(bench: &Bench<'_>) -> Vec<(&'static str, Value)> {
    vec![
        ("repository_id", json!("11")),
        ("repository_id", json!(10)),
        ("repository_id", json!("010")),
        ("repository_id", json!("10 ")),
        ("repository_owner_id", json!(svc::simulator::OWNER)),
        ("repository_owner_id", json!("1")),
        ("repository_owner_id", json!("x")),
        ("run_id", json!((bench.attempt.run + 1).to_string())),
        ("run_id", json!(bench.attempt.run)),
        ("run_id", json!(format!("+{}", bench.attempt.run))),
        ("run_id", json!("")),
        ("run_attempt", json!("2")),
        ("run_attempt", json!("0")),
        ("run_attempt", json!(1)),
        ("run_attempt", json!("01")),
        ("event_name", json!("pull_request_target")),
        ("event_name", json!("workflow_run")),
        ("event_name", json!("push")),
        ("event_name", json!("Workflow_dispatch")),
        ("workflow_ref", json!("org-1/app/.github/workflows/other.yml@refs/tags/v1")),
        ("workflow_ref", json!("org-1/app/.github/workflows/release.yml@refs/heads/main")),
        ("workflow_ref", json!("org-2/app/.github/workflows/release.yml@refs/tags/v1")),
        (
            "workflow_ref",
            json!("org-1/app/.github/workflows/../workflows/release.yml@refs/tags/v1"),
        ),
        (
            "workflow_ref",
            json!("org-1/app/.github/workflows/release.yml@refs/tags/v1@refs/tags/v1"),
        ),
        ("repository", json!("org-2/app")),
        ("repository", json!(["org-1/app"])),
        ("ref", json!("refs/heads/v1")),
        ("ref", json!("refs/tags/v2")),
        ("ref", json!("v1")),
        ("sha", json!(commit(2))),
        ("sha", json!(commit(1).to_uppercase())),
        ("sha", json!("")),
    ]
}

fn claims(bench: &Bench<'_>) -> Vec<(String, String)> {
    let cases = [issuance(bench), identity(bench)].concat();
    let mut attacks: Vec<_> = cases
        .into_iter()
        .map(|(name, value)| (format!("{name} {value:.60}"), bench.claim(name, value)))
        .collect();
    for name in [
        "iss",
        "aud",
        "jti",
        "iat",
        "exp",
        "repository",
        "repository_id",
        "repository_owner_id",
        "run_id",
        "run_attempt",
        "event_name",
        "workflow_ref",
        "ref",
        "sha",
    ] {
        attacks.push((format!("without {name}"), bench.without(name)));
    }
    attacks
}

fn shapes(bench: &Bench<'_>) -> Vec<(String, String)> {
    let good = bench.good();
    let header = Issuer::header().to_string();
    let claims = bench.claims().to_string();
    let [first, second, third] = good.split('.').collect::<Vec<_>>().try_into().unwrap();
    let sign = |claims: &str| bench.text(&header, claims);
    let twice = claims.replacen('{', "{\"sha\":\"x\",", 1);
    let twice_unread = claims.replacen('{', "{\"more\":1,\"more\":1,", 1);
    let nested =
        claims.replacen('{', &format!("{{\"more\":{}{},", "[".repeat(200), "]".repeat(200)), 1);
    let wide: String = (0..200).map(|number| format!("\"m{number}\":1,")).collect();
    let mut tokens = vec![
        ("nothing", String::new()),
        ("a dot", ".".to_owned()),
        ("two dots", "..".to_owned()),
        ("a dot at the end", format!("{good}.")),
        ("a dot at the start", format!(".{good}")),
        ("no signature", format!("{first}.{second}.")),
        ("two parts", format!("{first}.{second}")),
        ("a part twice", format!("{first}.{second}.{third}.{third}")),
        ("five parts of a JWE", format!("{first}.{second}.{third}.{second}.{third}")),
        ("parts in another order", format!("{second}.{first}.{third}")),
        ("padding", format!("{first}.{second}.{third}==")),
        ("signature of another alphabet", format!("{first}.{second}.+/{}", third.split_at(2).1)),
        ("a cut signature", good.split_at(good.len() - 4).0.to_owned()),
        ("a longer signature", format!("{good}AAAA")),
        ("a name twice", sign(&twice)),
        ("an unread name twice", sign(&twice_unread)),
        ("nested", sign(&nested)),
        ("wide", sign(&claims.replacen('{', &format!("{{{wide}"), 1))),
        ("huge", format!("{first}.{}.{third}", "A".repeat(16 * 1024))),
        ("claims in a list", sign("[]")),
        ("claims are text", sign("\"x\"")),
        ("claims twice", sign(&format!("{claims}{claims}"))),
        ("claims cut off", sign(claims.split_at(claims.len() - 1).0)),
        ("a token in a token", sign(&format!("\"{good}\""))),
        ("another token's signature", {
            let other = bench.claim("jti", "other".into());
            format!("{first}.{second}.{}", other.rsplit('.').next().unwrap())
        }),
    ];
    tokens.push(("with a blank", format!("{first} .{second}.{third}")));
    tokens.into_iter().map(|(name, token)| (name.to_owned(), token)).collect()
}

#[test]
fn no_attack_gets_in_learns_anything_or_changes_anything() {
    let (world, attempt) = started();
    let body = body("accepted");
    let bench = Bench { world: &world, attempt: &attempt, body: &body };
    let attacks =
        [keys(&bench), headers(&bench), claims(&bench), shapes(&bench)].into_iter().flatten();
    let before = everything(&world);
    let (mut count, mut answers) = (0, Vec::new());
    for (name, token) in attacks {
        let answer = post(&world, &attempt.target(), &token, &body);
        assert_eq!(answer.status, 401, "{name}");
        answers.push((format!("{:?}", answer.headers), bytes(&answer).to_vec()));
        count += 1;
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "each hears the same");
    assert_eq!(everything(&world), before);
    assert!(count > 150, "only {count}");
    assert_eq!(as_str(&attempt.send(&world, &body, "attack")), RECORDED);
}

#[test]
fn a_good_token_opens_its_own_attempt_only() {
    let (mut world, attempt) = started();
    world.deliver(&crate::support::world::webhooks(1).push_tag("v2", &commit(2)));
    world.settle();
    let body = body("accepted");
    let token = attempt.token(&world, &body, "t1");
    let other_run: String = world.ask("SELECT release_run_id FROM release_runs WHERE id = 2");
    let other_attempt: String =
        world.ask("SELECT current_attempt_id FROM release_runs WHERE id = 2");
    let absent = "0199f3a0-0000-7000-8000-00000000000a";
    let before = everything(&world);
    let (run, id) = (attempt.release_run.as_str(), attempt.id.as_str());
    let mut answers = Vec::new();
    for (run, id) in [
        (other_run.as_str(), other_attempt.as_str()),
        (run, &other_attempt),
        (&other_run, id),
        (run, absent),
        (absent, id),
        (run, &id.to_uppercase()),
        (run, "x"),
        ("", id),
        (run, "%2e%2e"),
    ] {
        let target = format!("/api/v1/release-runs/{run}/attempts/{id}/result");
        let answer = post(&world, &target, &token, &body);
        assert_eq!(answer.status, 401, "{target}");
        answers.push(bytes(&answer).to_vec());
    }
    let answer = post(&world, &attempt.target(), &token, &super::body("rejected"));
    answers.push(bytes(&answer).to_vec());
    let answer = post(&world, &attempt.target(), "x", &body);
    answers.push(bytes(&answer).to_vec());
    answers.dedup();
    assert_eq!(answers.len(), 1, "an attempt that exists and one that does not look the same");
    assert_eq!(everything(&world), before);
}

#[test]
fn times_hold_to_the_second() {
    for (name, offset, holds) in [
        ("iat", 60, true),
        ("iat", -600, true),
        ("nbf", 60, true),
        ("nbf", -100_000, true),
        ("exp", -59, true),
        ("exp", 100_000_000, true),
        ("iat", 61, false),
        ("iat", -601, false),
        ("nbf", 61, false),
        ("exp", -60, false),
    ] {
        let (world, attempt) = started();
        let body = body("accepted");
        let bench = Bench { world: &world, attempt: &attempt, body: &body };
        let token = bench.claim(name, json!(seconds(&world) + offset));
        let status = post(&world, &attempt.target(), &token, &body).status;
        assert_eq!(status == 200, holds, "{name} {offset}");
    }
}

/// A version before did not note whose repository it was: the repository's own number must do.
#[test]
fn a_release_of_an_older_version_has_no_owner_to_compare_with() {
    let (world, attempt) = started();
    let body = body("accepted");
    let bench = Bench { world: &world, attempt: &attempt, body: &body };
    let token = bench.claim("repository_owner_id", json!("1"));
    let told = || post(&world, &attempt.target(), &token, &body).status.as_u16();
    assert_eq!(told(), 401);
    crate::support::world::open_raw(&world.database())
        .execute("UPDATE release_runs SET repository_owner_id = NULL", [])
        .unwrap();
    assert_eq!(told(), 200);
}

#[test]
fn an_attempt_of_an_older_version_has_no_workflow_to_compare_with_and_takes_nothing() {
    let (world, attempt) = started();
    crate::support::world::open_raw(&world.database())
        .execute("UPDATE release_run_attempts SET workflow = NULL", [])
        .unwrap();
    assert_eq!(attempt.send(&world, &body("accepted"), "t1").0, 401);
}

#[test]
fn the_digest_of_a_credential_is_all_that_is_kept_of_it() {
    let (world, attempt) = started();
    attempt.send(&world, &body("accepted"), "a-token-id-of-its-own");
    let kept: String = world.ask("SELECT token_id FROM result_callbacks");
    assert_eq!(kept.len(), 64);
    let text = format!("{:?}", everything(&world));
    let token = attempt.token(&world, &body("accepted"), "a-token-id-of-its-own");
    for secret in ["a-token-id-of-its-own", token.rsplit('.').next().unwrap()] {
        assert!(!text.contains(secret) && !text.contains(&hex(secret.as_bytes())));
    }
}
