//! Signals of the real daemon: one fires and recovers, each once, and says nothing of a tenant; what
//! cannot be evaluated is one word; a restart is no recovery.

use std::collections::BTreeSet;

use rusqlite::Connection;
use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::Value;

use super::ask::Ask;
use super::process::Daemon;
use super::site::Site;
use super::{database, say, wait_for};

const TENANT: &str = "canarytenant";

fn site() -> Site {
    let mut site = Site::new();
    site.set("SVC_SLO_POLL_MS", "20");
    site
}

/// Puts a reconciliation into the file that is long overdue and not looked at for long.
fn overdue(file: &Connection) {
    file.execute_batch(&format!(
        "INSERT INTO reconciliation_items (reconciliation_id, kind, reason, subject_id, \
            installation_id, status, next_check_at, deadline_at, created_at, updated_at) \
         VALUES ('{TENANT}', 'workflow_attempt', '{TENANT}', '{TENANT}', 1, 'open', \
            4000000000000000, 1, 1, 1)",
    ))
    .unwrap();
}

fn finish(file: &Connection) {
    file.execute_batch("UPDATE reconciliation_items SET status = 'completed', finished_at = 2")
        .unwrap();
}

/// Returns every line of one event.
fn events(daemon: &Daemon, event: &str) -> Vec<Value> {
    let log = daemon.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["event"] == format!("worker.control_plane_slo_{event}")).collect()
}

fn await_event(daemon: &Daemon, event: &str) -> Value {
    wait_for(event, || events(daemon, event).pop())
}

/// Waits until some more evaluations are over.
fn evaluate(daemon: &Daemon) {
    let count = || daemon.metric("svc_slo_evaluations_total{outcome=\"ok\"}");
    let before = count();
    wait_for("evaluations", || (count() > before + 5).then_some(()));
}

fn fields(line: &Value) -> BTreeSet<&str> {
    let always = ["event", "level", "message", "ts"];
    let names = line.as_object().unwrap().keys().map(String::as_str);
    names.filter(|name| !always.contains(name)).collect()
}

#[test]
fn a_signal_fires_once_and_recovers_once() {
    let site = site();
    let mut daemon = site.start();
    let url = format!("unix:{}", site.socket().display());
    let first = await_event(&daemon, "evaluation");
    assert_eq!(fields(&first), BTreeSet::from(["policy_version", "health", "active_signals"]));
    let file = database::open(&site.database());
    overdue(&file);
    let fired = await_event(&daemon, "firing");
    assert_eq!(fired["signal"], "reconciliation_overdue");
    assert_eq!((&fired["severity"], &fired["level"]), (&"critical".into(), &"error".into()));
    let named = "gate next_check owner policy_version severity signal threshold unit value";
    assert_eq!(fields(&fired), named.split(' ').collect());

    evaluate(&daemon);
    let series = "svc_slo_signal_active{signal=\"reconciliation_overdue\",severity=\"critical\"}";
    assert_eq!(daemon.metric(series), 1);
    let shown = site.svcctl(&url, &["slo"]);
    assert_eq!(shown.code, Some(8), "{shown:?}");
    assert!(shown.stderr.starts_with("critical: reconciliation_overdue: "), "{shown:?}");
    let status = site.svcctl(&url, &["status"]);
    assert_eq!(status.code, Some(0), "a signal says nothing about readiness: {status:?}");
    assert!(status.stdout.contains("critical: reconciliation_overdue"), "{status:?}");

    finish(&file);
    let recovered = await_event(&daemon, "recovered");
    let named = "healthy policy_version severity signal unit value";
    assert_eq!(fields(&recovered), named.split(' ').collect());
    evaluate(&daemon);
    let count = |event| {
        let lines = events(&daemon, event);
        lines.iter().filter(|line| line["signal"] == "reconciliation_overdue").count()
    };
    assert_eq!((count("firing"), count("recovered")), (1, 1));
    // Counted first: each evaluation that is counted has logged its line.
    let count = daemon.metric("svc_slo_evaluations_total{outcome=\"ok\"}");
    let evaluations = wait_for("a line for each", || {
        let lines = events(&daemon, "evaluation");
        (u64::try_from(lines.len()).unwrap() >= count).then_some(lines)
    });
    assert!(evaluations.iter().all(|line| line["level"] == "info"));
    let mut active: Vec<_> = evaluations.iter().map(|line| &line["active_signals"]).collect();
    active.dedup();
    assert_eq!(active, ["", "reconciliation_overdue", ""]);
    let signals = daemon.control.ask(&Ask::get("/api/v1/operator/slo").bearer()).text();
    for text in [signals, daemon.log(), daemon.metrics()] {
        assert!(!text.contains(TENANT), "{text}");
    }
    daemon.kill();
}

#[test]
fn a_failed_evaluation_is_one_word_and_a_restart_is_no_recovery() {
    let site = site();
    let mut daemon = site.start();
    let file = database::open(&site.database());
    overdue(&file);
    await_event(&daemon, "firing");
    file.execute_batch("ALTER TABLE reconciliation_items RENAME TO hidden").unwrap();
    let failed = await_event(&daemon, "failed");
    assert_eq!(fields(&failed), BTreeSet::from(["errorClass"]));
    assert_eq!(failed["errorClass"], "statement_failed");
    assert_eq!(daemon.control.ask(&Ask::get("/health/ready")).status, 200);
    file.execute_batch("ALTER TABLE hidden RENAME TO reconciliation_items").unwrap();
    evaluate(&daemon);
    assert_eq!((events(&daemon, "firing").len(), events(&daemon, "recovered").len()), (1, 0));
    daemon.kill();
    finish(&file);
    drop(file);
    let daemon = site.start();
    evaluate(&daemon);
    assert_eq!((events(&daemon, "firing").len(), events(&daemon, "recovered").len()), (0, 0));
}

#[test]
fn a_limit_on_the_size_of_files_is_space_that_is_not_there() {
    let site = site();
    let daemon = site.start();
    evaluate(&daemon);
    if daemon.metric("svc_slo_signal_active{signal=\"disk_free\",severity=\"critical\"}") == 1 {
        return say("skipped: this machine has not enough space for it");
    }
    let value = |line: &Value| line["value"].to_string().trim_matches('"').parse::<u64>().unwrap();
    let limit = |current| {
        let unlimited = Rlimit { current: None, maximum: None };
        let limit = Rlimit { current, ..unlimited };
        prlimit(Some(daemon.pid()), Resource::Fsize, limit).unwrap();
    };
    limit(Some(128 << 20));
    let fired = await_event(&daemon, "firing");
    assert_eq!((&fired["signal"], &fired["level"]), (&"disk_free".into(), &"error".into()));
    assert!(value(&fired) < 128 << 20, "{fired}");
    limit(None);
    let recovered = await_event(&daemon, "recovered");
    assert_eq!(recovered["signal"], "disk_free");
    assert!(value(&recovered) >= 512 << 20, "{recovered}");
}
