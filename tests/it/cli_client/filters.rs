//! Filters of lists on the command line: what is sent of them, and what is refused before anything is sent.

use super::canned_server::Reply;
use super::{Desk, ID, finish, item, page};

#[test]
fn a_filter_is_answered_by_the_service_and_is_in_the_command_for_the_next_page() {
    let items = [item(ID, "outbox", "2020-01-01T00:00:00.000002Z")];
    let desk = Desk::new(vec![page(&items, Some("2020-01-01T00:00:00.000002Z"))]);
    let run = desk.run(
        "dead-letters list --type outbox --reason crash_loop --repository acme/site \
         --replay-safe=false --since 2019-12-31 --until 2020-01-02T00:00:00+01:00 --limit 1",
    );
    assert_eq!(run.code, 0, "{run:?}");
    let asked = "/installations/42/dead-letters?limit=1&type=outbox&reason=crash_loop\
        &repository=acme%2Fsite&replaySafe=false&since=2019-12-31T00%3A00%3A00.000000Z\
        &until=2020-01-01T23%3A00%3A00.000000Z HTTP/1.1";
    let requests = desk.server.requests();
    assert!(requests[0].line().ends_with(asked), "{requests:?}");
    let options = " --installation 42 --type outbox --reason crash_loop --repository acme/site \
        --replay-safe=false --since 2019-12-31T00:00:00.000000Z \
        --until 2020-01-01T23:00:00.000000Z --limit 1 --before 2020-01-01T00:00:00.000002Z\n";
    assert!(run.stderr.ends_with(options), "{}", run.stderr);
}

/// An age is from the start of the run, so a next page that has it again would be of another list.
#[test]
fn an_age_is_an_instant_in_every_request_of_a_run_and_in_its_next_command() {
    let next = "2100-01-01T00:00:00.000001Z";
    let reply = || page(&[item(ID, "job", next)], Some(next));
    let desk = Desk::new(vec![reply(), page(&[], None), reply()]);
    assert_eq!(desk.run("dead-letters list --since 2h --all --limit 1").code, 0);
    let since =
        |line: &str| line.split("since=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let requests = desk.server.requests();
    assert_eq!(since(requests[0].line()), since(requests[1].line()));
    let run = desk.run("dead-letters list --since 2h --replay-safe --limit 1");
    assert!(run.stderr.contains(" --replay-safe --since 2"), "{}", run.stderr);
    assert!(!run.stderr.contains("--since 2h"), "{}", run.stderr);
}

#[test]
fn what_can_match_nothing_is_refused_and_nothing_is_sent() {
    for (command, message) in [
        ("dead-letters list --since 1h --until 2h", "'since' must be earlier than 'until'; make"),
        ("audit list --since 1h --until 1h", "'since' must be earlier than 'until'"),
        (
            "releases list --since 2026-11-22 --until 2026-11-21",
            "'since' must be earlier than 'until'",
        ),
        ("reconcile list --since 1h --until 2h", "'since' must be earlier than 'until'"),
        ("dead-letters list --since 1h --before 2h", "before must not be earlier than since; give"),
        (
            "dead-letters list --type job --reason forge_dispatch_uncertain",
            "an item of type job cannot have the reason forge_dispatch_uncertain; omit",
        ),
        (
            "releases list --stuck --status succeeded",
            "an item that has ended cannot be stuck; omit",
        ),
        (
            "reconcile list --stuck --status completed",
            "an item that has ended cannot be stuck; omit",
        ),
        ("dead-letters list --since yesterday", "such as 2026-11-21T09:00:00Z, a date such as"),
        ("dead-letters list --repository site", "not the name of a repository such as acme/site"),
        ("dead-letters list --replay-safe=maybe", "[possible values: true, false]"),
        ("dead-letters list -A --before 2h", "use --until"),
    ] {
        let desk = Desk::new(Vec::new());
        let run = desk.run(command);
        assert_eq!((run.code, run.stdout.as_str()), (64, ""), "{command}: {run:?}");
        assert!(run.stderr.contains(message), "{command}: {}", run.stderr);
        assert!(desk.server.requests().is_empty(), "{command}");
    }
}

const FIRST: &str =
    r#"{"items":[{"installationId":"7","account":"acme","state":"active"}],"nextAfter":"7"}"#;
const SECOND: &str =
    r#"{"items":[{"installationId":"9","account":null,"state":"deleted"}],"nextAfter":null}"#;

fn at(micros: u32) -> String {
    format!("2020-01-01T00:00:00.{micros:06}Z")
}

/// Two installations: one with pages of 6, 4 and 3, 1, the other with one of 5, 2.
fn two_installations() -> Desk {
    let rows = |all: &[u32]| all.iter().map(|it| item(ID, "job", &at(*it))).collect::<Vec<_>>();
    Desk::new(vec![
        Reply::json(200, FIRST),
        Reply::json(200, SECOND),
        page(&rows(&[6, 4]), Some(&at(4))),
        page(&rows(&[5, 2]), None),
        page(&rows(&[3, 1]), None),
    ])
}

#[test]
fn lists_of_all_installations_are_one_list_in_the_order_of_time() {
    let desk = two_installations();
    let run = desk.run("dead-letters list -A --all --limit 2 --utc");
    let lines: Vec<_> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("INSTALLATION  FAILED "), "{run:?}");
    let order: Vec<_> =
        lines[1..].iter().map(|line| (line.as_bytes()[0], line.as_bytes()[39])).collect();
    let expected =
        [(b'7', b'6'), (b'9', b'5'), (b'7', b'4'), (b'7', b'3'), (b'9', b'2'), (b'7', b'1')];
    assert_eq!(order, expected, "{}", run.stdout);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let requests = desk.server.requests();
    assert!(requests[2].line().contains("/installations/7/dead-letters?limit=2 "), "{requests:?}");
    assert!(requests[3].line().contains("/installations/9/dead-letters?limit=2 "), "{requests:?}");
    let more = "/installations/7/dead-letters?limit=2&before=2020-01-01T00%3A00%3A00.000004Z ";
    assert!(requests[4].line().contains(more), "{requests:?}");

    let run = two_installations().run("dead-letters list -A --all --limit 2 -o ndjson");
    let first = run.stdout.lines().next().unwrap();
    assert_eq!(first, item(ID, "job", &at(6)).replacen('{', "{\"installationId\":\"7\",", 1));
    assert_eq!(run.stdout.lines().count(), 6);
}

#[test]
fn a_part_of_all_installations_says_how_to_go_on() {
    let run = two_installations().run("dead-letters list -A --type job --limit 2");
    assert_eq!(run.stdout.lines().count(), 3, "{run:?}");
    // The row behind the last one is of the fourth microsecond, and the end is exclusive.
    let options = " --all-installations --type job --until 2020-01-01T00:00:00.000005Z --limit 2\n";
    assert!(run.stderr.ends_with(options), "{}", run.stderr);
    let run = two_installations().run("dead-letters list -A --limit 2 -o json");
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["nextUntil"], "2020-01-01T00:00:00.000005Z");
    assert_eq!(document["items"][1]["installationId"], "9");
    let desk = Desk::new(vec![Reply::json(200, r#"{"items":[],"nextAfter":null}"#)]);
    let run = desk.run("releases list -A");
    assert_eq!((run.code, run.stderr.as_str()), (0, "note: no release runs\n"));
}

#[test]
fn rows_of_one_instant_are_in_one_part() {
    let rows = [6, 4, 4, 2].map(|it| item(ID, "job", &at(it)));
    let desk = Desk::new(vec![Reply::json(200, SECOND), page(&rows, None)]);
    let run = desk.run("dead-letters list -A --limit 2 -o json");
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["items"].as_array().unwrap().len(), 3, "{run:?}");
    assert_eq!(document["nextUntil"], "2020-01-01T00:00:00.000003Z");
}

fn summary(name: &str, count: u32) -> Reply {
    let counts = format!(
        r#"[{{"name":"{name}","count":{count},"replaySafeCount":1,"oldestFailedAt":"{}"}}]"#,
        at(count)
    );
    Reply::json(
        200,
        &format!(
            r#"{{"count":{count},"replaySafeCount":1,"oldestFailedAt":"{}","truncated":false,"reasons":{counts},"repositories":{counts},"repositoryCount":1,"replayClasses":{counts}}}"#,
            at(count)
        ),
    )
}

#[test]
fn a_summary_is_of_one_installation_or_of_each_with_their_sum() {
    let desk = Desk::new(vec![summary("x", 3)]);
    let run = desk.run("dead-letters summary");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.starts_with("open         3\nreplay-safe  1\noldest "), "{}", run.stdout);
    assert!(desk.server.requests()[0].line().contains("/installations/42/dead-letters/summary "));

    let replies = || {
        vec![Reply::json(200, FIRST), Reply::json(200, SECOND), summary("x", 3), summary("x", 4)]
    };
    let run = finish(
        Desk::new(replies()).command("dead-letters summary -A").env_remove("SVC_INSTALLATION"),
    );
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("\nopen         7\nreplay-safe  2\n"), "{}", run.stdout);
    let run = Desk::new(replies()).run("dead-letters summary -A -o ndjson");
    let lines: Vec<_> = run.stdout.lines().collect();
    assert!(lines[1].starts_with(r#"{"installationId":"9","count":4,"#), "{lines:?}");
}
