//! The specification's operator replay table (part 3.B) and status table (part 7.B), row by row, through
//! both endpoints of operators. The rows stand here as they stand there.

use rustix::process::Signal;

use super::ask::{Ask, Endpoint};
use super::letters::{self, list_path, replay};
use super::process::Daemon;
use super::site::Site;
use super::{INSTALLATION, STRANGER, database, wait_for};

const ABSENT: &str = "0199f3a0-0000-7000-8000-00000000000a";

/// What a row starts from.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Dead, and it reports `replaySafe: true`.
    Safe,
    /// The operation before it, asked for again.
    Same,
    /// Dead, and it reports `replaySafe: false`.
    Unsafe,
    /// Of another installation.
    Foreign,
    /// Nowhere.
    Absent,
}

/// State, HTTP status, outcome, and whether an audit event is answered.
const TABLE: [(State, u16, &str, bool); 5] = [
    (State::Safe, 200, "replayed", true),
    (State::Same, 200, "already_applied", true),
    (State::Unsafe, 409, "not_replayable", false),
    (State::Foreign, 404, "not_found", false),
    (State::Absent, 404, "not_found", false),
];

fn audit_events(site: &Site) -> i64 {
    let database = database::open(&site.database());
    let query = "SELECT count(*) FROM audit_events \
                 WHERE event = 'control_plane.dead_letter_replayed' AND actor = 'ops:tests'";
    database::number(&database, query, &[])
}

#[test]
fn the_table_holds_through_both_surfaces() {
    let site = Site::new();
    let mut daemon = site.start();
    let uncertain = letters::uncertain(&site, &daemon, 1);
    let foreign = letters::refused_of(&site, &daemon, &site.strangers, 2);
    let mut number = 10;
    for endpoint in daemon.operator_endpoints() {
        for kind in ["outbox", "job"] {
            number += 1;
            let safe = match kind {
                "outbox" => letters::refused(&site, &daemon, number),
                _ => letters::job(&site, &daemon, number),
            };
            assert!(is_listed(&endpoint, INSTALLATION, &safe, true));
            assert!(is_listed(&endpoint, INSTALLATION, &uncertain, false));
            let key = format!("operation-{number}");
            let mut event = String::new();
            for (state, status, outcome, audited) in TABLE {
                let (kind, item) = match state {
                    State::Safe | State::Same => (kind, safe.as_str()),
                    State::Unsafe => ("outbox", uncertain.as_str()),
                    State::Foreign => ("outbox", foreign.as_str()),
                    State::Absent => (kind, ABSENT),
                };
                let fresh = format!("{key}-{state:?}");
                let key = if matches!(state, State::Safe | State::Same) { &key } else { &fresh };
                let answer = endpoint.ask(&replay(INSTALLATION, kind, item, key));
                if audited {
                    assert_eq!(answer.status, status, "{state:?}: {answer:?}");
                    assert_eq!(answer.member("outcome"), outcome, "{state:?}");
                    let shown = answer.member("auditEventId");
                    assert!(matches!(state, State::Safe) || shown == event, "{state:?}");
                    event = shown;
                } else {
                    answer.assert_problem(status, outcome, key);
                }
            }
            assert_eq!(event.len(), 36);
            wait_for("the replayed item to be no letter any more", || {
                (!is_listed(&endpoint, INSTALLATION, &safe, true)).then_some(())
            });
        }
    }
    assert!(is_listed(&daemon.control, STRANGER, &foreign, true), "untouched");
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    assert_eq!(audit_events(&site), 4);
}

fn is_listed(endpoint: &Endpoint, installation: i64, id: &str, safe: bool) -> bool {
    let list = endpoint.ask(&Ask::get(&list_path(installation)).bearer()).json();
    let items = list["items"].as_array().unwrap().clone();
    items.iter().any(|item| item["itemId"] == id && item["replaySafe"] == safe)
}

#[test]
fn what_is_not_dead_is_not_replayed() {
    let site = Site::new();
    let daemon = site.start();
    let item = letters::refused(&site, &daemon, 1);
    let first = replay(INSTALLATION, "outbox", &item, "first");
    assert_eq!(daemon.control.ask(&first).member("outcome"), "replayed");
    let second = daemon.control.ask(&replay(INSTALLATION, "outbox", &item, "second"));
    second.assert_problem(409, "not_replayable", "second");
    assert_eq!(second.member("replayClass"), "not_dead");
    // A refused replay records no operation: its key is free.
    let other = letters::refused(&site, &daemon, 2);
    let again = daemon.control.ask(&replay(INSTALLATION, "outbox", &other, "second"));
    assert_eq!(again.member("outcome"), "replayed");
}

#[test]
fn a_key_is_for_one_request_for_ever() {
    let site = Site::new();
    let mut daemon = site.start();
    let first = letters::refused(&site, &daemon, 1);
    let other = letters::refused(&site, &daemon, 2);
    let foreign = letters::refused_of(&site, &daemon, &site.strangers, 3);
    let event = daemon
        .control
        .ask(&replay(INSTALLATION, "outbox", &first, "the-key"))
        .member("auditEventId");
    let check = |daemon: &Daemon| {
        for (installation, kind, item) in [
            (INSTALLATION, "outbox", other.as_str()),
            (INSTALLATION, "job", &first),
            (STRANGER, "outbox", &first),
            (STRANGER, "outbox", &foreign),
            (INSTALLATION, "outbox", ABSENT),
            (1, "job", ABSENT),
        ] {
            for endpoint in daemon.operator_endpoints() {
                let answer = endpoint.ask(&replay(installation, kind, item, "the-key"));
                answer.assert_problem(422, "operation_conflict", item);
            }
        }
        for endpoint in daemon.operator_endpoints() {
            let same = endpoint.ask(&replay(INSTALLATION, "outbox", &first, "the-key"));
            assert_eq!((same.status, same.member("auditEventId")), (200, event.clone()));
            assert_eq!(same.member("outcome"), "already_applied");
        }
    };
    check(&daemon);
    daemon.kill();
    let daemon = site.start();
    check(&daemon);
}

#[test]
fn foreign_is_absent_byte_for_byte() {
    let site = Site::new();
    let daemon = site.start();
    let own = letters::refused(&site, &daemon, 1);
    for endpoint in daemon.operator_endpoints() {
        let absent = endpoint.ask(&replay(STRANGER, "outbox", ABSENT, "key-1"));
        absent.assert_problem(404, "not_found", ABSENT);
        let own_at_stranger = replay(STRANGER, "outbox", &own, "key-1");
        assert_eq!(endpoint.ask(&own_at_stranger), absent, "an item of another installation");
        for (kind, item) in [
            ("job", own.as_str()),
            ("outbox", "not-an-id"),
            ("outbox", &own.to_uppercase()),
            ("outbox", "00000000-0000-0000-0000-000000000000"),
            ("release", &own),
            ("Outbox", &own),
            ("", &own),
            ("outbox", ""),
        ] {
            let answer = endpoint.ask(&replay(INSTALLATION, kind, item, "key-1"));
            assert_eq!(answer, absent, "{kind} {item}");
        }
        for installation in ["0", "-1", "+4711", "04711", "4711.0", "9223372036854775808", "x", ""]
        {
            let path = format!("/api/v1/operator/installations/{installation}/dead-letters");
            let answer =
                endpoint.ask(&Ask::post(&format!("{path}/outbox/{own}/replay")).bearer().key("k"));
            assert_eq!(answer, absent, "{installation}");
            endpoint.ask(&Ask::get(&path).bearer()).assert_problem(404, "not_found", installation);
        }
        // A detail is under the same scope.
        let detail = |installation: i64, item: &str| {
            endpoint.ask(&Ask::get(&format!("{}/outbox/{item}", list_path(installation))).bearer())
        };
        assert_eq!(detail(INSTALLATION, &own).status, 200);
        assert_eq!(detail(STRANGER, &own), detail(STRANGER, ABSENT));
        // A known installation without letters and an unknown one list alike.
        let list = |installation: i64| endpoint.ask(&Ask::get(&list_path(installation)).bearer());
        assert_eq!(list(STRANGER), list(1));
    }
}

#[test]
fn no_caller_chooses_the_actor() {
    let site = Site::new();
    let mut daemon = site.start();
    let item = letters::refused(&site, &daemon, 1);
    let ask = replay(INSTALLATION, "outbox", &item, "key")
        .header("X-Actor", "another:actor")
        .header("Content-Type", "application/json")
        .body(br#"{"actor":"another:actor","actorId":"another:actor"}"#);
    assert_eq!(daemon.control.ask(&ask).member("outcome"), "replayed");
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    assert_eq!(audit_events(&site), 1);
    let database = database::open(&site.database());
    let columns: (i64, String, String, String) = database
        .query_row(
            "SELECT installation_id, operation_id, item_type, item_id FROM audit_events",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    assert_eq!(columns, (INSTALLATION, "key".to_owned(), "outbox".to_owned(), item));
}
