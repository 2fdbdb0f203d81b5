//! What `{:?}` shows of values that hold a secret or what tenants wrote: nothing of it, so that no
//! line, panic or error that formats one can tell. A type that comes to hold such a thing must be
//! listed here.

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{HeaderMap, Method};
use svc::api::Tag;
use svc::auth::operator::Operators;
use svc::config::{Config, ForgeConfig, OperatorConfig, ResultConfig, Source};
use svc::domain::delivery::NewDelivery;
use svc::domain::event::{AccountName, Action, CommitSha, GitRef, InstallationState};
use svc::domain::job::{Change, Job};
use svc::domain::outbox::{Effect, EffectKind, OutboxMessage};
use svc::domain::reconcile::ReconcileReason;
use svc::domain::reconcile::task::{
    CheckRun, Creation, Dispatch, ReconcileTask, Subject, WorkflowRun,
};
use svc::domain::release::{Conclusion, Decision};
use svc::domain::repository::RepositoryRef;
use svc::domain::result::ResultReport;
use svc::domain::time::Timestamp;
use svc::forge::payload::Normalised;
use svc::forge::settings::{ApiVersion, Settings};
use svc::forge::signature::Secrets;
use svc::http::message::{Admitted, Body, Head, Request, Response, Surface};

/// Part of whatever must not be seen; hex digits, so that a commit can hold it.
const MARK: &str = "cafe0123cafe4567";

/// Types with such fields, by name. `Debug` of each is formatted below, of `Config` by its parts.
const LISTED: [&str; 26] = [
    "AccountName",
    "Action",
    "Change",
    "CheckRun",
    "CommitSha",
    "Config",
    "Creation",
    "Dispatch",
    "Effect",
    "ForgeConfig",
    "GitRef",
    "Head",
    "Job",
    "OutboxMessage",
    "NewDelivery",
    "Normalised",
    "ReconcileTask",
    "OperatorConfig",
    "ResultReport",
    "ResultConfig",
    "Operators",
    "RepositoryRef",
    "Secrets",
    "Settings",
    "Tag",
    "WorkflowRun",
];
/// What fields hold that must not be seen.
const TELLING: [&str; 9] = [
    "SecretString",
    "HeaderMap",
    "AccountName",
    "CommitSha",
    "GitRef",
    "RepositoryName",
    "RepositoryRef",
    "Action",
    "Effect",
];

fn assert_silent(what: &str, value: &dyn Debug) {
    for shown in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!shown.contains(MARK), "{what}: {shown}");
        // As bytes are shown.
        let bytes = MARK.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
        assert!(!shown.contains(&bytes), "{what}: {shown}");
    }
}

fn commit() -> CommitSha {
    CommitSha::new(&format!("{MARK}{}", "a".repeat(24))).unwrap()
}

fn git_ref() -> GitRef {
    GitRef::new(&format!("refs/tags/{MARK}")).unwrap()
}

fn repository() -> RepositoryRef {
    RepositoryRef {
        id: 1.try_into().unwrap(),
        full_name: format!("{MARK}/{MARK}").parse().unwrap(),
    }
}

fn installation_action() -> Action {
    Action::Installation {
        state: Some(InstallationState::Active),
        account: AccountName::new(MARK),
        added: vec![repository()],
        removed: vec![repository()],
    }
}

#[test]
fn what_tenants_wrote_is_not_shown() {
    let release = || Action::Release { git_ref: git_ref(), head_sha: commit(), owner: None };
    assert_silent("CommitSha", &commit());
    assert_silent("GitRef", &git_ref());
    assert_silent("Tag", &Tag::parse(MARK).unwrap());
    assert_silent("AccountName", &AccountName::new(MARK));
    assert_silent("RepositoryRef", &repository());
    for action in [release(), installation_action()] {
        assert_silent("Action", &action);
        assert_silent(
            "Job",
            &Job {
                id: uuid::Uuid::nil().into(),
                installation: 1.try_into().unwrap(),
                repository: Some(repository()),
                action: Some(action.clone()),
                attempt: 1,
            },
        );
        assert_silent(
            "Normalised",
            &Normalised {
                event: "push",
                installation: None,
                repository: Some(repository()),
                action: Some(action.clone()),
            },
        );
        let id = "id".parse().unwrap();
        let (repository, action) = (Some(repository()), Some(action));
        let delivery = NewDelivery {
            id,
            event: "push",
            installation: None,
            repository,
            body_sha256: [7; 32].into(),
            action,
        };
        assert_silent("NewDelivery", &delivery);
    }
    for change in [
        Change::StartRelease {
            repository: repository(),
            git_ref: git_ref(),
            head_sha: commit(),
            owner: None,
        },
        Change::RecordInstallation {
            state: None,
            account: AccountName::new(MARK),
            added: vec![repository()],
            removed: Vec::new(),
        },
    ] {
        assert_silent("Change", &change);
    }
}

#[test]
fn what_is_sent_for_tenants_is_not_shown() {
    let text = || MARK.to_owned();
    for (kind, effect) in [
        (
            EffectKind::WorkflowDispatch,
            Effect::WorkflowDispatch { workflow: text(), tag: text(), nonce: text() },
        ),
        (EffectKind::CheckRunCreate, Effect::CheckRunCreate { name: text(), head_sha: text() }),
    ] {
        assert_silent("Effect", &effect);
        let nil = uuid::Uuid::nil();
        let message = OutboxMessage {
            id: nil.into(),
            installation: 1.try_into().unwrap(),
            repository: Some(repository()),
            release_run: nil.into(),
            attempt: nil.into(),
            head_sha: Some(commit()),
            check_run: None,
            check_run_name: None,
            check_run_is_ours: true,
            effect: Some(effect),
            kind,
            try_count: 1,
            lag_count: 0,
            sent_before: false,
        };
        assert_silent("OutboxMessage", &message);
    }
}

#[test]
fn what_is_looked_at_and_reported_is_not_shown() {
    let nil = uuid::Uuid::nil();
    let (attempt, head_sha) = (nil.into(), commit());
    let dispatch =
        Dispatch { attempt, workflow: String::new(), head_sha, began_at: Timestamp::MIN };
    assert_silent("Dispatch", &dispatch);
    let creation = Creation { attempt, name: String::new(), head_sha: commit() };
    assert_silent("Creation", &creation);
    let run = WorkflowRun {
        attempt,
        run: 1.try_into().unwrap(),
        run_attempt: 1,
        repository: 1.try_into().unwrap(),
        head_sha: commit(),
        workflow: None,
    };
    assert_silent("WorkflowRun", &run);
    let check_run = CheckRun {
        release_run: nil.into(),
        attempt,
        check_run: 1.try_into().unwrap(),
        name: None,
        head_sha: commit(),
        conclusion: Conclusion::Neutral,
        completed_at: Timestamp::MIN,
        unconfirmed: false,
        refused_state: None,
    };
    assert_silent("CheckRun", &check_run);
    let task = ReconcileTask {
        id: nil.into(),
        reason: ReconcileReason::ReportingStale,
        deadline: Timestamp::MIN,
        installation: 1.try_into().unwrap(),
        repository: Some(repository()),
        subject: Subject::CheckRun(check_run),
    };
    assert_silent("ReconcileTask", &task);
    let report = ResultReport { decision: Decision::Rejected, head_commit: commit() };
    assert_silent("ResultReport", &report);
}

#[test]
fn what_peers_sent_and_are_answered_is_not_shown() {
    let mut headers = HeaderMap::new();
    for name in ["authorization", "x-hub-signature-256", "idempotency-key", "x-github-delivery"] {
        headers.insert(name, format!("Bearer {MARK}").parse().unwrap());
    }
    let head = Head {
        surface: Surface::Public,
        method: Method::POST,
        path: "/webhooks/forge".to_owned(),
        query: Some(format!("token={MARK}")),
        headers: headers.clone(),
        peer: None,
    };
    assert_silent("Head", &head);
    let answer = |_: &Request| Response::new(http::StatusCode::OK, "text/plain", MARK);
    assert_silent("Admitted", &Admitted::new(head.clone(), 1, answer));
    assert_silent("Request", &Request { head, body: MARK.into(), long_lived: None });
    let answer = Response { status: http::StatusCode::OK, headers, body: Body::Whole(MARK.into()) };
    assert_silent("Response", &answer);
}

#[test]
fn what_operators_configured_as_secret_is_not_shown() {
    let operator = || OperatorConfig { token: MARK.into(), actor: "ops".to_owned() };
    assert_silent("OperatorConfig", &operator());
    assert_silent("Operators", &Operators::new(operator()));
    assert_silent("Secrets", &Secrets::new(vec![MARK.into(), MARK.into()]).unwrap());
    let forge = ForgeConfig {
        webhook_secrets: vec![MARK.into(), MARK.into()],
        webhook_body_bytes: 1,
        app_id: 1.try_into().unwrap(),
        private_key: MARK.into(),
        api_url: "https://forge.example".to_owned(),
        api_version: ApiVersion::Ghes,
        root_certificate: None,
        writes: svc::domain::pace::Pace::per_minute(60),
        release_tag_pattern: glob::Pattern::new("v*").unwrap(),
        webhook_redelivery: false,
        release_workflow: "release.yml".to_owned(),
        check_run_name: "release".to_owned(),
        results: ResultConfig { issuers: Vec::new(), secrets: vec![MARK.into(), MARK.into()] },
    };
    assert_silent("ForgeConfig", &forge);
    assert_silent("ResultConfig", &forge.results);
    let settings = Settings {
        base_url: "https://forge.example".to_owned(),
        app_id: 1.try_into().unwrap(),
        private_key: MARK.into(),
        api_version: ApiVersion::Ghes,
        timeout: Duration::ZERO,
        timeout_connect: Duration::ZERO,
        root_certificate: None,
    };
    assert_silent("Settings", &settings);
    let token = format!("{MARK}{MARK}");
    let variables = [("SVC_OPERATOR_API_TOKEN", token.as_str()), ("SVC_OPERATOR_ACTOR_ID", "ops")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_silent("Config", &Config::load(Source::of(variables)).unwrap());
}

/// Looks at the fields of every type that derives `Debug`.
#[test]
fn no_type_that_could_tell_is_forgotten() {
    let own = include_str!("debug.rs");
    let mut found = Vec::new();
    let all = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    // The double of the forge is the other side.
    for path in all.iter().filter(|path| !path.to_string_lossy().contains("src/simulator")) {
        let text = fs::read_to_string(path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for declared in text.split("#[derive(").skip(1).filter(|rest| derives_debug(rest)) {
            let Some((_, declared)) = declared.split_once("pub ") else { continue };
            let body = declared.split("\n}").next().unwrap();
            let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '_');
            let is_type = words.next().is_some_and(|word| ["struct", "enum"].contains(&word));
            let name = words.next().unwrap_or_default();
            // Those of the relay are closed sets of words.
            let is_word = |word: &str| {
                path.to_string_lossy().contains("/relay") && ["Action", "Effect"].contains(&word)
            };
            if is_type && words.any(|word| TELLING.contains(&word) && !is_word(word)) {
                found.push(name.to_owned());
                assert!(LISTED.contains(&name), "{}: {name} is not listed", path.display());
            }
        }
    }
    assert!(found.len() > 8, "{found:?}");
    for name in LISTED {
        let named = own.matches(&format!("\"{name}\",")).count();
        assert!(named > 1, "{name} is listed, and nothing formats one");
    }
}

fn derives_debug(declared: &str) -> bool {
    declared.split(')').next().unwrap().contains("Debug")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
