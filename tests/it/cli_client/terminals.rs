//! The pages in `tests/data/cli/terminal`: what the same commands print on terminals of different widths, which
//! `UPDATE=1 cargo test --test it terminals` writes. The service answers from a list, whose times are some hours old, so
//! that their ages do not change while a test runs; exact times are written as one of the same width.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use svc::domain::time::Timestamp;
use svc::runtime::clock::{Clock as _, SystemClock};
use unicode_width::UnicodeWidthStr as _;

use super::canned_server::Reply;
use super::{Desk, ID, KEY, finish};
use crate::support::pty;

const OTHER: &str = "0199f3a0-0000-7000-8000-0000000000ab";

/// Returns the instant so many half hours ago, which is a round age for half an hour.
fn before(half_hours: u64) -> String {
    let now = SystemClock::new().now();
    now.minus(Duration::from_secs(1_800 * half_hours)).to_string()
}

/// Returns the instant so many half hours from now.
fn after(half_hours: u64) -> String {
    let now = SystemClock::new().now();
    now.plus(Duration::from_secs(1_800 * half_hours)).to_string()
}

fn dead_letters() -> Value {
    let item = |id: &str, kind: &str, safe: bool, reason: &str, cause: Option<&str>, age: u64| {
        json!({
            "itemType": kind, "itemId": id, "repository": "acme/site", "reasonCode": reason,
            "errorClass": "unavailable", "cause": cause, "attemptCount": 1, "failedAt": before(age),
            "replaySafe": safe, "effectKind": null, "releaseRunId": null,
        })
    };
    let items = [
        item(ID, "job", true, "installation_suspended", None, 7),
        item(KEY, "outbox", false, "forge_dispatch_uncertain", Some("reset"), 15),
        item(OTHER, "outbox", true, "forge_dispatch_rejected", Some("http_4xx"), 201),
    ];
    json!({ "items": items, "nextBefore": null })
}

fn dead_letter() -> Value {
    let event = |event: &str, age: u64, actor: Option<&str>, audit: Option<&str>, why: Value| {
        json!({
            "event": event, "at": before(age), "reasonCode": why["code"], "attemptCount": null,
            "actor": actor, "reason": why["words"], "auditEventId": audit,
        })
    };
    let mut item = dead_letters()["items"][1].clone();
    let details = json!({
        "replayClass": "dispatch_uncertain", "jobAction": null, "attemptId": OTHER,
        "attemptNumber": 1, "gitRef": "refs/tags/v2", "status": "dead_letter", "allowed": [],
        "history": [
            event("died", 201, None, None, json!({ "code": "forge_dispatch_uncertain" })),
            event("replayed", 151, Some("ops:oncall"), Some(KEY), json!({})),
            event("died", 15, None, None, json!({ "code": "forge_dispatch_uncertain" })),
            event("closed", 7, Some("ops:oncall"), Some(ID), json!({
                "words": "the forge shows a run for this tag already, and it has succeeded"
            })),
        ],
    });
    item.as_object_mut().unwrap().extend(details.as_object().unwrap().clone());
    item
}

fn release(id: &str, status: &str, tag: &str, reason: Option<&str>, age: u64) -> Value {
    json!({
        "releaseRunId": id, "repository": "acme/site", "gitRef": format!("refs/tags/{tag}"),
        "headSha": "0123456789abcdef0123456789abcdef01234567", "status": status, "decision": null,
        "conclusion": null, "failureReason": reason, "attemptNumber": 1,
        "attemptFailureReason": null, "workflowRunId": "9", "checkRunId": "1002",
        "forgeCheckPublishedAt": null, "lastPublicationError": null, "createdAt": before(age),
        "updatedAt": before(age), "finishedAt": null,
    })
}

fn releases() -> Value {
    let items = [
        release(ID, "running", "v1.3.0", None, 7),
        release(KEY, "failed", "v1.2.1", Some("forge_workflow_failure"), 15),
        release(OTHER, "succeeded", "v1.2.0", None, 201),
    ];
    json!({ "items": items, "nextBefore": null })
}

fn release_detail() -> Value {
    let mut release = release(ID, "running", "v1.3.0", None, 7);
    let step = |step: &str, effect: Option<&str>, code: Option<&str>| {
        json!({
            "at": before(7), "step": step, "attemptNumber": 1, "code": code, "outboxId": effect,
            "reconciliationId": null,
        })
    };
    let details = json!({
        "attempts": [{
            "attemptId": OTHER, "number": 1, "status": "running", "failureReason": null,
            "workflowRunId": "9", "checkRunId": "1002", "hintedAt": null,
        }],
        "next": {
            "code": "awaits_result", "at": after(3), "deadlineAt": after(5), "deadLetterId": null,
            "reasonCode": null,
        },
        "steps": [
            step("attempt_started", None, None),
            step("check_run_created", Some(KEY), None),
            step("died", Some(OTHER), Some("forge_dispatch_rejected")),
        ],
    });
    release.as_object_mut().unwrap().extend(details.as_object().unwrap().clone());
    release
}

fn reconciliations() -> Value {
    let item = json!({
        "reconciliationId": ID, "kind": "workflow_attempt", "reason": "dispatch_uncertain",
        "subjectId": KEY, "status": "open", "outcomeCode": null, "attemptCount": 3,
        "nextCheckAt": after(3), "deadlineAt": after(5), "leaseExpiresAt": null,
        "createdAt": before(7), "finishedAt": null,
    });
    json!({ "items": [item], "nextBefore": null })
}

fn audit() -> Value {
    let event = |id: &str, event: &str, reason: Option<&str>| {
        json!({
            "auditEventId": id, "event": event, "actor": "ops:oncall", "operationId": OTHER,
            "itemType": "outbox", "itemId": KEY, "reasonCode": null, "reason": reason,
            "createdAt": before(7),
        })
    };
    let closed = "the forge shows a run for this tag already, and it has succeeded";
    let items = [
        event(ID, "control_plane.dead_letter_closed", Some(closed)),
        event(KEY, "control_plane.dead_letter_replayed", None),
    ];
    json!({ "items": items, "nextBefore": null })
}

fn installations() -> Value {
    json!({
        "items": [
            { "installationId": "4711", "account": "acme", "state": "active", "pausedUntil": null },
            { "installationId": "4712", "account": "大きな地図", "state": "suspended", "pausedUntil": null },
        ],
        "nextAfter": null,
    })
}

fn summary() -> Value {
    let count = |name: &str, count: u32, safe: u32| json!({ "name": name, "count": count, "replaySafeCount": safe, "oldestFailedAt": before(201) });
    json!({
        "count": 3, "replaySafeCount": 2, "oldestFailedAt": before(201), "truncated": false,
        "reasons": [count("forge_dispatch_rejected", 2, 2), count("forge_dispatch_uncertain", 1, 0)],
        "repositories": [count("acme/site", 3, 2)], "repositoryCount": 1, "replayClasses": [],
    })
}

fn slo() -> Value {
    let signal = |name: &str, state: &str, severity: &str, unit: &str, value: u64| {
        json!({
            "name": name, "meaning": "what is measured", "severity": severity,
            "gate": { "kind": "duration", "seconds": 300 }, "state": state, "since": before(7),
            "value": value, "unit": unit, "badSide": "high", "threshold": 20, "healthyValue": 2,
            "owner": "platform", "nextCheck": "look there",
        })
    };
    json!({
        "policyVersion": "forge-cloud-ga-v1", "health": "critical", "evaluatedAt": before(7),
        "signals": [
            signal("publication_failures", "firing", "critical", "count", 21),
            signal("forge_lookup_failures", "pending", "warning", "count", 22),
            signal("oldest_job_age", "inactive", "critical", "seconds", 1),
        ],
    })
}

fn status() -> Value {
    let queue = |count: u32| json!({ "count": count, "oldestAt": before(7) });
    json!({
        "status": "ready", "reconciliationConfigurationValid": true,
        "lastWorkflowReconciliationPollAt": before(7),
        "lastSuccessfulWorkflowReconciliationAt": before(7),
        "lastCheckRunReconciliationPollAt": before(7),
        "lastSuccessfulCheckRunReconciliationAt": before(15),
        "lastLifecycleReconciliationPollAt": before(7),
        "lastSuccessfulLifecycleReconciliationAt": null, "store": "ok", "schemaVersion": 57,
        "draining": false, "sloHealth": "degraded", "sloActiveSignals": ["dead_letters_open_age"],
        "version": env!("CARGO_PKG_VERSION"), "startedAt": before(201),
        "backlog": {
            "webhooks": queue(1), "jobs": queue(0), "outbox": queue(2),
            "reconciliationItems": queue(1), "reconciliationItemsGivenUp": queue(5),
            "deadLetters": queue(3), "deadLettersReplaySafe": 2, "installationsPaused": 0,
        },
        "forge": {
            "lastAnswerAt": before(7), "lastFailureAt": before(15), "lastFailureCause": "reset",
            "paused": false,
        },
    })
}

fn cards() -> Value {
    let digest = "ab".repeat(32);
    let card = json!({
        "name": "planner", "variant": "current", "protocolVersion": "1.0", "digest": digest,
        "size": 812, "revision": 3, "createdAt": before(201), "updatedAt": before(7),
        "updatedBy": "ops:oncall",
    });
    json!({ "items": [card], "nextAfter": null })
}

fn invocations() -> Value {
    let item = |id: &str, state: &str| {
        json!({
            "invocation": id, "proposal": OTHER, "step": 0, "session": OTHER,
            "subject": "https://issuer.example mallory", "client": "an agent with a long name of its own",
            "action": "set_text", "effect": "write", "state": state, "reason": null,
            "argumentsSha256": "0".repeat(64), "settledLate": false, "decidedBy": null,
            "expiresAt": after(3), "createdAt": before(7), "updatedAt": before(7),
        })
    };
    json!({ "items": [item(ID, "failed"), item(KEY, "running")], "nextBefore": null })
}

/// The commands of every page, with the answers of the service.
fn commands() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("dead-letters list", vec![dead_letters()]),
        ("dead-letters list --utc", vec![dead_letters()]),
        ("dead-letters list -o wide", vec![dead_letters()]),
        ("dead-letters summary", vec![summary()]),
        ("dead-letters show outbox $ID", vec![dead_letter()]),
        ("releases list", vec![releases()]),
        ("releases show $ID", vec![release_detail()]),
        ("reconcile list", vec![reconciliations()]),
        ("audit list", vec![audit()]),
        ("installations list", vec![installations()]),
        ("slo", vec![slo()]),
        ("status", vec![status(), installations(), summary(), summary()]),
        ("cards list", vec![cards()]),
        ("relay invocations list", vec![invocations()]),
    ]
}

/// Returns what a command prints on a terminal, whose lines it must not pass.
fn printed(command: &str, replies: Vec<Value>, columns: u16) -> String {
    let replies = replies.iter().map(|reply| Reply::json(200, &reply.to_string()));
    let desk = Desk::new(replies.collect());
    let mut command = desk.command(&command.replace("$ID", KEY));
    command.env("NO_COLOR", "1").env("TERM", "xterm").stderr(std::process::Stdio::null());
    let (text, _) = pty::run(&mut command, columns);
    for line in text.lines() {
        let fits = line.width() <= usize::from(columns) || !line.contains(' ');
        assert!(fits, "{columns}: {line}");
    }
    text.split_inclusive([' ', '\n', '(', ')']).map(plain).collect()
}

/// Writes an exact time as one of the same width.
fn plain(word: &str) -> String {
    let time = word.trim_end_matches([' ', '\n', '(', ')', ',', ';']);
    match Timestamp::parse_rounding_up(time) {
        Some(_) => word.replace(time, "2026-11-21T09:00:00.000000Z"),
        None => word.to_owned(),
    }
}

#[test]
fn what_is_printed_fits_the_terminal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cli/terminal");
    for columns in [200, 80, 60, 40] {
        let mut page = format!(
            "# A terminal of {columns} columns\n\n\
             An ID is shown whole or not at all, and no row is wrapped. What does not fit as a table is printed as records.\n"
        );
        for (command, replies) in commands() {
            let printed = printed(command, replies, columns);
            write!(page, "\n```console\n$ svcctl {command}\n{printed}```\n").unwrap();
        }
        let file = folder.join(format!("{columns}.md"));
        if crate::generated::is_update() {
            std::fs::write(&file, &page).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == page, "{} says now:\n{page}", file.display());
    }
}

#[test]
fn what_is_no_terminal_gets_everything_and_exact_times() {
    let reply = || Reply::json(200, &dead_letters().to_string());
    let desk = Desk::new((0..6).map(|_| reply()).collect());
    let piped = desk.run("dead-letters list").stdout;
    assert!(piped.starts_with("FAILED                       TYPE    ID "), "{piped}");
    assert!(piped.contains("REPOSITORY\n") && !piped.contains(" ago"), "{piped}");
    assert_eq!(desk.run("dead-letters list -o wide").stdout.lines().next(), piped.lines().next());
    // As for ls, ps and git: what sets it, such as watch, knows how wide the terminal is.
    let with = |columns: &str| finish(desk.command("dead-letters list").env("COLUMNS", columns));
    assert!(with("100").stdout.lines().all(|line| line.width() <= 100));
    assert_eq!(with("0").stdout.lines().next(), piped.lines().next());
    assert_eq!(with("wide").stdout.lines().next(), piped.lines().next());
    let mut command = desk.command("dead-letters list");
    let (text, _) = pty::run(command.env("COLUMNS", "200"), 80);
    assert!(text.lines().next().unwrap().contains("REPOSITORY"), "{text}");
}

#[test]
fn colours_are_for_terminals_and_say_nothing_that_words_do_not() {
    let colored = |arguments: &str, no_color: Option<&str>| {
        let desk = Desk::new(vec![Reply::json(200, &dead_letters().to_string())]);
        let mut command = desk.command(&format!("dead-letters list {arguments}"));
        command.env("TERM", "xterm").envs(no_color.map(|value| ("NO_COLOR", value)));
        pty::run(&mut command, 200).0
    };
    let text = colored("", None);
    assert!(text.contains("\u{1b}[1m\u{1b}[31mno\u{1b}[0m"), "{text:?}");
    assert!(text.contains("\u{1b}[32myes\u{1b}[0m"), "{text:?}");
    for plain in [colored("", Some("1")), colored("--color never", None)] {
        assert!(!plain.contains('\u{1b}'), "{plain:?}");
        assert_eq!(plain, anstream::adapter::strip_str(&text).to_string());
    }
    let desk = Desk::new(vec![Reply::json(200, &dead_letters().to_string())]);
    assert!(!desk.run("dead-letters list").stdout.contains('\u{1b}'));
}
