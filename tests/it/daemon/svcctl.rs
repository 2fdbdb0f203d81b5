//! `svcctl` against the real daemon, over the control socket and over loopback HTTP: what a script
//! relies on, the exit codes above all.

use super::ask::Endpoint;
use super::letters;
use super::process::Daemon;
use super::site::{Ended, Site};

const ABSENT: &str = "0199f3a0-0000-7000-8000-00000000000a";

fn urls(site: &Site, daemon: &Daemon) -> [String; 2] {
    let Some(Endpoint::Tcp(address)) = &daemon.operator else { panic!("no operator address") };
    [format!("unix:{}", site.socket().display()), format!("http://{address}")]
}

/// Runs it; it must end with the code.
fn run(site: &Site, url: &str, line: &str, code: i32) -> Ended {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ended = site.svcctl(url, &words);
    assert_eq!(ended.code, Some(code), "svcctl {line}: {ended:?}");
    ended
}

#[test]
fn dead_letters_are_listed_shown_and_replayed() {
    let site = Site::new();
    let daemon = site.start();
    let uncertain = letters::uncertain(&site, &daemon, 1);
    for (number, url) in urls(&site, &daemon).iter().enumerate() {
        let refused = letters::refused(&site, &daemon, 10 + number);
        let job = letters::job(&site, &daemon, 20 + number);
        let list = run(&site, url, "dead-letters list", 0).stdout;
        for id in [&uncertain, &refused, &job] {
            assert!(list.contains(id.as_str()), "{list}");
        }
        let shown = run(&site, url, &format!("dead-letters show outbox {refused}"), 0).stdout;
        assert!(shown.contains("forge_dispatch_rejected"), "{shown}");
        run(&site, url, &format!("dead-letters show job {refused}"), 6);
        run(&site, url, &format!("replay outbox {refused} --dry-run"), 0);
        let key = format!("--idempotency-key key-{number}");
        let first = run(&site, url, &format!("replay outbox {refused} {key} -o json"), 0).stdout;
        let again = run(&site, url, &format!("replay outbox {refused} {key} -o json"), 0).stdout;
        assert!(first.contains("\"replayed\""), "{first}");
        assert_eq!(first.replace("replayed", "already_applied"), again);
        run(&site, url, &format!("replay job {job} {key}"), 7);
        let done = run(&site, url, &format!("replay job {job}"), 0);
        assert!(done.stdout.contains("replayed"), "{done:?}");
        assert!(done.stderr.starts_with("idempotency-key: "), "{done:?}");
        run(&site, url, &format!("replay outbox {uncertain} --dry-run"), 5);
        let unsafe_ = run(&site, url, &format!("replay outbox {uncertain}"), 5);
        assert!(unsafe_.stderr.contains("a workflow run may exist"), "{unsafe_:?}");
        run(&site, url, &format!("replay outbox {refused}"), 5);
        run(&site, url, &format!("replay outbox {ABSENT}"), 6);
        run(&site, url, &format!("replay job {ABSENT} --installation 4712"), 6);
        run(&site, url, &format!("dead-letters show outbox {uncertain} --installation 4712"), 6);
        run(&site, url, "status", 0);
        run(&site, url, "installations list", 0);
        let releases = run(&site, url, "releases list -o ndjson", 0).stdout;
        let release: svc::api::ReleaseRun =
            serde_json::from_str(releases.lines().next().unwrap()).unwrap();
        let release = release.release_run_id;
        run(&site, url, &format!("releases show {release}"), 0);
        run(&site, url, &format!("releases show {release} --installation 4712"), 6);
        run(&site, url, &format!("releases list --before {release} --installation 4712"), 1);
        run(&site, url, &format!("releases list --before {ABSENT}"), 1);
        run(&site, url, "reconcile list", 0);
        let audit = run(&site, url, "audit list --all --limit 1 -o ndjson", 0).stdout;
        assert_eq!(audit.lines().count(), 2 * (number + 1), "{audit}");
        assert!(audit.contains(&format!("\"operationId\":\"key-{number}\"")), "{audit}");
    }
}

#[test]
fn a_wrong_token_and_a_daemon_that_is_gone() {
    let mut site = Site::new();
    let mut daemon = site.start();
    let urls = urls(&site, &daemon);
    site.secret("SVC_OPERATOR_API_TOKEN", "fedcba9876543210fedcba9876543210");
    let commands = [
        "dead-letters list",
        &format!("replay job {ABSENT} --retries 0"),
        "releases list",
        "reconcile list",
        "audit list",
    ];
    for url in &urls {
        for command in commands {
            let ended = run(&site, url, command, 4);
            assert!(!ended.stderr.contains("fedcba98"), "{ended:?}");
        }
    }
    daemon.kill();
    for url in &urls {
        for command in ["dead-letters list", "status", "installations list"] {
            run(&site, url, command, 69);
        }
        run(&site, url, commands[1], 69);
    }
}
