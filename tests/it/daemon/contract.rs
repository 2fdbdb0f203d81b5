//! The daemon against the forge's published contract: a validator stands between `svcd` and the
//! simulator, and lets pass only what the description of the API allows, both ways. Needs the validator,
//! which `tests/external/forge-contract` brings; by itself this is not run.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::{Call, Fault, RunState, Simulator};

use super::process::Daemon;
use super::site::Site;
use super::{commit, letters};

const CALLS: [Call; 15] = [
    Call::AppRead,
    Call::WebhookRead,
    Call::InstallationFind,
    Call::TokenRevoke,
    Call::Mint,
    Call::Dispatch,
    Call::WorkflowRunRead,
    Call::WorkflowRunTryRead,
    Call::WorkflowRunFind,
    Call::CheckRunFind,
    Call::CheckRunRead,
    Call::CheckRunCreate,
    Call::CheckRunUpdate,
    Call::DeliveryFind,
    Call::DeliveryRepeat,
];
/// Faults that the story plans: connections that are cut, and statuses the description does not name.
const CUTS: usize = 2;
const STATUSES: usize = 4;

/// Headers of a request that conforms.
const GOOD: &str =
    "authorization: Bearer x\r\nuser-agent: svcd/1\r\nx-github-api-version: 2022-11-28\r\n";

/// The validator, in front of a forge.
struct Validator {
    process: Child,
    port: u16,
    log: PathBuf,
}

impl Validator {
    fn start(folder: &Path, log: PathBuf, forge: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let port = free.port().to_string();
        let out = File::create(&log).unwrap();
        let process = Command::new("node")
            .arg(folder.join("node_modules/@stoplight/prism-cli/dist/index.js"))
            .arg("proxy")
            .arg(folder.join("description.json"))
            .args([forge, "--errors", "--host", "127.0.0.1", "--port", &port])
            .stdin(Stdio::null())
            .stderr(out.try_clone().unwrap())
            .stdout(out)
            .spawn()
            .unwrap();
        let validator = Self { process, port: free.port(), log };
        super::wait_for("the validator", || (validator.lines("is listening") > 0).then_some(()));
        validator
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    fn lines(&self, words: &str) -> usize {
        self.text().lines().filter(|line| line.contains(words)).count()
    }

    /// Sends bytes as they are; returns the status of the answer.
    fn status_of(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

impl Drop for Validator {
    fn drop(&mut self) {
        self.process.kill().unwrap_or(());
        drop(self.process.wait());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the script that runs this test says where it put things"
)]
fn folder() -> PathBuf {
    std::env::var_os("SVC_FORGE_CONTRACT").expect("tests/external/forge-contract sets it").into()
}

/// Waits until a release shows that its workflow runs; returns its check run and its workflow run.
fn running(forge: &Simulator, number: usize) -> (i64, i64) {
    super::wait_for("a release to run", || {
        let sha = commit(number);
        let runs = forge.workflow_runs();
        let run = runs.iter().find(|run| run.head_sha == sha)?;
        let checks = forge.check_runs();
        let check = checks.iter().find(|check| check.head_sha == sha)?;
        (check.status == "in_progress").then_some((check.id, run.id))
    })
}

/// Waits until a check run shows the failure of its release.
fn published(forge: &Simulator, check_run: i64) {
    super::wait_for("the end to be shown", || {
        let checks = forge.check_runs();
        let check = checks.iter().find(|check| check.id == check_run)?;
        (check.conclusion.as_deref() == Some("failure")).then_some(())
    });
}

/// A release from its tag to its end.
fn release(site: &Site, daemon: &Daemon, number: usize) {
    letters::push(daemon, &site.webhooks, number);
    end(site, number);
}

fn end(site: &Site, number: usize) {
    let (check, run) = running(&site.forge, number);
    site.forge.set_run(run, RunState::InProgress);
    site.forge.set_run(run, RunState::Completed("failure"));
    published(&site.forge, check);
}

/// The run is run again at the forge; the try that counts is read by its number.
fn run_again(site: &Site, daemon: &Daemon, number: usize) {
    letters::push(daemon, &site.webhooks, number);
    let (check, run) = running(&site.forge, number);
    site.forge.set_run(run, RunState::Completed("failure"));
    site.forge.run_again(run);
    published(&site.forge, check);
}

/// The end is not taken at first; the check run is repaired.
fn check_run_repair(site: &Site, daemon: &Daemon, number: usize) {
    letters::push(daemon, &site.webhooks, number);
    let (check, run) = running(&site.forge, number);
    site.forge.plan(Call::CheckRunUpdate, Fault::Validation422);
    site.forge.set_run(run, RunState::Completed("failure"));
    published(&site.forge, check);
}

/// An effect whose answer was lost is found, and the release goes on.
fn proof(site: &Site, daemon: &Daemon, number: usize) {
    let proved = "svc_reconciliations_total{kind=\"workflow_attempt\",outcome=\"effect_proved\",then=\"end\"}";
    let before = daemon.metric(proved);
    letters::push(daemon, &site.webhooks, number);
    super::wait_for("the effect to be proved", || (daemon.metric(proved) > before).then_some(()));
    end(site, number);
}

fn story(site: &Site, daemon: &Daemon, lost: &str) {
    let forge = &site.forge;
    super::wait_for("the lost webhook to be asked for", || {
        (forge.requests(Call::DeliveryRepeat) == 1).then_some(())
    });
    daemon.deliver(lost, &site.webhooks.push_tag("v1.0.1", &commit(1)));
    end(site, 1);
    run_again(site, daemon, 2);
    check_run_repair(site, daemon, 3);
    forge.plan(Call::Dispatch, Fault::CutAfterEffect);
    proof(site, daemon, 4);
    forge.plan(Call::CheckRunCreate, Fault::CutAfterEffect);
    forge.plan(Call::CheckRunFind, Fault::Status(500));
    proof(site, daemon, 5);
    forge.plan(Call::Dispatch, Fault::RateLimited { retry_after: 1 });
    forge.plan(Call::WorkflowRunRead, Fault::RateLimited { retry_after: 1 });
    release(site, daemon, 6);
}

#[test]
#[ignore = "tests/external/forge-contract brings the validator and runs it"]
fn every_request_and_every_answer_is_as_the_forge_describes_it() {
    let mut site = Site::new();
    let lost = "5a6c1b1e-0000-4000-8000-00000000f00d";
    site.forge.fail_delivery(lost, "push", SystemClock::new().now());
    let log = site.path("validator.log");
    let validator = Validator::start(&folder(), log, &site.forge.base_url());
    for (name, value) in [
        ("SVC_FORGE_API_URL", format!("http://127.0.0.1:{}", validator.port).as_str()),
        ("SVC_WEBHOOK_REDELIVERY", "true"),
        ("SVC_RETRY_ATTEMPTS", "2"),
        ("SVC_RECONCILIATION_POLL_MS", "100"),
        ("SVC_RECONCILIATION_DETECT_INTERVAL_MS", "100"),
        ("SVC_RECONCILIATION_OBSERVATION_SECONDS", "1"),
        ("SVC_RECONCILIATION_NEXT_CHECK_SECONDS", "1"),
    ] {
        site.set(name, value);
    }
    let installation = site.webhooks.installation;
    site.forge.change_app(|app| app.install(installation, "acme"));
    let checked = site.run(&["check-forge"]);
    assert!(checked.stdout.contains("acme: token received"), "{checked:?}");
    let mut daemon = site.start();
    story(&site, &daemon, lost);
    assert_eq!(daemon.end(rustix::process::Signal::TERM).code(), Some(0), "{}", daemon.log());
    assert_conforming(&validator, &site.forge);
    assert_strict(&validator);
    site.forge.plan(Call::CheckRunRead, Fault::Garbage);
    let read = "GET /repos/acme/site/check-runs/5 HTTP/1.1\r\nhost: x\r\nconnection: close";
    assert_eq!(validator.status_of(&format!("{read}\r\n{GOOD}\r\n")), "500");
}

/// Every request reached the forge, every answer came back, and what is complained of was planned.
fn assert_conforming(validator: &Validator, forge: &Simulator) {
    let made: usize = CALLS.iter().map(|call| forge.requests(*call)).sum();
    super::wait_for("the validator's log", || {
        (validator.lines("Request received") >= made).then_some(())
    });
    let log = validator.text();
    assert_eq!(validator.lines("Request received"), made, "{log}");
    assert_eq!(validator.lines("terminated with error: FetchError"), CUTS, "{log}");
    assert_eq!(validator.lines("terminated with error"), CUTS, "{log}");
    assert_eq!(validator.lines("Unable to match the returned status code"), STATUSES, "{log}");
    assert_eq!(validator.lines("Violation"), STATUSES, "{log}");
    // Repairs and proofs repeat nothing: no effect happened twice.
    let effects = forge.ledger();
    let once: BTreeSet<&str> = effects.iter().map(|effect| effect.key.as_str()).collect();
    assert_eq!(once.len(), effects.len(), "{effects:?}");
    for call in CALLS {
        assert!(forge.requests(call) > 0, "{call:?} was never made");
    }
}

/// The validator refuses what does not conform, so that its silence means something.
fn assert_strict(validator: &Validator) {
    let dispatch = "/repos/acme/site/actions/workflows/release.yml/dispatches";
    for (path, headers, body, status) in [
        (dispatch, GOOD, r#"{"ref":"v1"}"#, "401"),
        (dispatch, GOOD, "{}", "422"),
        (dispatch, GOOD, r#"{"ref":1}"#, "422"),
        (dispatch, &GOOD.replace("authorization", "x-other"), r#"{"ref":"v1"}"#, "401"),
        (dispatch, &GOOD.replace("svcd/1", "curl"), r#"{"ref":"v1"}"#, "422"),
        (dispatch, &GOOD.replace("2022-11-28", "2021-01-01"), r#"{"ref":"v1"}"#, "422"),
        ("/repos/acme/site/check-runs", GOOD, r#"{"name":"x"}"#, "422"),
        (
            "/repos/acme/site/check-runs",
            GOOD,
            r#"{"name":"x","head_sha":"x","status":"done"}"#,
            "422",
        ),
        ("/repos/acme/site/nothing", GOOD, "{}", "404"),
    ] {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        );
        assert_eq!(validator.status_of(&request), status, "{path} {headers} {body}");
    }
}
