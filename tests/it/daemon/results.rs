//! Results of releases at the real `svcd`: from the dispatch to the check run's conclusion, whatever
//! became of the dispatch's own answer, and with nothing of a body anywhere else.

use ring::digest::{SHA256, digest};
use rustix::process::Signal;
use serde_json::json;
use svc::simulator::{Call, CheckRun, Fault, Issuer, RunClaims, WorkflowRun};

use super::ask::{Answer, Ask};
use super::letters::{self, letters};
use super::process::Daemon;
use super::site::Site;
use super::{INSTALLATION, commit, database, wait_for};

/// A site whose results an issuer signs.
pub(super) struct Place {
    pub(super) site: Site,
    pub(super) issuer: Issuer,
}

impl Place {
    pub(super) fn new() -> Self {
        let (mut site, issuer) = (Site::new(), Issuer::start().unwrap());
        site.set("SVC_RESULT_ISSUERS", &issuer.url());
        Self { site, issuer }
    }

    /// Pushes a tag and waits for its workflow run, and for `svcd` to know its fate.
    pub(super) fn run(&self, daemon: &Daemon, number: usize) -> WorkflowRun {
        letters::push(daemon, &self.site.webhooks, number);
        let run = wait_for("a workflow run", || {
            let runs = self.site.forge.workflow_runs();
            runs.into_iter().find(|run| run.git_ref == format!("v{number}"))
        });
        wait_for("the dispatch to be settled", || {
            let idle = daemon.metrics().contains("svc_outbox_available 0\n");
            let settled = self.check_run(&run).status == "in_progress"
                || !letters(daemon, INSTALLATION).is_empty();
            (idle && settled).then_some(())
        });
        run
    }

    pub(super) fn claims(&self, run: &WorkflowRun) -> RunClaims {
        let number: usize = run.git_ref.trim_start_matches('v').parse().unwrap();
        let name = self.site.webhooks.repository.full_name.as_str();
        RunClaims::of(run, name, &commit(number))
    }

    /// Sends a body as the run does.
    pub(super) fn send(&self, daemon: &Daemon, run: &WorkflowRun, body: &str) -> Answer {
        let audience = format!("svcd:v1:{}:{}", run.nonce, sha256(body));
        let token = self.issuer.mint(&self.claims(run), &audience);
        daemon.public.ask(&ask(run, &token, body))
    }

    pub(super) fn check_run(&self, run: &WorkflowRun) -> CheckRun {
        let runs = self.site.forge.check_runs();
        runs.into_iter().find(|check_run| check_run.external_id == run.attempt).unwrap()
    }

    fn concluded(&self, run: &WorkflowRun) -> String {
        wait_for("the check run to be completed", || {
            let check_run = self.check_run(run);
            check_run.conclusion.filter(|_| check_run.status == "completed")
        })
    }
}

fn ask(run: &WorkflowRun, token: &str, body: &str) -> Ask {
    let (release_run, attempt) = (&run.release_run, &run.attempt);
    Ask::post(&format!("/api/v1/release-runs/{release_run}/attempts/{attempt}/result"))
        .header("Content-Type", "application/json")
        .header("Authorization", format!("Bearer {token}"))
        .body(body)
}

pub(super) fn sha256(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn body(decision: &str, number: usize, artifact: &str) -> String {
    json!({
        "version": 1,
        "decision": decision,
        "headCommit": commit(number),
        "findings": {"critical": 0, "high": 1, "medium": 2, "low": 3},
        "artifact": {"digest": format!("sha256:{artifact}")},
    })
    .to_string()
}

#[test]
fn a_result_ends_its_release_and_the_forge_is_told() {
    let place = Place::new();
    let daemon = place.site.start();
    for (number, decision, conclusion) in
        [(1, "accepted", "success"), (2, "accepted_at_risk", "neutral"), (3, "rejected", "failure")]
    {
        let run = place.run(&daemon, number);
        assert!(place.check_run(&run).conclusion.is_none());
        let body = body(decision, number, &"0".repeat(64));
        let answer = place.send(&daemon, &run, &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let expected = json!({
            "outcome": "recorded", "releaseRunId": run.release_run, "attemptId": run.attempt,
        });
        assert_eq!(answer.json(), expected);
        assert_eq!(place.concluded(&run), conclusion);
        let late = place.send(&daemon, &run, &body);
        late.assert_problem(409, "result_conflict", &body);
    }
    assert_eq!(place.issuer.key_requests(), 1, "keys are kept");
    assert_eq!(daemon.metric("svc_results_total{outcome=\"recorded\"}"), 3);
    assert_eq!(daemon.metric("svc_results_total{outcome=\"already_ended\"}"), 3);
}

#[test]
fn a_result_proves_the_run_of_a_dispatch_whose_answer_was_lost() {
    let place = Place::new();
    let daemon = place.site.start();
    place.site.forge.plan(Call::Dispatch, Fault::CutAfterEffect);
    let run = place.run(&daemon, 1);
    assert_eq!(letters(&daemon, INSTALLATION)[0].reason_code, "forge_dispatch_uncertain");
    let answer = place.send(&daemon, &run, &body("accepted", 1, &"0".repeat(64)));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(place.concluded(&run), "success");
    assert!(letters(&daemon, INSTALLATION).is_empty());
    assert_eq!(place.site.forge.workflow_runs().len(), 1);
}

#[test]
fn a_recorded_result_outlives_a_kill_and_its_answer_comes_again() {
    let place = Place::new();
    let mut daemon = place.site.start();
    let run = place.run(&daemon, 1);
    let body = body("accepted", 1, &"0".repeat(64));
    let audience = format!("svcd:v1:{}:{}", run.nonce, sha256(&body));
    let token = place.issuer.mint(&place.claims(&run), &audience);
    assert_eq!(daemon.public.ask(&ask(&run, &token, &body)).status, 200);
    daemon.kill();
    let mut daemon = place.site.start();
    let again = daemon.public.ask(&ask(&run, &token, &body));
    assert_eq!((again.status, again.member("outcome")), (200, "already_recorded".to_owned()));
    daemon.kill();
    let database = database::open(&place.site.database());
    let ended = "SELECT count(*) FROM release_runs WHERE status = 'succeeded'";
    assert_eq!(database::number(&database, ended, &[]), 1);
    // Who was killed while it told the forge leaves a lease behind, so it may not have been told yet.
    let told = "SELECT count(*) FROM outbox WHERE effect_key LIKE 'check_run_update.completed:%'";
    assert_eq!(database::number(&database, told, &[]), 1);
}

#[test]
fn without_an_issuer_or_a_secret_results_are_off() {
    let mut place = Place::new();
    place.site.unset("SVC_RESULT_ISSUERS");
    let daemon = place.site.start();
    let run = place.run(&daemon, 1);
    let answer = place.send(&daemon, &run, &body("accepted", 1, &"0".repeat(64)));
    answer.assert_problem(503, "unavailable", "");
    assert_eq!(place.issuer.key_requests(), 0);
    daemon.logged("no release can succeed");
}

#[test]
fn keys_that_cannot_be_had_are_no_refusal() {
    let place = Place::new();
    place.issuer.set_down(true);
    let daemon = place.site.start();
    let run = place.run(&daemon, 1);
    for _ in 0..10 {
        let answer = place.send(&daemon, &run, &body("accepted", 1, &"0".repeat(64)));
        answer.assert_problem(503, "unavailable", "");
        let after: u64 = answer.header("retry-after").parse().unwrap();
        assert!((1..=5).contains(&after), "{after}");
    }
    assert!(place.issuer.key_requests() <= 2, "{}", place.issuer.key_requests());
    assert!(place.check_run(&run).conclusion.is_none());
}

#[test]
fn nothing_of_a_body_or_a_token_goes_anywhere_else() {
    let place = Place::new();
    let mut daemon = place.site.start();
    let run = place.run(&daemon, 1);
    let mark = "c0ffee".repeat(10) + "cafe";
    let good = body("accepted", 1, &mark);
    let (mut heard, mut tokens) = (String::new(), Vec::new());
    let audience = format!("svcd:v1:{}:{}", run.nonce, sha256(&good));
    let claims = place.claims(&run);
    for (claims, sent, status) in [
        (claims.clone().with("repository", "canarytenant/site"), &good, 401),
        (claims.clone().with("run_id", "canarytenant"), &good, 401),
        (claims.clone().with("canarytenant", "canarytenant"), &good.replace("accepted", "x"), 401),
        (claims.clone(), &good, 200),
        (claims, &good, 409),
    ] {
        let token = place.issuer.mint(&claims, &audience);
        let answer = daemon.public.ask(&ask(&run, &token, sent));
        assert_eq!(answer.status, status, "{answer:?}");
        heard = format!("{heard}{:?}{}", answer.headers, answer.text());
        tokens.push(token);
    }
    let strange = "{\"canarytenant\":\"canarytenant\"}";
    let answer = place.send(&daemon, &run, strange);
    answer.assert_problem(400, "invalid_request", strange);
    assert_eq!(place.concluded(&run), "success");
    let metrics = daemon.metrics();
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    let log = daemon.log();
    assert!(log.contains("result.recorded") && log.contains("result.unauthenticated"));
    for text in [&log, &heard, &answer.text(), &metrics] {
        for secret in ["canarytenant", &mark, &run.nonce, "eyJ", "simulated-token", "simulated-key"]
        {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    for (column, text) in database::values(&database::open(&place.site.database())) {
        assert!(!text.contains("canarytenant") && !text.contains("eyJ"), "{column}: {text}");
        let kept = column == "release_run_results.accepted_payload";
        assert_eq!(text.contains(&mark), kept, "{column}");
    }
}
