//! `packaging/workflows/release.yml`, which a team copies: its scripts, run by a shell with curl as a job
//! runs them, against the real `svcd` and a simulated issuer.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use svc::forge::RUN_TITLE;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::WorkflowRun;

use super::ask::Endpoint;
use super::process::Daemon;
use super::results::Place;
use super::{commit, wait_for};

const FILE: &str = include_str!("../../../packaging/workflows/release.yml");

/// One step of the job: its environment as written, and its script.
struct Step {
    env: BTreeMap<String, String>,
    script: String,
}

/// Returns the lines below the one that is `head`, as far as they are indented more, without what they
/// are all indented by.
fn block(lines: &[&str], head: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let start = lines.iter().position(|line| line.trim_start_matches([' ', '-']) == head).unwrap();
    let depth = indent(lines[start]);
    let inside = lines[start + 1..]
        .iter()
        .take_while(|line| line.trim().is_empty() || indent(line) > depth)
        .copied();
    let inside: Vec<&str> = inside.collect();
    let own = inside.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line));
    let own = own.min().unwrap();
    inside.iter().map(|line| line.get(own..).unwrap_or_default().to_owned()).collect()
}

fn step(name: &str) -> Step {
    let lines: Vec<&str> = FILE.lines().collect();
    let step = block(&lines, &format!("name: {name}"));
    let step: Vec<&str> = step.iter().map(String::as_str).collect();
    let env = block(&step, "env:");
    let pairs = env.iter().filter_map(|line| line.split_once(": "));
    Step {
        env: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        script: block(&step, "run: |").join("\n"),
    }
}

#[test]
fn it_asks_for_what_is_dispatched_and_is_found_by_its_title() {
    let lines: Vec<&str> = FILE.lines().collect();
    let title = format!("run-name: {RUN_TITLE}${{{{ inputs.attempt_id }}}}");
    assert!(lines.contains(&title.as_str()), "{title}");
    let inputs = block(&lines, "inputs:");
    let inputs: Vec<&str> = inputs
        .iter()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.strip_suffix(':'))
        .collect();
    assert_eq!(inputs, ["release_run_id", "attempt_id", "nonce"]);
    assert!(block(&lines, "permissions:").contains(&"id-token: write".to_owned()));
    let env = step("Send the result").env;
    for (name, value) in [
        ("SVC_URL", "vars.SVC_URL"),
        ("RELEASE_RUN_ID", "inputs.release_run_id"),
        ("ATTEMPT_ID", "inputs.attempt_id"),
        ("NONCE", "inputs.nonce"),
    ] {
        assert_eq!(env[name], format!("${{{{ {value} }}}}"));
    }
    assert_eq!(step("Build the result").env["CHECKS"], "${{ steps.checks.outcome }}");
}

/// Runs the two steps that make and send a result; returns whether they went well, and what they said.
fn run(
    place: &Place,
    daemon: &Daemon,
    run: &WorkflowRun,
    checks: [(&str, &str); 5],
) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("artifact.tar"), "what is released").unwrap();
    let (url, bearer) = place.issuer.admit(run.id, place.claims(run));
    let Endpoint::Tcp(public) = &daemon.public else { panic!("the public surface is TCP") };
    let number: usize = run.git_ref.trim_start_matches('v').parse().unwrap();
    shell(
        folder.path(),
        "Build the result",
        &[&checks[..], &[("GITHUB_SHA", &commit(number))]].concat(),
    );
    shell(
        folder.path(),
        "Send the result",
        &[
            ("SVC_URL", &format!("http://{public}")),
            ("RELEASE_RUN_ID", &run.release_run),
            ("ATTEMPT_ID", &run.attempt),
            ("NONCE", &run.nonce),
            ("ACTIONS_ID_TOKEN_REQUEST_URL", &url),
            ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", &bearer),
        ],
    )
}

/// Runs the script of a step as a job does; every variable the step names must be given.
fn shell(folder: &Path, name: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let step = step(name);
    for known in step.env.keys() {
        assert!(variables.iter().any(|(given, _)| given == known), "{name}: {known}");
    }
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let output = Command::new("bash")
        .args(["-e", "-u", "-c", &step.script])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

const CLEAN: [(&str, &str); 5] =
    [("CHECKS", "success"), ("CRITICAL", "0"), ("HIGH", "0"), ("MEDIUM", "0"), ("LOW", "0")];

fn concluded(place: &Place, run: &WorkflowRun) -> String {
    wait_for("the check run to be completed", || {
        let check_run = place.check_run(run);
        check_run.conclusion.filter(|_| check_run.status == "completed")
    })
}

#[test]
fn its_scripts_end_a_release_with_curl_alone() {
    let place = Place::new();
    let daemon = place.site.start();
    let with = |name: &'static str, value: &'static str| {
        CLEAN.map(|pair| if pair.0 == name { (name, value) } else { pair })
    };
    for (number, checks, conclusion) in [
        (1, CLEAN, "success"),
        (2, with("HIGH", "2"), "neutral"),
        (3, with("CHECKS", "failure"), "failure"),
    ] {
        let dispatched = place.run(&daemon, number);
        let (went_well, said) = run(&place, &daemon, &dispatched, checks);
        assert!(went_well && said.contains("\"recorded\""), "{said}");
        assert_eq!(concluded(&place, &dispatched), conclusion);
        let (went_well, said) = run(&place, &daemon, &dispatched, checks);
        assert!(!went_well && said.contains("result_conflict"), "a refusal fails the run: {said}");
    }
}

#[test]
fn its_script_sends_the_same_again_while_keys_cannot_be_had() {
    let place = Place::new();
    place.issuer.set_down(true);
    let daemon = place.site.start();
    let dispatched = place.run(&daemon, 1);
    let (waited, said) = std::thread::scope(|scope| {
        // The issuer comes back once it was asked in vain.
        scope.spawn(|| {
            wait_for("the issuer to be asked", || (place.issuer.key_requests() > 0).then_some(()));
            place.issuer.set_down(false);
        });
        let clock = SystemClock::new();
        let said = run(&place, &daemon, &dispatched, CLEAN);
        (clock.monotonic(), said)
    });
    assert!(said.0 && said.1.contains("\"recorded\""), "{said:?}");
    assert!(waited.as_secs() >= 5, "it waits as long as it is asked to: {waited:?}");
    assert_eq!(concluded(&place, &dispatched), "success");
    assert_eq!(daemon.metric("svc_results_total{outcome=\"unavailable\"}"), 1);
}
