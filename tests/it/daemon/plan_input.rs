//! Bad input to plans: each a clear error with the next step, and nothing is sent.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use svc::crypto::sha256;

use super::plans::{audited, run, url};
use super::site::Site;
use super::{INSTALLATION, STRANGER, letters};

/// Returns the text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// Returns a plan with the digest of what it says now, as one who wants to deceive would make it. Nothing in it has blanks.
fn sealed(plan: &str) -> String {
    let compact = |text: &str| text.split_whitespace().collect::<String>();
    let head = compact(between(plan, "\"plan\": ", ",\n\"items\""));
    let items = between(plan, "\"items\": [", "\n],").replace(",\n", "").replace('\n', "");
    let summary = compact(between(plan, "\"summary\": ", ",\n\"sha256\""));
    let mut whole = format!("{head}\n{summary}\n").into_bytes();
    whole.extend(sha256::of(items.as_bytes()).as_bytes());
    let old = between(plan, "\"sha256\": \"", "\"");
    plan.replace(old, &sha256::of(&whole).to_string())
}

#[test]
fn a_plan_that_must_not_be_applied_sends_nothing() {
    let site = Site::new();
    let daemon = site.start();
    letters::suspended(&site, &daemon, &site.webhooks, 1..4);
    letters::suspended(&site, &daemon, &site.strangers, 1..2);
    run(&site, "dead-letters plan -A --file plan.json", 0);
    let plan = std::fs::read_to_string(site.path("plan.json")).unwrap();
    assert_eq!(sealed(&plan), plan, "the digest is as it is described");
    let created = between(&plan, "\"createdAt\": \"", "\"");
    let first = between(&plan, "\"itemId\":\"", "\"");
    let store = between(&plan, "\"storeId\": \"", "\"");
    let cases = [
        (
            "newer",
            plan.replace("\"schemaVersion\": 1", "\"schemaVersion\": 2"),
            74,
            "update svcctl",
        ),
        ("no-plan", "{}".to_owned(), 74, "svcctl dead-letters plan --file"),
        ("cut", plan[..plan.len() / 2].to_owned(), 74, "svcctl dead-letters plan --file"),
        ("edited", plan.replace(first, &first.replace('0', "1")), 74, "after it was written"),
        ("renamed", plan.replace("job_transaction", "not_sent"), 74, "after it was written"),
        (
            "old",
            sealed(&plan.replace(created, "2026-01-01T00:00:00.000000Z")),
            74,
            "--file old-next.json",
        ),
        (
            "another",
            sealed(&plan.replace(store, "00000000-0000-4000-a000-000000000000")),
            74,
            "another database",
        ),
        (
            "outside",
            sealed(&plan.replace(&format!("\"{STRANGER}\"\n"), "\"9999\"\n")),
            74,
            "after it was written",
        ),
    ];
    for (name, text, code, said) in cases {
        assert_ne!(text, plan, "{name}");
        std::fs::write(site.path(&format!("{name}.json")), text).unwrap();
        let refused = run(&site, &format!("dead-letters apply {name}.json -A --yes"), code);
        assert!(refused.stderr.contains(said), "{name}: {refused:?}");
        assert!(refused.stdout.is_empty(), "{name}: {refused:?}");
    }
    for (line, code, said) in [
        // Of two installations, while one is named.
        ("dead-letters apply plan.json --yes", 64, "add --all-installations"),
        ("dead-letters apply plan.json -A", 64, "add --yes"),
        ("dead-letters apply absent.json --yes", 74, "cannot be used"),
        ("dead-letters apply plan.json -A --yes --rate 0/s", 64, "5/s"),
        ("dead-letters apply plan.json -A --yes --url unix:/absent", 69, "cannot reach"),
    ] {
        let refused = run(&site, line, code);
        assert!(refused.stderr.contains(said), "{line}: {refused:?}");
    }
    run(&site, "dead-letters plan -A --close x --file close.json", 0);
    for option in ["--canary 1", "--stop-after-failures 1"] {
        let line = format!("dead-letters apply close.json -A --yes {option}");
        assert!(run(&site, &line, 64).stderr.contains("omit --canary"), "{line}");
    }
    let other = Site::new();
    let _other = other.start();
    let apply = ["dead-letters", "apply", "plan.json", "-A", "--yes"];
    let refused = site.svcctl_in_folder(&url(&other), &apply);
    assert_eq!(refused.code, Some(74), "{refused:?}");
    assert!(refused.stderr.contains("another database"), "{refused:?}");
    assert_eq!((audited(&site), audited(&other)), (0, 0));
    assert_eq!(letters::letters(&daemon, INSTALLATION).len(), 3);
}

/// It would never be too old.
#[test]
fn a_plan_that_is_dated_in_the_future_is_refused_with_both_times() {
    let site = Site::new();
    let daemon = site.start();
    letters::suspended(&site, &daemon, &site.webhooks, 1..2);
    run(&site, "dead-letters plan --file plan.json", 0);
    let plan = std::fs::read_to_string(site.path("plan.json")).unwrap();
    let created = between(&plan, "\"createdAt\": \"", "\"");
    let future = sealed(&plan.replace(created, "2100-01-01T00:00:00.000000Z"));
    std::fs::write(site.path("plan.json"), future).unwrap();
    let refused = run(&site, "dead-letters apply plan.json --yes", 74);
    let both = "written at 2100-01-01T00:00:00.000000Z, and the clock of this machine says 2";
    assert!(refused.stderr.contains(both), "{refused:?}");
    assert!(refused.stderr.contains("--file plan-next.json"), "{refused:?}");
    assert_eq!(audited(&site), 0);
}

#[test]
fn a_plan_that_cannot_be_meant_is_not_written() {
    let site = Site::new();
    let daemon = site.start();
    letters::suspended(&site, &daemon, &site.webhooks, 1..2);
    std::fs::write(site.path("taken.json"), "mine").unwrap();
    let long = "x".repeat(201);
    for (options, code, said) in [
        ("--since 1h --until 2h", 64, "'since' must be earlier than 'until'"),
        ("--type job --reason forge_dispatch_rejected", 64, "omit 'type' or 'reason'"),
        ("--replay-safe=false", 64, "omit --replay-safe=false"),
        ("--reason nothing", 64, "possible values"),
        ("--installation 9999", 6, "does not know installation 9999"),
        ("--type outbox", 6, "no dead letter matches"),
        ("--close", 64, "--close <TEXT>"),
        ("--close=", 64, "1 to 200 characters"),
        (&format!("--close {long}"), 64, "1 to 200 characters"),
    ] {
        let refused = run(&site, &format!("dead-letters plan {options} --file plan.json"), code);
        assert!(refused.stderr.contains(said), "{options}: {refused:?}");
        assert!(!site.path("plan.json").exists(), "{options}");
    }
    let taken = run(&site, "dead-letters plan --file taken.json", 74);
    assert!(taken.stderr.contains("--force"), "{taken:?}");
    assert_eq!(std::fs::read_to_string(site.path("taken.json")).unwrap(), "mine");
    run(&site, "dead-letters plan --file nowhere/plan.json", 74);
    run(&site, "dead-letters plan --file taken.json --force", 0);
    // Only a regular file is replaced: what else a name leads to stays.
    symlink("taken.json", site.path("link.json")).unwrap();
    std::fs::create_dir(site.path("folder.json")).unwrap();
    // No device, which a failure of this test would replace.
    let _listener = UnixListener::bind(site.path("socket.json")).unwrap();
    for name in ["link.json", "folder.json", "socket.json"] {
        let refused = run(&site, &format!("dead-letters plan --file {name} --force"), 74);
        assert!(refused.stderr.contains("is not a regular file"), "{name}: {refused:?}");
    }
    assert!(std::fs::symlink_metadata(site.path("link.json")).unwrap().is_symlink());
    run(&site, "dead-letters plan", 64);
    let left = std::fs::read_dir(site.path(".")).unwrap();
    let left = left
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".tmp"));
    assert_eq!(left.count(), 0, "no half-written plan is left");
    assert_eq!(audited(&site), 0);
}
