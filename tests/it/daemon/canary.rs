//! Marked words in everything that is a tenant's or a secret, and a search for them everywhere else:
//! the whole log, every answer, the metrics, the process as others see it, and every column.

use std::fmt::Write as _;
use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};
use svc::api;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::{Call, Fault, Webhook};

use super::ask::{Ask, Endpoint};
use super::letters::{self, list_path, replay, replay_path};
use super::process::{Daemon, delivery};
use super::site::{Site, webhooks};
use super::{INSTALLATION, commit, database, wait_for};
use crate::support::reconciliation::{self, Item};

/// Marks every word of a tenant that must not go anywhere.
const TENANT: &str = "canarytenant";
/// Marks every secret.
const HIDDEN: &str = "canarysecret";
/// Marks the ref, which a release keeps.
const REF: &str = "canaryref";
/// Marks names, which operators see.
const NAME: &str = "canaryname";
const TOKEN: &str = "canarysecret-token-0123456789abcdef";
const SECRET: &str = "canarysecret of webhooks";

/// Where the ref, and names, may stand.
const MAY_HOLD: [(&str, &str); 6] = [
    ("release_runs.git_ref", REF),
    ("repositories.full_name", NAME),
    ("webhook_inbox.repository", NAME),
    ("control_plane_jobs.repository", NAME),
    ("dead_letters.repository", NAME),
    ("installations.account", NAME),
];

/// Marks whatever of a push is not needed.
fn marked(site: &Site, number: usize) -> Webhook {
    let plain = site.webhooks.push_tag(&format!("v{number}-{REF}"), &commit(number));
    let mut body: Value = serde_json::from_slice(&plain.body).unwrap();
    for (pointer, value) in [
        ("/head_commit/message", json!(format!("{TENANT} message"))),
        ("/head_commit/author", json!({"name": TENANT, "email": format!("{TENANT}@example.com")})),
        ("/sender/login", json!(format!("{TENANT}-sender"))),
        ("/pusher", json!({"name": TENANT, "email": TENANT})),
        ("/base_ref", json!(format!("refs/heads/{TENANT}"))),
        ("/commits", json!([{"id": commit(9), "message": TENANT, "added": [TENANT]}])),
        ("/repository/owner/login", json!(format!("{TENANT}-owner"))),
    ] {
        *body.pointer_mut(pointer).unwrap() = value;
    }
    body["repository"]["description"] = json!(format!("{TENANT} description"));
    body["repository"]["homepage"] = json!(format!("https://{TENANT}.example"));
    body["compare"] = json!(format!("https://forge.example/{TENANT}"));
    body[TENANT] = json!(TENANT);
    Webhook { event: "push", body: body.to_string().into_bytes() }
}

fn as_operator(ask: Ask) -> Ask {
    ask.without("Authorization").header("Authorization", format!("Bearer {TOKEN}"))
}

fn signed(id: &str, webhook: &Webhook) -> Ask {
    let signature = svc::simulator::sign(SECRET, &webhook.body);
    delivery(id, webhook).without("X-Hub-Signature-256").header("X-Hub-Signature-256", signature)
}

/// Everything that was answered, names apart.
#[derive(Default)]
struct Heard(String);

impl Heard {
    fn ask(&mut self, endpoint: &Endpoint, ask: &Ask) -> u16 {
        let answer = endpoint.ask(ask);
        writeln!(self.0, "{:?} {}", answer.headers, answer.text()).unwrap();
        answer.status
    }
}

/// Requests that are refused, each with marks in another place.
fn refused(site: &Site, daemon: &Daemon, heard: &mut Heard) {
    let good = marked(site, 90);
    let body = |bytes: &[u8]| Webhook { event: "push", body: bytes.to_vec() };
    let broken = good.body.split_at(good.body.len() / 2).0;
    for ask in [
        delivery("unsigned", &good),
        signed("broken", &body(broken)),
        signed("array", &body(format!("[\"{TENANT}\"]").as_bytes())),
        signed("not-utf8", &body(&[b"{\"a\":\"canarytenant".as_slice(), b"\xff\"}"].concat())),
        signed("typed", &good).header("Content-Encoding", TENANT),
        signed("event", &good).header("X-GitHub-Event", TENANT),
        signed(&format!("{TENANT}/id"), &good),
        Ask::get(&format!("/{TENANT}?token={TOKEN}")).header("Cookie", TENANT),
        Ask::new("CANARYTENANT", "/webhooks/forge").header("User-Agent", TENANT),
    ] {
        let status = heard.ask(&daemon.public, &ask);
        assert!((400..500).contains(&status), "{ask:?}: {status}");
    }
    let absent = "0199f3a0-0000-7000-8000-00000000000a";
    let releases = format!("/api/v1/operator/installations/{INSTALLATION}/releases");
    for endpoint in daemon.operator_endpoints() {
        for ask in [
            as_operator(replay(INSTALLATION, "outbox", absent, &format!("{TENANT}-key"))),
            as_operator(replay(INSTALLATION, TENANT, TENANT, &format!("{TENANT}-key"))),
            as_operator(replay(INSTALLATION, "job", absent, &format!("{TENANT} two"))),
            as_operator(Ask::get(&format!("{}?before={TENANT}", list_path(INSTALLATION)))),
            as_operator(Ask::get(&format!("{}?{TENANT}={TENANT}", list_path(INSTALLATION)))),
            as_operator(Ask::get(&format!("{releases}?status={TENANT}"))),
            as_operator(Ask::get(&format!("{releases}?before={TENANT}"))),
            as_operator(Ask::get(&format!("{releases}/{TENANT}"))),
            Ask::get(&format!("{}?access_token={TOKEN}", list_path(INSTALLATION))),
            Ask::get(&list_path(INSTALLATION)).header("Authorization", format!("Basic {TOKEN}")),
            Ask::get(&list_path(INSTALLATION)).header("Host", format!("{TENANT}.example")),
            as_operator(Ask::post(&replay_path(INSTALLATION, "job", absent))).body(TENANT),
        ] {
            let status = heard.ask(&endpoint, &ask);
            assert!((400..500).contains(&status), "{ask:?}: {status}");
        }
    }
}

/// Looks at everything that can be looked at. Answers about releases name their tag, and go apart.
fn looked_at(daemon: &Daemon, heard: &mut Heard, of_releases: &mut Heard) {
    let below = |rest: &str| format!("/api/v1/operator/installations/{INSTALLATION}/{rest}");
    let letters = daemon.control.ask(&as_operator(Ask::get(&list_path(INSTALLATION)))).json();
    let mut letters = letters["items"].as_array().unwrap().iter();
    let safe = letters.find(|letter| letter["replaySafe"] == true).unwrap();
    let text = |name: &str| safe[name].as_str().unwrap();
    let again = replay(INSTALLATION, text("itemType"), text("itemId"), "a-key");
    assert_eq!(heard.ask(&daemon.control, &as_operator(again)), 200);
    for endpoint in daemon.operator_endpoints() {
        for path in [
            "/health/live",
            "/health/ready",
            "/metrics",
            "/api/v1/operator/installations",
            "/api/v1/operator/slo",
            &list_path(INSTALLATION),
            &below("audit-events"),
            &below("reconciliation-items"),
        ] {
            assert_eq!(heard.ask(&endpoint, &as_operator(Ask::get(path))), 200, "{path}");
        }
        let list = as_operator(Ask::get(&below("releases")));
        assert_eq!(of_releases.ask(&endpoint, &list), 200);
        let page: api::PageBody<api::ReleaseRun> =
            serde_json::from_slice(&endpoint.ask(&list).body).unwrap();
        assert!(page.items.len() > 5 && page.items.iter().all(|item| item.git_ref.contains(REF)));
        for release in page.items {
            let one =
                as_operator(Ask::get(&below(&format!("releases/{}", release.release_run_id))));
            assert_eq!(of_releases.ask(&endpoint, &one), 200);
        }
    }
}

fn assert_clean(what: &str, text: &str, marks: &[&str]) {
    let lower = text.to_lowercase();
    for mark in marks {
        let hex: String = mark.bytes().map(|byte| format!("{byte:02x}")).collect();
        for spelling in [*mark, &hex] {
            if let Some(place) = lower.find(spelling) {
                let around: String =
                    lower.chars().skip(place.saturating_sub(200)).take(400).collect();
                panic!("{what} holds {spelling}: {around}");
            }
        }
    }
}

/// Returns a site whose every secret and name is marked.
fn site() -> Site {
    let mut site = Site::new();
    site.set("SVC_SLO_POLL_MS", "20");
    site.secret("SVC_OPERATOR_API_TOKEN", TOKEN);
    site.secret("SVC_WEBHOOK_SECRET", SECRET);
    site.webhooks = webhooks(INSTALLATION, 99, &format!("{NAME}/site"));
    site.forge.add_repository(&site.webhooks.repository);
    site
}

/// Lets releases end in every way there is.
fn work(site: &Site, daemon: &Daemon, heard: &mut Heard) {
    let faults = [
        // First, because the releases that follow use the same tokens.
        (Call::Mint, Fault::Status(403)),
        (Call::Dispatch, Fault::Validation422),
        (Call::Dispatch, Fault::CutAfterEffect),
        (Call::Dispatch, Fault::Garbage),
        (Call::CheckRunUpdate, Fault::Validation422),
        (Call::CheckRunCreate, Fault::Garbage),
    ];
    for (number, (call, fault)) in faults.into_iter().enumerate() {
        site.forge.plan(call, fault);
        assert_eq!(
            heard.ask(&daemon.public, &signed(&format!("push-{number}"), &marked(site, number))),
            202
        );
        wait_for("the fault", || {
            let (runs, ledger) = (site.forge.workflow_runs(), site.forge.ledger());
            let text = daemon.metrics();
            let idle = text.contains("svc_outbox_available 0\n")
                && text.contains("svc_jobs_available 0\n");
            (idle && runs.len() + ledger.len() > number).then_some(())
        });
    }
    let renamed = site.webhooks.workflow_run(TENANT, 1);
    heard.ask(&daemon.public, &signed("run", &renamed));
    let suspend = site.webhooks.installation("suspend");
    assert_eq!(heard.ask(&daemon.public, &signed("suspend", &suspend)), 202);
    assert_eq!(heard.ask(&daemon.public, &signed("push-last", &marked(site, 50))), 202);
}

#[test]
fn nothing_of_a_tenant_and_no_secret_goes_anywhere() {
    let site = site();
    let mut daemon = site.start();
    let mut heard = Heard::default();
    work(&site, &daemon, &mut heard);
    refused(&site, &daemon, &mut heard);
    wait_for("the last dead letter", || {
        let list = daemon.control.ask(&as_operator(Ask::get(&list_path(INSTALLATION))));
        list.text().contains("installation_suspended").then_some(())
    });
    let subject = {
        let database = database::open(&site.database());
        let attempt: String = database
            .query_row("SELECT attempt_id FROM release_run_attempts", [], |row| row.get(0))
            .unwrap();
        let item = Item::of_attempt("running_stale", &attempt);
        reconciliation::add_to(&database, INSTALLATION, &item, SystemClock::new().now());
        attempt
    };
    let mut of_releases = Heard::default();
    looked_at(&daemon, &mut heard, &mut of_releases);
    for shown in [subject.as_str(), "control_plane.dead_letter_replayed"] {
        assert!(heard.0.contains(shown), "{shown} is not listed");
    }
    for file in ["cmdline", "environ"] {
        let seen = fs::read(format!("/proc/{}/{file}", daemon.pid().as_raw_nonzero())).unwrap();
        assert_clean(file, &String::from_utf8_lossy(&seen), &[HIDDEN, "-----begin", "miieow"]);
    }
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    let secrets = [HIDDEN, "-----begin", "miieow", "ghs_", "simulated.to-ken", "eyj0"];
    let mut all = vec![TENANT, REF];
    all.extend(secrets);
    let log = daemon.log();
    assert!(log.lines().count() > 20);
    assert!(log.contains("worker.control_plane_slo_firing"), "signals are part of it");
    assert_clean("the log", &log, &all);
    assert_clean("the log", &log, &[NAME, "simulated\"", "sqlite", "/home/", "/root/"]);
    assert_clean("an answer", &heard.0, &all);
    assert_clean("an answer about releases", &of_releases.0.replace(REF, ""), &all);
    columns(&site, &all);
}

fn columns(site: &Site, all: &[&str]) {
    let database = database::open(&site.database());
    let unfinished = "SELECT (SELECT count(*) FROM outbox WHERE finished_at IS NULL \
            OR status = 'dead_letter') \
        + (SELECT count(*) FROM control_plane_jobs WHERE status <> 'completed')";
    let unfinished = database::number(&database, unfinished, &[]);
    let mut held = 0;
    for (column, text) in database::values(&database) {
        let unfinished = ["outbox.payload", "webhook_inbox.normalized_actions"];
        if unfinished.contains(&column.as_str()) && text.contains(REF) {
            held += 1;
            assert_clean(&column, &text.replace(REF, ""), all);
            continue;
        }
        let allowed = |mark: &&str| !MAY_HOLD.contains(&(column.as_str(), *mark));
        let marks: Vec<&str> = all.iter().copied().chain([NAME]).filter(allowed).collect();
        assert_clean(&column, &text, &marks);
    }
    assert!(held <= unfinished, "{held} are kept, {unfinished} are unfinished");
    drop(database);
    // What was cleared is gone from the pages too.
    let pages = String::from_utf8_lossy(&site.bytes()).into_owned();
    let mut secrets = all.to_vec();
    secrets.retain(|mark| *mark != REF);
    assert_clean("the file", &pages, &secrets);
}

#[test]
fn a_finished_effect_keeps_nothing_to_send() {
    let site = Site::new();
    let mut daemon = site.start();
    letters::push(&daemon, &site.webhooks, 1);
    daemon.logged("\"check_run_update\"");
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    let database = database::open(&site.database());
    let kept = "SELECT count(*) FROM outbox WHERE status = 'completed' AND payload <> ''";
    assert_eq!(database::number(&database, kept, &[]), 0);
    let cleared = "SELECT count(*) FROM webhook_inbox WHERE normalized_actions IS NOT NULL";
    assert_eq!(database::number(&database, cleared, &[]), 0);
}
