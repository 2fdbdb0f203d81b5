//! The forge client over real sockets: against the simulator, which keeps count of effects, and
//! against a double that answers with whatever bytes it is given.

pub(crate) mod causes;
mod double;
mod hostile;
mod issuer;
mod lookups;
mod tokens;
mod webhook_deliveries;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use secrecy::SecretString;
use svc::domain::dead_letter::ErrorClass;
use svc::domain::id::{AttemptId, CheckRunId, InstallationId};
use svc::domain::outbox::{CheckRunStatus, Effect, SendResult};
use svc::domain::reconcile::Unavailable;
use svc::domain::repository::RepositoryRef;
use svc::domain::time::Timestamp;
use svc::forge::client::ForgeClient;
use svc::forge::settings::{ApiVersion, ClientError, Settings};
use svc::forge::{
    CheckRunUpdate, Dispatch, Forge as _, NewCheckRun, Permission, Session, TokenUse,
};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;
use svc::simulator::{Call, Fault, Simulator};

use self::double::{Double, Script, http, minted_for};

const SHA: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
const TIMEOUT: Duration = Duration::from_millis(1_500);

fn repository() -> RepositoryRef {
    RepositoryRef {
        id: 7.try_into().expect("the id is positive"),
        full_name: "octo-org/app".parse().expect("the name is plain"),
    }
}

fn installation() -> InstallationId {
    42.try_into().expect("the id is positive")
}

fn attempt() -> AttemptId {
    "0199f3a0-0000-7000-8000-00000000000a".parse().expect("the id is canonical")
}

fn dispatch() -> Dispatch<'static> {
    Dispatch {
        workflow: "release it.yml",
        tag: "v1.2.3",
        release_run: uuid::Uuid::nil().into(),
        attempt: attempt(),
        nonce: "n0nce",
    }
}

fn check_run() -> NewCheckRun<'static> {
    NewCheckRun { name: "svc release", head_sha: SHA, attempt: attempt() }
}

fn update(check_run: CheckRunId, status: CheckRunStatus) -> CheckRunUpdate<'static> {
    let name = Some("svc release");
    CheckRunUpdate { check_run, attempt: attempt(), head_sha: SHA, name, status }
}

fn settings(base_url: String) -> Settings {
    // Any simulator's key is every simulator's key.
    let simulator = Simulator::start().expect("the system has a port");
    Settings {
        base_url,
        app_id: simulator.app_id(),
        private_key: SecretString::from(simulator.private_key_pem()),
        api_version: ApiVersion::V2022_11_28,
        timeout: TIMEOUT,
        timeout_connect: TIMEOUT,
        root_certificate: None,
    }
}

fn client(settings: Settings) -> ForgeClient {
    ForgeClient::new(settings, Arc::new(SystemClock::new()), Arc::default(), Notify::new())
        .expect("the settings are good")
}

fn start() -> (Simulator, ForgeClient) {
    let simulator = Simulator::start().expect("the system has a port");
    simulator.add_repository(&repository());
    let client = client(settings(simulator.base_url()));
    (simulator, client)
}

fn open(client: &ForgeClient, permission: Permission) -> Box<dyn Session + '_> {
    client
        .open(installation(), &repository(), permission, TokenUse::Own, &|| Ok(()))
        .expect("a token is minted")
}

fn open_dispatch(client: &ForgeClient) -> SendResult {
    match client.open(
        installation(),
        &repository(),
        Permission::ActionsWrite,
        TokenUse::Own,
        &|| Ok(()),
    ) {
        Ok(mut session) => session.dispatch_workflow(&dispatch()),
        Err(result) => result,
    }
}

#[test]
fn a_dispatch_starts_one_run_and_learns_its_number_where_the_forge_tells_it() {
    for (api_version, tells) in [
        (ApiVersion::V2022_11_28, true),
        (ApiVersion::V2026_03_10, true),
        (ApiVersion::Ghes, false),
    ] {
        let simulator = Simulator::start().expect("the system has a port");
        simulator.add_repository(&repository());
        let client = client(Settings { api_version, ..settings(simulator.base_url()) });
        let result = open_dispatch(&client);
        let runs = simulator.workflow_runs();
        assert_eq!(runs.len(), 1);
        let id = runs[0].id.try_into().expect("the id is positive");
        assert_eq!(result, SendResult::Dispatched(tells.then_some(id)), "{api_version:?}");
        assert_eq!(runs[0].workflow, "release it.yml");
        assert_eq!((runs[0].git_ref.as_str(), runs[0].nonce.as_str()), ("v1.2.3", "n0nce"));
        let effect = Effect::WorkflowDispatch {
            workflow: String::new(),
            tag: String::new(),
            nonce: String::new(),
        };
        assert_eq!(simulator.ledger()[0].key, effect.key(attempt()));
        assert_eq!((simulator.requests(Call::Mint), simulator.requests(Call::Dispatch)), (1, 1));
    }
}

#[test]
fn a_dispatch_runs_on_the_tag_though_a_branch_has_its_name() {
    let (simulator, client) = start();
    simulator.add_tag(repository().id, dispatch().tag, SHA);
    simulator.add_branch(repository().id, dispatch().tag, &"0".repeat(40));
    assert!(matches!(open_dispatch(&client), SendResult::Dispatched(Some(_))));
    let run = simulator.workflow_runs().remove(0);
    assert_eq!((run.git_ref.as_str(), run.head_sha.as_str()), ("v1.2.3", SHA));
}

#[test]
fn a_check_run_is_created_found_and_moved() {
    let (simulator, client) = start();
    let mut session = open(&client, Permission::ChecksWrite);
    assert_eq!(session.find_check_run(&check_run()), Ok(None));
    let SendResult::CheckRunExists(id) = session.create_check_run(&check_run()) else {
        panic!("the check run was created")
    };
    assert_eq!(session.find_check_run(&check_run()), Ok(Some(id)));
    // A second one, as a lost answer leaves it: the first made is the one.
    assert_ne!(session.create_check_run(&check_run()), SendResult::CheckRunExists(id));
    assert_eq!(session.find_check_run(&check_run()), Ok(Some(id)));
    let other = "0199f3a0-0000-7000-8000-00000000000b".parse().expect("the id is canonical");
    let unknown = NewCheckRun { attempt: other, ..check_run() };
    assert_eq!(session.find_check_run(&unknown), Ok(None));
    let moved = session.update_check_run(&update(id, CheckRunStatus::InProgress));
    assert_eq!(moved, SendResult::CheckRunUpdated);
    assert_eq!(simulator.check_runs()[0].status, "in_progress");
    let keys: Vec<String> = simulator.ledger().into_iter().map(|effect| effect.key).collect();
    let update = Effect::CheckRunUpdate { status: CheckRunStatus::InProgress };
    assert_eq!(keys[2], update.key(attempt()));
    assert_eq!(simulator.requests(Call::Mint), 1);
}

#[test]
fn every_fault_of_a_dispatch_has_its_class_and_none_doubles_it() {
    use SendResult::{Refused, Uncertain};
    let slow = Fault::Slow(TIMEOUT * 2);
    for (fault, wanted, requests, effects) in [
        (Fault::Validation422, Refused(ErrorClass::Validation), 1, 0),
        (Fault::Status(400), Refused(ErrorClass::Validation), 1, 0),
        (Fault::Status(500), Uncertain(ErrorClass::Unavailable, None), 1, 0),
        (Fault::Status(502), Uncertain(ErrorClass::Unavailable, None), 1, 0),
        (Fault::Status(410), Uncertain(ErrorClass::Protocol, None), 1, 0),
        (Fault::Status(202), Uncertain(ErrorClass::Protocol, None), 1, 0),
        (Fault::CutBeforeEffect, Uncertain(ErrorClass::Unavailable, None), 1, 0),
        (Fault::CutAfterEffect, Uncertain(ErrorClass::Unavailable, None), 1, 1),
        (Fault::Garbage, Uncertain(ErrorClass::Protocol, None), 1, 1),
        (slow, Uncertain(ErrorClass::Unavailable, None), 1, 0),
    ] {
        let (simulator, client) = start();
        simulator.plan(Call::Dispatch, fault);
        assert_eq!(open_dispatch(&client), wanted, "{fault:?}");
        assert_eq!(simulator.requests(Call::Dispatch), requests, "{fault:?}");
        assert_eq!(simulator.ledger().len(), effects, "{fault:?}");
    }
}

#[test]
fn check_runs_fail_by_what_repeating_them_would_do() {
    let (simulator, client) = start();
    let mut session = open(&client, Permission::ChecksWrite);
    let uncertain = SendResult::Uncertain(ErrorClass::Unavailable, None);
    simulator.plan(Call::CheckRunCreate, Fault::CutAfterEffect);
    assert_eq!(session.create_check_run(&check_run()), uncertain);
    let Ok(Some(id)) = session.find_check_run(&check_run()) else { panic!("it was created") };
    for (fault, wanted) in [
        (Fault::CutAfterEffect, uncertain),
        (Fault::Status(503), uncertain),
        (Fault::Status(409), SendResult::Refused(ErrorClass::Protocol)),
        (Fault::Garbage, SendResult::Uncertain(ErrorClass::Protocol, None)),
    ] {
        simulator.plan(Call::CheckRunUpdate, fault);
        let result = session.update_check_run(&update(id, CheckRunStatus::InProgress));
        assert_eq!(result, wanted, "{fault:?}");
    }
    for (fault, class) in [
        (Fault::CutBeforeEffect, ErrorClass::Unavailable),
        (Fault::Status(500), ErrorClass::Unavailable),
        (Fault::Status(204), ErrorClass::Protocol),
        (Fault::Garbage, ErrorClass::Protocol),
        (Fault::Validation422, ErrorClass::Validation),
    ] {
        simulator.plan(Call::CheckRunFind, fault);
        let found = session.find_check_run(&check_run());
        assert_eq!(found, Err(Unavailable { class, wait_until: None }), "{fault:?}");
    }
    let unknown = CheckRunId::try_from(1).expect("the id is positive");
    let result = session.update_check_run(&update(unknown, CheckRunStatus::InProgress));
    assert_eq!(result, SendResult::Refused(ErrorClass::NotFound));
}

#[test]
fn a_limit_names_the_instant_to_wait_for() {
    let (simulator, client) = start();
    let clock = SystemClock::new();
    let fault = Fault::RateLimited { retry_after: 90 };
    let is_stated = |until: Timestamp, before: Timestamp| {
        until >= before.plus(Duration::from_secs(90))
            && until <= clock.now().plus(Duration::from_secs(90))
    };
    for call in [Call::Mint, Call::Dispatch] {
        simulator.plan(call, fault);
        let before = clock.now();
        let SendResult::RateLimited(until) = open_dispatch(&client) else { panic!("{call:?}") };
        assert!(is_stated(until, before), "{call:?}");
    }
    let mut session = open(&client, Permission::ChecksWrite);
    simulator.plan(Call::CheckRunFind, fault);
    let found = session.find_check_run(&check_run());
    let why = found.unwrap_err();
    assert!(why.class == ErrorClass::RateLimited && why.wait_until.is_some(), "{why:?}");
    simulator.plan(Call::CheckRunCreate, Fault::Status(429));
    let result = session.create_check_run(&check_run());
    assert!(
        matches!(result, SendResult::Uncertain(ErrorClass::RateLimited, Some(_))),
        "{result:?}"
    );
    assert_eq!(simulator.requests(Call::Dispatch), 1);
    assert!(simulator.ledger().is_empty());
}

#[test]
fn what_may_be_lag_is_told_at_once_and_not_repeated_here() {
    let (simulator, client) = start();
    for (count, (status, class)) in [
        (401, ErrorClass::Authentication),
        (403, ErrorClass::Permission),
        (404, ErrorClass::NotFound),
    ]
    .into_iter()
    .enumerate()
    {
        simulator.plan(Call::Dispatch, Fault::Status(status));
        assert_eq!(open_dispatch(&client), SendResult::Refused(class), "{status}");
        assert_eq!(simulator.requests(Call::Dispatch), count + 1, "{status}");
    }
    assert!(simulator.ledger().is_empty());
}

#[test]
fn the_gate_is_asked_before_every_exchange() {
    let (simulator, client) = start();
    let until = Timestamp::from_micros(7);
    // How many exchanges it lets pass: the token's, the call's, the one where the repository has moved to.
    let name = "octo-org/renamed".parse().expect("the name is plain");
    simulator.rename_repository(repository().id, &name);
    for open_for in 0..3 {
        let asked = AtomicUsize::new(0);
        let gate = || {
            let before = asked.fetch_add(1, Ordering::Relaxed);
            if before < open_for { Ok(()) } else { Err(SendResult::Deferred(until)) }
        };
        let opened = client.open(
            installation(),
            &repository(),
            Permission::ActionsWrite,
            TokenUse::Own,
            &gate,
        );
        let told = match opened {
            Ok(mut session) => session.dispatch_workflow(&dispatch()),
            Err(stopped) => stopped,
        };
        assert_eq!(told, SendResult::Deferred(until), "{open_for}");
        assert_eq!(asked.load(Ordering::Relaxed), open_for + 1);
    }
    assert_eq!((simulator.requests(Call::Mint), simulator.requests(Call::Dispatch)), (2, 1));
    assert!(simulator.ledger().is_empty());
}

/// How a check run that is updated can come back as another one, or in another state.
#[test]
fn an_update_is_confirmed_by_the_whole_check_run_and_nothing_else() {
    let shown = |changes: &[(&str, serde_json::Value)]| {
        let mut shown = serde_json::json!({
            "id": 5, "name": "svc release", "head_sha": SHA, "status": "in_progress",
            "external_id": attempt().to_string(), "conclusion": null, "app": {"id": 424_242},
        });
        for (name, value) in changes {
            shown[name] = value.clone();
        }
        shown.to_string()
    };
    let null = serde_json::Value::Null;
    for (changes, wanted) in [
        (vec![], SendResult::CheckRunUpdated),
        (vec![("id", 6.into())], SendResult::CheckRunMismatch),
        (vec![("external_id", "another's".into())], SendResult::CheckRunMismatch),
        (vec![("external_id", null.clone())], SendResult::CheckRunMismatch),
        (vec![("head_sha", "0".repeat(40).into())], SendResult::CheckRunMismatch),
        (vec![("name", "another".into())], SendResult::CheckRunMismatch),
        (vec![("status", "queued".into())], SendResult::CheckRunMismatch),
        (vec![("status", null)], SendResult::CheckRunMismatch),
        (vec![("conclusion", "success".into())], SendResult::CheckRunMismatch),
    ] {
        let answer = Script::Close(http(200, "", &shown(&changes)));
        let double = Double::start(vec![minted_for(Permission::ChecksWrite), answer]);
        let client = client(settings(double.base_url()));
        let mut session = open(&client, Permission::ChecksWrite);
        let id = 5.try_into().expect("the id is positive");
        let told = session.update_check_run(&update(id, CheckRunStatus::InProgress));
        assert_eq!(told, wanted, "{changes:?}");
    }
}

#[test]
fn a_mint_is_repeated_once_and_every_failure_of_it_is_harmless() {
    use SendResult::{NotSent, TokenRefused};
    let (simulator, client) = start();
    simulator.plan(Call::Mint, Fault::Status(401));
    assert!(matches!(open_dispatch(&client), SendResult::Dispatched(_)));
    assert_eq!(simulator.requests(Call::Mint), 2);
    for (faults, wanted) in [
        (vec![Fault::Status(401); 2], TokenRefused(ErrorClass::Authentication)),
        (vec![Fault::Status(403)], TokenRefused(ErrorClass::Permission)),
        (vec![Fault::Status(404)], TokenRefused(ErrorClass::NotFound)),
        (vec![Fault::Validation422], TokenRefused(ErrorClass::Validation)),
        (vec![Fault::Status(301)], TokenRefused(ErrorClass::Protocol)),
        (vec![Fault::Garbage], TokenRefused(ErrorClass::Protocol)),
        (vec![Fault::Status(500)], NotSent(ErrorClass::Unavailable, None)),
        (vec![Fault::CutAfterEffect], NotSent(ErrorClass::Unavailable, None)),
    ] {
        let before = simulator.requests(Call::Mint);
        faults.iter().for_each(|fault| simulator.plan(Call::Mint, *fault));
        assert_eq!(open_dispatch(&client), wanted, "{faults:?}");
        assert_eq!(simulator.requests(Call::Mint) - before, faults.len(), "{faults:?}");
    }
    assert_eq!(simulator.ledger().len(), 1);
}

#[test]
fn a_renamed_repository_is_followed_once_to_its_number() {
    let (simulator, client) = start();
    let name = "octo-org/renamed".parse().expect("the name is plain");
    simulator.rename_repository(repository().id, &name);
    assert!(matches!(open_dispatch(&client), SendResult::Dispatched(Some(_))));
    let mut session = open(&client, Permission::ChecksWrite);
    let SendResult::CheckRunExists(id) = session.create_check_run(&check_run()) else {
        panic!("the check run was created")
    };
    assert_eq!(session.find_check_run(&check_run()), Ok(Some(id)));
    let moved = session.update_check_run(&update(id, CheckRunStatus::InProgress));
    assert_eq!(moved, SendResult::CheckRunUpdated);
    assert_eq!(simulator.ledger().len(), 3);
    assert!(simulator.ledger()[0].path.starts_with("/repositories/7/actions/"));
}

#[test]
fn bad_settings_are_refused_and_not_shown() {
    let new = |settings| {
        let clock = Arc::new(SystemClock::new());
        ForgeClient::new(settings, clock, Arc::default(), Notify::new()).err()
    };
    let good = || settings("https://forge.example".to_owned());
    assert_eq!(new(good()), None);
    // The same throw-away key as the simulator's, in the other form.
    let private_key = include_str!("../data/throwaway-key-pkcs8.pem").into();
    assert_eq!(new(Settings { private_key, ..good() }), None);
    let url = settings("http://forge.example".to_owned());
    assert_eq!(new(url), Some(ClientError::BaseUrl));
    for key in ["", "x", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"] {
        let private_key = SecretString::from(key);
        let error = new(Settings { private_key, ..good() });
        assert_eq!(error, Some(ClientError::PrivateKey), "{key}");
    }
    for pem in ["", "x", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
        let root_certificate = Some(pem.as_bytes().to_vec());
        let error = new(Settings { root_certificate, ..good() });
        assert_eq!(error, Some(ClientError::RootCertificate), "{pem}");
    }
    assert!(!format!("{:?}", good()).contains("MII"));
}
