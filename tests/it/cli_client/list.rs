//! Lists: pages, filters, formats, and which installation is meant.

use super::canned_server::Reply;
use super::{Desk, ID, KEY, finish, item, page};

#[test]
fn the_list_is_a_table_with_the_command_for_the_next_page() {
    let items = [
        item(ID, "job", "2020-01-01T00:00:00.000002Z"),
        item(KEY, "outbox", "2020-01-01T00:00:00.000001Z"),
    ];
    let desk = Desk::new(vec![page(&items, Some("2020-01-01T00:00:00.000001Z"))]);
    let run = desk.run("dead-letters list --limit 2 --utc");
    let table = "\
FAILED                       TYPE    ID                                    REPLAY-SAFE  TRIES  ERROR CLASS  FORGE FAILURE  REASON      REPOSITORY
2020-01-01T00:00:00.000002Z  job     0199f3a0-0000-7000-8000-00000000000a  yes          5      crash        -              crash_loop  acme/site
2020-01-01T00:00:00.000001Z  outbox  0199f3a0-0000-7000-8000-0000000000ff  yes          5      crash        -              crash_loop  acme/site
";
    assert_eq!(run.stdout, table);
    let hint = format!(
        "next page: svcctl dead-letters list --url {} --token-file {} --installation 42 --limit 2 \
         --before 2020-01-01T00:00:00.000001Z --utc\n",
        desk.server.url,
        desk.token_file().display()
    );
    assert_eq!(run.stderr, hint);
    assert_eq!(run.code, 0);
}

#[test]
fn all_pages_are_followed_and_ndjson_prints_items_only() {
    let desk = Desk::new(vec![
        page(
            &[item(ID, "job", "2020-01-01T00:00:00.000002Z")],
            Some("2020-01-01T00:00:00.000002Z"),
        ),
        page(&[item(KEY, "job", "2020-01-01T00:00:00.000001Z")], None),
    ]);
    let run = desk.run("dead-letters list --all --limit 1 -o ndjson");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines[0], item(ID, "job", "2020-01-01T00:00:00.000002Z"));
    assert_eq!(lines[1], item(KEY, "job", "2020-01-01T00:00:00.000001Z"));
    assert_eq!(lines.len(), 2);
    let requests = desk.server.requests();
    let cursor = "dead-letters?limit=1&before=2020-01-01T00%3A00%3A00.000002Z HTTP/1.1";
    assert!(requests[1].line().ends_with(cursor), "{requests:?}");
}

#[test]
fn pages_that_turn_in_circles_are_an_error() {
    let circle = || page(&[], Some("2020-01-01T00:00:00.000001Z"));
    let desk = Desk::new(vec![circle(), circle(), circle()]);
    assert_eq!(desk.run("dead-letters list --all").code, 65);
}

#[test]
fn the_only_installation_is_found_and_several_are_named() {
    let one =
        r#"{"items":[{"installationId":"7","account":"acme","state":"active"}],"nextAfter":null}"#;
    let desk = Desk::new(vec![Reply::json(200, one), page(&[], None)]);
    let run = finish(desk.command("dead-letters list").env_remove("SVC_INSTALLATION"));
    assert_eq!(run.code, 0, "{run:?}");
    assert!(desk.server.requests()[1].line().contains("/installations/7/dead-letters"));

    let first =
        r#"{"items":[{"installationId":"7","account":"acme","state":"active"}],"nextAfter":"7"}"#;
    let second =
        r#"{"items":[{"installationId":"9","account":null,"state":"deleted"}],"nextAfter":null}"#;
    let several = || vec![Reply::json(200, first), Reply::json(200, second)];
    let desk = Desk::new(several());
    let run = finish(desk.command("dead-letters list").env_remove("SVC_INSTALLATION"));
    let expected = "\
error: there are several installations; choose one
hint: --installation 7  (acme, active)
hint: --installation 9  (account not known, deleted)
";
    assert_eq!((run.code, run.stderr.as_str()), (64, expected));

    let desk = Desk::new(several());
    let run = desk.run("installations list");
    let expected = "\
INSTALLATION  ACCOUNT  STATE
7             acme     active
9             -        deleted
";
    assert_eq!((run.code, run.stdout.as_str()), (0, expected));
    assert!(desk.server.requests()[1].line().contains("?limit=100&after=7 "));
}
