//! A whole service in process: store, use cases, routes and workers, on a temporary file.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use svc::app::relay::{Relay, Settings};
use svc::app::{App, CARD_CHECKS_MAX, IntakeRules, Refused, Reload, ResultRules, WorkerNotify};
use svc::auth::operator::Operators;
use svc::auth::shared_secret;
use svc::auth::workload::ALGORITHMS;
use svc::config::{OperatorConfig, SecretDigests};
use svc::domain::id::InstallationId;
use svc::domain::pace::Pace;
use svc::domain::reconcile::{ReconcileKind, Rules};
use svc::domain::retry::RetryPolicy;
use svc::domain::time::Timestamp;
use svc::forge::{payload, signature};
use svc::http::fixture;
use svc::http::gate::Gate;
use svc::http::mcp::McpEndpoint;
use svc::http::message::{Answer, Head, Response, Service as _, Surface};
use svc::http::routes::Router;
use svc::jwks::JwksCache;
use svc::metrics::Metrics;
use svc::runtime::clock::Clock;
use svc::runtime::notify::Notify;
use svc::runtime::random::Ids;
use svc::runtime::semaphore::Semaphore;
use svc::runtime::watch::Watch;
use svc::simulator::{Issuer, Webhook, Webhooks, sign};
use svc::store::{LogRules, NewRelease, Options, Store};
use svc::workers::driver::{Next, Worker as _};
use svc::workers::jobs::{Jobs, Unreturned};
use svc::workers::outbox::Outbox;
use svc::workers::reconcile::{Detect, Reconcile};
use svc::workers::shares::Shares;

use crate::openapi::answers;
use crate::support::forge::FakeForge;
use crate::support::{ManualClock, SeededRandom};

/// Signs webhooks.
pub(crate) const SECRET: &str = "the secret of a world";
/// Lets operators in.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// Signs results at a forge without identity tokens.
pub(crate) const RESULT_SECRET: &str = "the-secret-of-results-of-a-world";
/// Signs identity tokens.
pub(crate) const ISSUER: &str = "https://issuer.example";
/// The key it signs them with.
pub(crate) const KEY_ID: &str = "simulated-key";
/// Whom audit events name.
pub(crate) const ACTOR: &str = "ops:world";
/// The app that [`Webhooks`] name.
pub(crate) const APP: i64 = 424_242;
/// Tries of everything.
pub(crate) const RETRY: RetryPolicy = RetryPolicy {
    attempts_max: 3,
    delay_base: Duration::from_secs(5),
    delay_max: Duration::from_secs(60),
};
/// The pace of writes where it does not matter: as good as none.
pub(crate) fn pace() -> Pace {
    Pace::per_minute(u32::MAX)
}

/// Intervals of reconciliation: the specification's.
pub(crate) const RULES: Rules = Rules {
    observation: Duration::from_secs(300),
    deadline: Duration::from_secs(1_800),
    next_check: Duration::from_secs(60),
};
/// Longer than any lease or delay.
pub(crate) const LONG: Duration = Duration::from_secs(3_600);

/// A service and what it stands on.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) forge: Arc<FakeForge>,
    pub(crate) store: Store,
    pub(crate) app: Arc<App>,
    /// Whose requests the next ones are.
    pub(crate) peer: Option<IpAddr>,
    /// Ids the issuer publishes its one key under.
    pub(crate) key_ids: Arc<Mutex<Vec<&'static str>>>,
    router: Router,
    deliveries: u64,
}

/// Opens a store as a world does.
pub(crate) fn open_store(path: &Path, clock: &Arc<ManualClock>, seed: u64) -> Store {
    let on_fatal = |error: &svc::store::Error| panic!("the disk failed: {error:?}");
    open_store_on_a_disk_that_fails(path, clock, seed, Box::new(on_fatal))
}

/// Opens a store that says when its disk fails.
pub(crate) fn open_store_on_a_disk_that_fails(
    path: &Path,
    clock: &Arc<ManualClock>,
    seed: u64,
    on_fatal: Box<dyn Fn(&svc::store::Error) + Send + Sync>,
) -> Store {
    Store::open(Options {
        path: path.to_owned(),
        clock: Arc::<ManualClock>::clone(clock),
        ids: Ids::new(Box::new(SeededRandom(seed))),
        on_fatal,
        on_opening: Arc::new(|_| {}),
        log: LogRules { checkpoint_every: None, ..LogRules::default() },
    })
    .unwrap()
}

/// How releases are made in tests.
pub(crate) fn plan() -> NewRelease {
    NewRelease {
        own_app: APP.try_into().unwrap(),
        workflow: "release.yml".to_owned(),
        check_run_name: "release".to_owned(),
    }
}

/// Webhooks of a repository of an installation.
pub(crate) fn webhooks(installation: i64) -> Webhooks {
    Webhooks {
        installation: installation.try_into().unwrap(),
        repository: svc::domain::repository::RepositoryRef {
            id: (installation * 10).try_into().unwrap(),
            full_name: format!("org-{installation}/app").parse().unwrap(),
        },
    }
}

/// A commit for each number.
pub(crate) fn commit(number: u32) -> String {
    format!("{number:040x}").replace('0', "a")
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::new());
        let folder = tempfile::tempdir().unwrap();
        let store = open_store(&folder.path().join("svc.db"), &clock, 1);
        Self::around(folder, clock, Arc::default(), store, None)
    }

    /// One whose relay is on.
    pub(crate) fn with_relay() -> Self {
        let Self { folder, clock, forge, store, .. } = Self::new();
        let settings = Settings {
            connections_max: 16,
            approval: Duration::from_secs(300),
            grant: Duration::from_secs(60),
            call_wait: Duration::from_secs(20),
            session_kept: Duration::from_secs(30 * 86_400),
            result_bytes_max: 1 << 16,
            proposals_per_minute: 30,
            frames_per_second: 50,
        };
        let ids = Ids::new(Box::new(SeededRandom(3)));
        let time: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let relay = Relay::open(store.clone(), settings, time, ids, Arc::default()).unwrap();
        Self::around(folder, clock, forge, store, Some(Arc::new(relay)))
    }

    fn around(
        folder: tempfile::TempDir,
        clock: Arc<ManualClock>,
        forge: Arc<FakeForge>,
        store: Store,
        relay: Option<Arc<Relay>>,
    ) -> Self {
        let key_ids = Arc::new(Mutex::new(vec![KEY_ID]));
        let published = Arc::clone(&key_ids);
        let document = move || Issuer::key_document(&published.lock().unwrap()).to_string();
        let app = Arc::new(App {
            store: store.clone(),
            clock: Arc::<ManualClock>::clone(&clock),
            operators: Some(Operators::new(OperatorConfig {
                token: TOKEN.into(),
                actor: ACTOR.to_owned(),
            })),
            intake: Some(IntakeRules {
                secrets: signature::Secrets::new(vec![SECRET.into()]).unwrap(),
                payload: payload::PayloadRules {
                    release_tag_pattern: glob::Pattern::new("v*").unwrap(),
                },
                body_bytes_max: 1 << 20,
            }),
            results: Some(ResultRules {
                keys: JwksCache::new(
                    vec![ISSUER.to_owned()],
                    ALGORITHMS.to_vec(),
                    Box::new(move |_| Some(document().into_bytes())),
                    Arc::<ManualClock>::clone(&clock),
                ),
                secrets: shared_secret::Secrets::new(vec![RESULT_SECRET.into()]),
            }),
            forge: None,
            started_at: Timestamp::MIN,
            reconciliation: Some(RULES),
            relay,
            reload: Reload::new(Box::new(|| Err(Vec::new())), None, SecretDigests::default()),
            worker_notify: WorkerNotify::default(),
            metrics: Arc::new(Metrics::default()),
            card_checks: Semaphore::new(CARD_CHECKS_MAX),
            refused: Refused::default(),
            slo: Watch::default(),
            draining: AtomicBool::new(false),
        });
        let router =
            Router::new(Arc::clone(&app), Vec::new(), Some(fixture::gate(Arc::clone(&app.clock))));
        Self { folder, clock, forge, store, app, peer: None, key_ids, router, deliveries: 0 }
    }

    /// Serves `/mcp` behind a gate.
    pub(crate) fn with_mcp(mut self, gate: Gate, mcp: McpEndpoint) -> Self {
        let router = Router::new(Arc::clone(&self.app), Vec::new(), Some(gate));
        self.router = router.with_mcp(Arc::new(mcp));
        self
    }

    /// Stops everything where it stands and starts anew on the same file, as after a crash.
    pub(crate) fn restart(self) -> Self {
        let Self { folder, clock, forge, store, app, router, .. } = self;
        drop((store, app, router));
        let store = open_store(&folder.path().join("svc.db"), &clock, 2);
        Self::around(folder, clock, forge, store, None)
    }

    /// Where the database is.
    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("svc.db")
    }

    /// A worker for jobs.
    pub(crate) fn jobs(&self) -> Jobs {
        Jobs {
            store: self.store.clone(),
            owner: "jobs".to_owned(),
            retry: RETRY,
            plan: plan(),
            outbox: Notify::new(),
            metrics: Arc::clone(&self.app.metrics),
            unreturned: Unreturned::default(),
        }
    }

    /// A worker for side effects.
    pub(crate) fn outbox(&self) -> Outbox {
        Outbox {
            store: self.store.clone(),
            forge: Arc::<FakeForge>::clone(&self.forge),
            owner: "outbox".to_owned(),
            retry: RETRY,
            pace: pace(),
            shares: Shares::of_pool(u64::MAX),
            notify: Notify::new(),
            metrics: Arc::clone(&self.app.metrics),
        }
    }

    /// A worker that finds what is amiss.
    pub(crate) fn detect(&self) -> Detect {
        Detect {
            store: self.store.clone(),
            clock: Arc::<ManualClock>::clone(&self.clock),
            rules: RULES,
            reconcile: Notify::new(),
            inbox_after: None,
        }
    }

    /// A worker that looks at what is amiss.
    pub(crate) fn reconcile(&self) -> Reconcile {
        Reconcile {
            kinds: ReconcileKind::ALL,
            store: self.store.clone(),
            forge: Arc::<FakeForge>::clone(&self.forge),
            owner: "reconcile".to_owned(),
            rules: RULES,
            pace: pace(),
            shares: Shares::of_pool(u64::MAX),
            notify: Notify::new(),
            outbox: Notify::new(),
            jobs: Notify::new(),
            metrics: Arc::clone(&self.app.metrics),
        }
    }

    /// Lets time pass, then finds what is amiss and looks at all that is due.
    pub(crate) fn reconcile_after(&self, by: Duration) {
        self.clock.advance(by);
        self.detect().step();
        let mut reconcile = self.reconcile();
        while reconcile.step() == Next::Now {}
    }

    /// Writes to the file behind the store's back.
    pub(crate) fn tamper(&self, sql: &str) {
        open_raw(&self.database()).execute_batch(sql).unwrap();
    }

    /// Steps every worker until none has anything to do now.
    pub(crate) fn settle(&self) {
        let (mut jobs, mut outbox) = (self.jobs(), self.outbox());
        for _ in 0..1_000 {
            let done = jobs.step() == Next::Wait && outbox.step() == Next::Wait;
            if done {
                return;
            }
        }
        panic!("the workers do not come to an end");
    }

    /// Steps every worker until none has anything to do now, however long that takes.
    pub(crate) fn settle_all(&self) {
        let (mut jobs, mut outbox) = (self.jobs(), self.outbox());
        while jobs.step() == Next::Now || outbox.step() == Next::Now {}
    }

    /// Settles, lets every lease and delay run out, and settles again, until nothing is left.
    pub(crate) fn settle_for_good(&self) {
        for _ in 0..10 {
            self.settle();
            self.clock.advance(LONG);
        }
        self.settle();
    }

    /// Sends a signed webhook under a new delivery id; returns status and outcome.
    pub(crate) fn deliver(&mut self, webhook: &Webhook) -> (u16, String) {
        self.deliveries += 1;
        let id = format!("{:08}-0000-4000-8000-000000000000", self.deliveries);
        self.deliver_as(&id, webhook)
    }

    /// Sends a signed webhook under a delivery id; returns status and outcome.
    pub(crate) fn deliver_as(&self, id: &str, webhook: &Webhook) -> (u16, String) {
        let signature = sign(SECRET, &webhook.body);
        let headers = [
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("x-github-event", webhook.event),
            ("x-github-delivery", id),
            ("x-hub-signature-256", &signature),
        ];
        let answer = self.send(
            Surface::Public,
            Method::POST,
            "/webhooks/forge",
            &headers,
            webhook.body.clone(),
        );
        outcome(&answer)
    }

    /// Asks the operator API with the token.
    pub(crate) fn operate(
        &self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Response {
        let bearer = format!("Bearer {TOKEN}");
        let own = [("host", "localhost"), ("authorization", bearer.as_str())];
        self.send(Surface::Control, method, target, &[&own, headers].concat(), Vec::new())
    }

    /// Replays an item; returns status, outcome and audit event.
    pub(crate) fn replay(
        &self,
        installation: i64,
        item: (&str, &str),
        key: &str,
    ) -> (u16, String, Option<String>) {
        // What the request is conditional on stands behind the id.
        let (id, query) = item.1.split_once('?').unwrap_or((item.1, ""));
        let target = format!(
            "/api/v1/operator/installations/{installation}/dead-letters/{}/{id}/replay?{query}",
            item.0
        );
        let answer = self.operate(Method::POST, &target, &[("idempotency-key", key)]);
        let (status, outcome) = outcome(&answer);
        let audit = json(&answer)["auditEventId"].as_str().map(str::to_owned);
        (status, outcome, audit)
    }

    /// Closes one dead letter, as the API does: status, outcome, audit event.
    pub(crate) fn close(
        &self,
        installation: i64,
        item: (&str, &str),
        key: &str,
        reason: &str,
    ) -> (u16, String, Option<String>) {
        let path = format!("dead-letters/{}/{}", item.0, item.1);
        self.close_at(installation, &path, key, reason)
    }

    /// Closes one reconciliation item that was given up.
    pub(crate) fn close_reconciliation(
        &self,
        installation: i64,
        id: &str,
        key: &str,
        reason: &str,
    ) -> (u16, String, Option<String>) {
        self.close_at(installation, &format!("reconciliation-items/{id}"), key, reason)
    }

    fn close_at(
        &self,
        installation: i64,
        path: &str,
        key: &str,
        reason: &str,
    ) -> (u16, String, Option<String>) {
        // What the request is conditional on stands behind the path.
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let target = format!("/api/v1/operator/installations/{installation}/{path}/close?{query}");
        let bearer = format!("Bearer {TOKEN}");
        let headers = [
            ("host", "localhost"),
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = serde_json::json!({ "reason": reason }).to_string();
        let answer =
            self.send(Surface::Control, Method::POST, &target, &headers, body.into_bytes());
        let (status, outcome) = outcome(&answer);
        let audit = json(&answer)["auditEventId"].as_str().map(str::to_owned);
        (status, outcome, audit)
    }

    /// Lists an installation's dead letters, as the API shows them.
    pub(crate) fn dead_letters(&self, installation: i64) -> Vec<Value> {
        let target = format!("/api/v1/operator/installations/{installation}/dead-letters");
        json(&self.operate(Method::GET, &target, &[]))["items"].as_array().unwrap().clone()
    }

    /// The one dead letter of an installation: type and id.
    pub(crate) fn only_dead_letter(&self, installation: i64) -> (String, String) {
        let letters = self.dead_letters(installation);
        assert_eq!(letters.len(), 1, "{letters:?}");
        let text = |name: &str| letters[0][name].as_str().unwrap().to_owned();
        (text("itemType"), text("itemId"))
    }

    /// Sends a request through the routes, as a server would.
    pub(crate) fn send(
        &self,
        surface: Surface,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Response {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (target.to_owned(), None),
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let asked = method.to_string();
        let head = Head { surface, method, path, query, headers: map, peer: self.peer };
        let answer = match self.router.admit(head) {
            Err(response) => *response,
            Ok(admitted) => match admitted.answer(body, None) {
                Answer::Ready(response) => response,
                Answer::Late(_) => panic!("no route answers later"),
            },
        };
        let lines = answer.headers.iter();
        let lines = lines.map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
        answers::hold((&asked, target), answer.status.as_u16(), lines);
        answer
    }

    /// Answers a question to the file, on a connection of the test's own.
    pub(crate) fn ask<T: rusqlite::types::FromSql>(&self, sql: &str) -> T {
        open_raw(&self.database()).query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

/// The number of an installation.
pub(crate) fn installation(number: i64) -> InstallationId {
    number.try_into().unwrap()
}

/// Opens the file behind the store's back.
#[expect(clippy::disallowed_methods, reason = "a test looks at the file from outside")]
pub(crate) fn open_raw(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

/// The status and the outcome of an answer.
pub(crate) fn outcome(answer: &Response) -> (u16, String) {
    let outcome = json(answer)["outcome"].as_str().unwrap_or_default().to_owned();
    (answer.status.as_u16(), outcome)
}

/// The body of an answer.
pub(crate) fn bytes(answer: &Response) -> &[u8] {
    answer.body.bytes()
}

/// The body of an answer, read as JSON.
pub(crate) fn json(answer: &Response) -> Value {
    serde_json::from_slice(bytes(answer)).unwrap()
}
