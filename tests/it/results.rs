//! Results of releases in process: what ends a release, what is refused, and what a result proves.

mod attacks;
mod keys;
mod proof;
mod properties;
mod publication;
mod shape;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use ring::digest::{SHA256, digest};
use ring::hmac;
use serde_json::{Value, json};
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::ReconcileCode;
use svc::domain::release::Conclusion;
use svc::http::message::{Response, Surface};
use svc::runtime::clock::Clock as _;
use svc::simulator::Issuer;

use crate::daemon::database::values;
use crate::support::World;
use crate::support::world::{ISSUER, RESULT_SECRET, commit, open_raw, outcome, webhooks};

const RECORDED: (u16, &str) = (200, "recorded");
const AGAIN: (u16, &str) = (200, "already_recorded");
const CONFLICT: (u16, &str) = (409, "result_conflict");
const UNAUTHENTICATED: (u16, &str) = (401, "unauthenticated");

/// The current attempt of the first release, and what its run would say.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    release_run: String,
    id: String,
    nonce: String,
    run: i64,
}

/// Starts the release of `commit(1)` under `v1`; its workflow runs.
pub(crate) fn started() -> (World, Attempt) {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    let attempt = current(&world);
    (world, attempt)
}

pub(crate) fn current(world: &World) -> Attempt {
    let column = |name: &str| {
        format!(
            "SELECT a.{name} FROM release_runs r JOIN release_run_attempts a \
                 ON a.attempt_id = r.current_attempt_id ORDER BY r.id LIMIT 1"
        )
    };
    Attempt {
        release_run: world.ask(&column("release_run_id")),
        id: world.ask(&column("attempt_id")),
        nonce: world.ask(&column("nonce")),
        run: world.ask::<Option<i64>>(&column("workflow_run_id")).unwrap_or(777),
    }
}

pub(crate) fn body(decision: &str) -> String {
    json!({
        "version": 1,
        "decision": decision,
        "headCommit": commit(1),
        "findings": {"critical": 0, "high": 1, "medium": 2, "low": 3},
        "artifact": {"digest": format!("sha256:{}", "0".repeat(64))},
    })
    .to_string()
}

fn sha256(text: &str) -> String {
    hex(digest(&SHA256, text.as_bytes()).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seconds(world: &World) -> i64 {
    world.clock.now().micros() / 1_000_000
}

impl Attempt {
    /// The claims of its run's token for a body.
    fn claims(&self, world: &World, body: &str, token: &str) -> Value {
        let now = seconds(world);
        json!({
            "iss": ISSUER,
            "aud": format!("svcd:v1:{}:{}", self.nonce, sha256(body)),
            "jti": token,
            "iat": now,
            "nbf": now - 300,
            "exp": now + 300,
            "sub": "repo:org-1/app:ref:refs/tags/v1",
            "repository": "org-1/app",
            "repository_id": "10",
            "repository_owner": "org-1",
            "repository_owner_id": svc::simulator::OWNER.to_string(),
            "run_id": self.run.to_string(),
            "run_attempt": "1",
            "event_name": "workflow_dispatch",
            "workflow_ref": "org-1/app/.github/workflows/release.yml@refs/tags/v1",
            "ref": "refs/tags/v1",
            "sha": commit(1),
        })
    }

    fn token(&self, world: &World, body: &str, token: &str) -> String {
        Issuer::sign(&Issuer::header(), &self.claims(world, body, token))
    }

    fn target(&self) -> String {
        format!("/api/v1/release-runs/{}/attempts/{}/result", self.release_run, self.id)
    }

    /// Sends a body with a token of its own.
    pub(crate) fn send(&self, world: &World, body: &str, token: &str) -> (u16, String) {
        outcome(&post(world, &self.target(), &self.token(world, body, token), body))
    }
}

fn post(world: &World, target: &str, token: &str, body: &str) -> Response {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("authorization", bearer.as_str()),
    ];
    world.send(Surface::Public, Method::POST, target, &headers, body.into())
}

fn as_str((status, outcome): &(u16, String)) -> (u16, &str) {
    (*status, outcome)
}

/// Everything the file holds.
fn everything(world: &World) -> Vec<(String, String)> {
    values(&open_raw(&world.database()))
}

#[test]
fn each_decision_ends_the_release_and_is_shown_at_the_forge() {
    for (decision, status, conclusion) in [
        ("accepted", "succeeded", Conclusion::Success),
        ("accepted_at_risk", "succeeded", Conclusion::Neutral),
        ("rejected", "failed", Conclusion::Failure),
    ] {
        let (world, attempt) = started();
        let told = attempt.send(&world, &body(decision), "t1");
        assert_eq!(as_str(&told), RECORDED, "{decision}");
        world.settle();
        for table in ["release_runs", "release_run_attempts"] {
            assert_eq!(world.ask::<String>(&format!("SELECT status FROM {table}")), status);
        }
        let row = "SELECT decision || ' ' || forge_conclusion FROM release_runs";
        assert_eq!(world.ask::<String>(row), format!("{decision} {}", conclusion.as_str()));
        let shown = world.forge.shows(world.forge.last_check_run()).unwrap();
        assert!(format!("{shown:?}").contains(&format!("{conclusion:?}")), "{shown:?}");
        let kept = "SELECT accepted_payload FROM release_run_results";
        assert_eq!(world.ask::<String>(kept), body(decision));
        let published = "SELECT forge_check_published_at IS NOT NULL FROM release_runs";
        assert!(world.ask::<bool>(published));
    }
}

#[test]
fn the_same_token_and_body_get_the_same_answer_for_ever_and_another_body_none() {
    let (world, attempt) = started();
    let target = attempt.target();
    let body = body("accepted");
    let token = attempt.token(&world, &body, "t1");
    assert_eq!(as_str(&outcome(&post(&world, &target, &token, &body))), RECORDED);
    world.settle();
    let before = everything(&world);
    for _ in 0..3 {
        let again = post(&world, &target, &token, &body);
        assert_eq!(as_str(&outcome(&again)), AGAIN);
    }
    let world = world.restart();
    assert_eq!(as_str(&outcome(&post(&world, &target, &token, &body))), AGAIN);
    assert_eq!(everything(&world), before);
    let other = self::body("rejected");
    assert_eq!(as_str(&attempt.send(&world, &other, "t1")), CONFLICT);
    let refused = "SELECT event || ' ' || item_type || ' ' || reason_code FROM audit_events";
    assert_eq!(
        world.ask::<String>(refused),
        "control_plane.release_result_refused attempt credential_reused"
    );
    assert_eq!(world.ask::<String>("SELECT decision FROM release_runs"), "accepted");
}

#[test]
fn after_the_end_a_result_changes_nothing_and_is_audited_once() {
    let (world, attempt) = started();
    assert_eq!(as_str(&attempt.send(&world, &body("rejected"), "t1")), RECORDED);
    world.settle();
    for number in 0..5 {
        let late = attempt.send(&world, &body("accepted"), &format!("late-{number}"));
        assert_eq!(as_str(&late), CONFLICT);
    }
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "failed");
    assert_eq!(world.ask::<String>("SELECT failure_reason FROM release_runs"), "result_rejected");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM audit_events"), 1);
    assert_eq!(world.ask::<String>("SELECT reason_code FROM audit_events"), "already_ended");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM result_callbacks"), 1);
    assert_eq!(world.ask::<String>("SELECT item_id FROM audit_events"), attempt.id);
}

#[test]
fn a_later_attempt_s_result_takes_the_place_of_the_earlier_one() {
    let (mut world, first) = started();
    assert_eq!(as_str(&first.send(&world, &body("rejected"), "t1")), RECORDED);
    world.settle();
    open_raw(&world.database())
        .execute(
            "UPDATE release_run_results SET last_publication_error = ?1",
            [ReconcileCode::ForgeCheckRunUpdateFailed.as_str()],
        )
        .unwrap();
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    let second = current(&world);
    assert_ne!(first.id, second.id);
    let old = first.send(&world, &body("accepted"), "t2");
    assert_eq!(as_str(&old), CONFLICT, "the old attempt is not current any more");
    assert_eq!(world.ask::<String>("SELECT reason_code FROM audit_events"), "attempt_superseded");
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(as_str(&second.send(&world, &body("accepted_at_risk"), "t3")), RECORDED);
    world.settle();
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_run_results"), 1);
    let row = "SELECT attempt_id || ' ' || decision || ' ' || \
               coalesce(last_publication_error, 'none') FROM release_run_results";
    assert_eq!(world.ask::<String>(row), format!("{} accepted_at_risk none", second.id));
    assert_eq!(world.ask::<String>("SELECT forge_conclusion FROM release_runs"), "neutral");
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 2);
}

#[test]
fn a_body_that_is_no_result_or_of_another_commit_changes_nothing() {
    let (world, attempt) = started();
    let before = everything(&world);
    let other = body("accepted").replace(&commit(1), &commit(2));
    for text in
        ["", "{}", "[]", "null", "\u{1}", &body("perhaps"), &body("accepted").replace('1', "2")]
    {
        let told = attempt.send(&world, text, "t1");
        assert_eq!(as_str(&told), (400, "invalid_request"), "{text}");
    }
    assert_eq!(everything(&world), before);
    assert_eq!(as_str(&attempt.send(&world, &other, "t1")), CONFLICT);
    assert_eq!(world.ask::<String>("SELECT reason_code FROM audit_events"), "other_commit");
    assert_eq!(as_str(&attempt.send(&world, &body("accepted"), "t1")), RECORDED);
}

#[test]
fn another_media_type_is_refused_once_the_sender_is_known() {
    let (world, attempt) = started();
    let body = body("accepted");
    let bearer = format!("Bearer {}", attempt.token(&world, &body, "t1"));
    for (token, types, wanted) in [
        (bearer.as_str(), vec![("content-type", "text/plain")], 415),
        (&bearer, vec![], 415),
        (&bearer, vec![("content-type", "application/json"), ("content-encoding", "gzip")], 415),
        ("Bearer x", vec![("content-type", "text/plain")], 401),
    ] {
        let headers =
            [&[("host", "localhost"), ("authorization", token)], types.as_slice()].concat();
        let target = attempt.target();
        let answer =
            world.send(Surface::Public, Method::POST, &target, &headers, body.clone().into());
        assert_eq!(answer.status, wanted, "{types:?}");
    }
    for surface in [Surface::Control, Surface::Operator] {
        let target = attempt.target();
        let headers = [("host", "localhost"), ("authorization", bearer.as_str())];
        let answer = world.send(surface, Method::POST, &target, &headers, body.clone().into());
        assert_eq!(answer.status, 404, "results are the public surface's");
    }
}

#[test]
fn every_outcome_is_counted_by_a_word_of_a_closed_set() {
    let (world, attempt) = started();
    let body = body("accepted");
    post(&world, &attempt.target(), "x.y.z", &body);
    attempt.send(&world, "{}", "t0");
    attempt.send(&world, &body, "t1");
    attempt.send(&world, &body, "t1");
    attempt.send(&world, &body, "t2");
    let metrics = world.app.metrics.render();
    for word in ["malformed", "unusable", "recorded", "already_recorded", "already_ended"] {
        let line = format!("svc_results_total{{outcome=\"{word}\"}} 1\n");
        assert!(metrics.contains(&line), "{line}{metrics}");
    }
}

/// The headers of a result that is signed with the shared secret.
fn signed(
    world: &World,
    attempt: &Attempt,
    body: &str,
    secret: &str,
) -> Vec<(&'static str, String)> {
    let (run, now) = (attempt.run, seconds(world));
    let message = format!("v1\n{}\n{run}\n1\n{now}\n{}", attempt.nonce, sha256(body));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mac = hex(hmac::sign(&key, message.as_bytes()).as_ref());
    vec![
        ("host", "localhost".to_owned()),
        ("content-type", "application/json".to_owned()),
        ("x-svc-result-signature", format!("sha256={mac}")),
        ("x-svc-result-timestamp", now.to_string()),
        ("x-svc-result-run-id", run.to_string()),
        ("x-svc-result-run-attempt", "1".to_owned()),
    ]
}

fn send_signed(
    world: &World,
    attempt: &Attempt,
    headers: &[(&'static str, String)],
    body: &str,
) -> (u16, String) {
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let target = attempt.target();
    outcome(&world.send(Surface::Public, Method::POST, &target, &headers, body.into()))
}

#[test]
fn a_result_signed_with_the_shared_secret_holds_once() {
    let (world, attempt) = started();
    let body = body("accepted");
    let before = everything(&world);
    let good = signed(&world, &attempt, &body, RESULT_SECRET);
    let mut attacks = vec![
        signed(&world, &attempt, &body, "another-secret-of-results-of-a-world"),
        signed(&world, &attempt, "{}", RESULT_SECRET),
    ];
    for (name, value) in [
        ("x-svc-result-signature", "sha256=".to_owned()),
        ("x-svc-result-timestamp", (seconds(&world) + 1).to_string()),
        ("x-svc-result-run-id", "778".to_owned()),
        ("x-svc-result-run-attempt", "2".to_owned()),
        ("authorization", "Bearer x".to_owned()),
    ] {
        let mut bent = good.clone();
        bent.retain(|(known, _)| *known != name);
        attacks.push(bent.clone());
        bent.push((name, value));
        attacks.push(bent);
    }
    attacks.retain(|headers| *headers != good);
    for headers in &attacks {
        let told = send_signed(&world, &attempt, headers, &body);
        assert_eq!(as_str(&told), UNAUTHENTICATED, "{headers:?}");
    }
    assert_eq!(everything(&world), before);
    world.clock.advance(Duration::from_secs(300));
    assert_eq!(as_str(&send_signed(&world, &attempt, &good, &body)), RECORDED);
    assert_eq!(as_str(&send_signed(&world, &attempt, &good, &body)), AGAIN);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(as_str(&send_signed(&world, &attempt, &good, &body)), UNAUTHENTICATED);
}

/// A part of a token, as it is written.
fn encode(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(text)
}
