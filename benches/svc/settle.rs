//! Settling stuck attempts: two reconcilers against a simulated forge on sockets, beside as many raw
//! requests to the same forge.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use secrecy::SecretString;
use svc::domain::id::AttemptId;
use svc::domain::outbox::{Effect, EffectKind, SendResult};
use svc::domain::reconcile::Rules;
use svc::forge::client::ForgeClient;
use svc::forge::settings::{ApiVersion, Settings};
use svc::metrics::Metrics;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;
use svc::simulator::{Call, RunState, Simulator, WorkflowRun};
use svc::store::Store;
use svc::workers::driver::{Next, Worker as _};
use svc::workers::reconcile::{Detect, Reconcile};
use svc::workers::shares::Shares;

use crate::support::{Folder, callers, drive, heading, line, open_raw, open_store};
use crate::verbs::CALLERS;
use crate::work;

const ATTEMPTS: usize = 10_000;
/// So many that none has more attempts than it may be looked at in a minute.
const INSTALLATIONS: usize = 250;
const RECONCILERS: usize = 2;
const RULES: Rules = Rules {
    // Everything that runs is stuck at once.
    observation: Duration::ZERO,
    deadline: Duration::from_secs(1_800),
    next_check: Duration::from_secs(60),
};

pub(crate) fn run() {
    heading(
        &format!(
            "settle: {ATTEMPTS} stuck attempts of {INSTALLATIONS} installations, {RECONCILERS} reconcilers"
        ),
        ["svc", "raw requests", "ratio", "aim"],
    );
    let folder = Folder::new();
    let path = folder.path("settle.db");
    let store = open_store(&path);
    let forge = Simulator::start().unwrap();
    (0..INSTALLATIONS).for_each(|number| forge.add_repository(&work::repository_of(number)));
    stick(&store, &forge);
    let client = Arc::new(client(forge.base_url()));
    let detect = timed(|| detect(&store));
    let settle = timed(|| reconcile(&store, &client));
    assert_eq!(left(&path), 0, "every attempt was settled");
    let calls = [Call::Mint, Call::WorkflowRunRead].map(|call| forge.requests(call));
    let raw = raw_requests(&forge);
    let seconds = |took: Duration| format!("{:.1} s", took.as_secs_f64());
    line("detect", [seconds(detect), String::new(), String::new(), String::new()]);
    let ratio = format!("{:.2}", settle.as_secs_f64() / raw.as_secs_f64());
    line("look at each and settle it", [seconds(settle), seconds(raw), ratio, String::new()]);
    let made: usize = calls.iter().sum();
    let ratio = format!("{:.2}", made as f64 / (2 * ATTEMPTS) as f64);
    line("forge calls", [made.to_string(), (2 * ATTEMPTS).to_string(), ratio, "1.00".to_owned()]);
}

fn timed(work: impl FnOnce()) -> Duration {
    let clock = SystemClock::new();
    work();
    clock.monotonic()
}

/// Returns a client of a forge that knows the simulator's app.
pub(crate) fn client(base_url: String) -> ForgeClient {
    // Any simulator's key is every simulator's key.
    let simulator = Simulator::start().unwrap();
    let settings = Settings {
        base_url,
        app_id: simulator.app_id(),
        private_key: SecretString::from(simulator.private_key_pem()),
        api_version: ApiVersion::V2022_11_28,
        timeout: Settings::TIMEOUT,
        timeout_connect: Settings::TIMEOUT_CONNECT,
        root_certificate: None,
    };
    let clock = Arc::new(SystemClock::new());
    ForgeClient::new(settings, clock, Arc::default(), Notify::new()).unwrap()
}

/// Makes attempts that run, in the store and at the forge, where their runs have failed since.
fn stick(store: &Store, forge: &Simulator) {
    callers(CALLERS, ATTEMPTS, |number| {
        store.record_delivery(work::release_of(number, INSTALLATIONS)).unwrap();
        crate::verbs::claim_and_run(store);
    });
    // Three effects of each: its check run, its dispatch, and that the check run shows it.
    let commits = Mutex::new(BTreeMap::new());
    callers(CALLERS, 3 * ATTEMPTS, |number| send(store, forge, &commits, number));
}

type Commits = Mutex<BTreeMap<AttemptId, String>>;

fn send(store: &Store, forge: &Simulator, commits: &Commits, number: usize) {
    let claim = loop {
        let claimed = store.claim_message("bench", work::POLICY, work::pace(), Vec::new()).unwrap();
        if let Some(claim) = claimed {
            break claim;
        }
    };
    let known = i64::try_from(number + 1).unwrap();
    let message = &claim.item;
    let result = match message.kind {
        EffectKind::CheckRunCreate => {
            let Some(Effect::CheckRunCreate { head_sha, .. }) = &message.effect else {
                panic!("the payload can be read")
            };
            commits.lock().unwrap().insert(message.attempt, head_sha.clone());
            SendResult::CheckRunExists(known.try_into().unwrap())
        }
        EffectKind::WorkflowDispatch => {
            forge.add_run(WorkflowRun {
                release_run: String::new(),
                id: known,
                repository: message.repository.as_ref().unwrap().id,
                workflow: "release.yml".to_owned(),
                git_ref: "v1.2.3".to_owned(),
                head_sha: commits.lock().unwrap().get(&message.attempt).unwrap().clone(),
                attempt: message.attempt.to_string(),
                nonce: String::new(),
                created_at: SystemClock::new().now(),
                tries: vec![RunState::Completed("failure")],
            });
            SendResult::Dispatched(Some(known.try_into().unwrap()))
        }
        EffectKind::CheckRunUpdate => SendResult::CheckRunUpdated,
    };
    store.settle_message(&claim, result, false, None, work::RETRY).unwrap();
}

fn detect(store: &Store) {
    let mut detect = Detect {
        store: store.clone(),
        clock: Arc::new(SystemClock::new()),
        rules: RULES,
        reconcile: Notify::new(),
        inbox_after: None,
    };
    while detect.step() == Next::Now {}
}

fn reconcile(store: &Store, client: &Arc<ForgeClient>) {
    let shares = Shares::of_pool(u64::MAX);
    std::thread::scope(|scope| {
        for number in 0..RECONCILERS {
            let mut reconcile = Reconcile {
                kinds: Reconcile::AT_THE_FORGE,
                store: store.clone(),
                forge: Arc::<ForgeClient>::clone(client),
                owner: format!("bench-{number}"),
                rules: RULES,
                pace: work::pace(),
                shares: shares.clone(),
                notify: Notify::new(),
                outbox: Notify::new(),
                jobs: Notify::new(),
                metrics: Arc::new(Metrics::default()),
            };
            scope.spawn(move || while reconcile.step() == Next::Now {});
        }
    });
}

/// Returns how many releases have not ended.
fn left(path: &Path) -> i64 {
    let sql = "SELECT count(*) FROM release_runs WHERE status <> 'failed'";
    open_raw(path).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// A token and a run for each attempt, by as many callers, of which each writes bytes and reads bytes: no
/// signing anew, no parsing, no store.
fn raw_requests(forge: &Simulator) -> Duration {
    let base = forge.base_url();
    let (address, prefix) = base.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let app = credential(forge);
    let ask = |method: &str, path: &str, bearer: &str, body: &str| {
        let length = body.len();
        let request = format!(
            "{method} /{prefix}{path} HTTP/1.1\r\nhost: {address}\r\nuser-agent: svcd/raw\r\n\
             authorization: Bearer {bearer}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let runs = forge.workflow_runs();
    let run = drive(
        RECONCILERS,
        ATTEMPTS,
        || (),
        |(), number| {
            let run = runs.get(number).unwrap();
            let body = format!(
                r#"{{"repository_ids":[{}],"permissions":{{"actions":"read"}}}}"#,
                run.repository
            );
            let minted = ask("POST", "/app/installations/1/access_tokens", &app, &body);
            let token = minted.split("\"token\":\"").nth(1).unwrap().split('"').next().unwrap();
            let path = format!("/repositories/{}/actions/runs/{}", run.repository, run.id);
            let answer = ask("GET", &path, token, "");
            assert!(answer.contains("\"conclusion\":\"failure\""), "{answer}");
        },
    );
    Duration::from_secs_f64(ATTEMPTS as f64 / run.per_second())
}

fn credential(forge: &Simulator) -> String {
    let now = SystemClock::new().now().micros() / 1_000_000;
    let claims =
        serde_json::json!({"iss": forge.app_id().to_string(), "iat": now - 60, "exp": now + 480});
    let key = EncodingKey::from_rsa_pem(forge.private_key_pem().as_bytes()).unwrap();
    encode(&Header::new(Algorithm::RS256), &claims, &key).unwrap()
}
