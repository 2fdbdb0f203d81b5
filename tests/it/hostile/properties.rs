//! Everything that reads what others wrote, with any text at all: nothing panics, what is accepted
//! reads back the same, and nothing repeats a secret. What was ever found, or is worth trying each
//! time, stands in `tests/data/hostile/texts.jsonl`.

use std::fmt::Display;
use std::str::FromStr;

use http::Method;
use proptest::prelude::*;
use secrecy::SecretString;
use svc::config::settings;
use svc::config::{Config, Source};
use svc::domain::dead_letter::{ItemId, ItemType};
use svc::domain::id::{
    AppId, AttemptId, AuditEventId, InstallationId, JobId, ReconciliationId, ReleaseRunId,
};
use svc::domain::operation::OperationId;
use svc::domain::time::Timestamp;
use svc::forge::signature::Secrets;
use svc::simulator::sign;

use crate::support::World;

const CORPUS: &str = include_str!("../../data/hostile/texts.jsonl");
const SECRET: &str = "the secret of a property";
/// What is put where a secret belongs.
const CANARY: &str = "c4nary-of-the-secrets-0123456789abcdef";

fn corpus() -> impl Iterator<Item = String> {
    CORPUS.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn check_cursor(text: &str) {
    let Some(read) = Timestamp::parse_rounding_up(text) else { return };
    let shown = read.to_string();
    assert_eq!(shown.len(), 27, "{text:?}: {shown}");
    assert_eq!(Timestamp::parse_rounding_up(&shown), Some(read), "{text:?}: {shown}");
    // Beyond the ends, and beyond nine digits of a fraction, the parser has no opinion.
    let Ok(parsed) = text.parse::<jiff::Timestamp>() else { return };
    let over = i128::from(read.micros()) * 1_000 - parsed.as_nanosecond();
    let inside = Timestamp::MIN < read && read < Timestamp::MAX;
    assert!(!inside || (0..1_000).contains(&over), "{text:?}: {shown}");
}

fn check_id<T: FromStr + Display>(text: &str) {
    if let Ok(id) = text.parse::<T>() {
        assert_eq!(id.to_string(), text);
    }
}

fn check_ids(text: &str) {
    check_id::<JobId>(text);
    check_id::<AttemptId>(text);
    check_id::<InstallationId>(text);
    check_id::<AppId>(text);
    check_id::<ReleaseRunId>(text);
    check_id::<AuditEventId>(text);
    check_id::<ReconciliationId>(text);
    for item_type in [ItemType::Job, ItemType::Outbox] {
        if let Some(item) = ItemId::parse(item_type, text) {
            assert_eq!((item.to_string().as_str(), item.item_type()), (text, item_type));
        }
    }
    if let Some(key) = OperationId::new(text) {
        assert!(key.as_str() == text && text.len() <= 128 && text.is_ascii());
    }
}

fn check_signature(header: &str, body: &[u8]) {
    let secrets = Secrets::new(vec![SecretString::from(SECRET)]).unwrap();
    let good = sign(SECRET, body);
    assert_eq!(secrets.verify(Some(&good), body), Ok(()));
    assert_eq!(secrets.verify(Some(header), body).is_ok(), header == good);
}

fn check_query(world: &World, query: &str) {
    for path in [
        "",
        "/1/dead-letters",
        "/1/dead-letters/job/x",
        "/1/audit-events",
        "/1/releases",
        "/1/releases/x",
        "/1/reconciliation-items",
    ] {
        let target = format!("/api/v1/operator/installations{path}?{query}");
        let answer = world.operate(Method::GET, &target, &[]);
        let status = answer.status.as_u16();
        assert!([200, 400, 404].contains(&status), "{target}: {status}");
        let json = crate::support::world::json(&answer);
        assert!(json.is_object(), "{target}");
    }
}

fn check_config(variables: Vec<(String, String)>) {
    let shown = format!("{variables:?}");
    let said = match Config::load(Source::of(variables)) {
        Ok(config) => format!("{config:?}"),
        Err(problems) => {
            assert!(!problems.is_empty());
            problems.iter().map(|problem| format!("{problem} {problem:?}")).collect()
        }
    };
    assert!(!said.contains(CANARY), "{shown}: {said}");
}

#[test]
fn the_corpus_holds() {
    let world = World::new();
    for text in corpus() {
        check_cursor(&text);
        check_ids(&text);
        check_signature(&text, text.as_bytes());
        check_query(&world, &text);
        for setting in settings::all() {
            check_config(vec![(setting.name.to_owned(), text.clone())]);
        }
    }
}

/// Text that is nearly an instant.
fn instant() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        "[0-9]{1,4}",
        "-[0-9]{2}",
        "T[0-9]{2}",
        ":[0-9]{2}",
        "\\.[0-9]{0,12}",
        "[+-][0-9]{2}:?[0-9]{0,2}",
        "[ZTz+.:, -]",
    ];
    prop_oneof![
        prop::collection::vec(parts, 0..9).prop_map(|parts| parts.concat()),
        "[0-9]{4}-(0[1-9]|1[0-2])-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{0,12})?(Z|[+-][0-2][0-9]:[0-5][0-9](:[0-5][0-9])?)",
        any::<String>(),
    ]
}

/// Text that is nearly an id.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[+-]?0?[0-9]{0,20}",
        "[0-9a-fA-F]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "\\{?[0-9a-f]{32}\\}?",
        any::<u128>().prop_map(|bits| uuid::Uuid::from_u128(bits).to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        "[!-~]{0,140}",
    ]
}

/// A name of a setting in one of its spellings, or any other, with a value that may fit.
fn variable() -> impl Strategy<Value = (String, String)> {
    let name = prop::sample::select(settings::all().collect::<Vec<_>>())
        .prop_map(|setting| (setting.name, setting.secret));
    let value = prop_oneof![
        any::<String>(),
        "[0-9]{0,20}",
        "(true|false|json|text|info|127\\.0\\.0\\.1:0|\\[::\\]:1|v\\*|https?://[a-z.@:/]{0,12})",
        "[0-9./,:a-f ]{0,40}",
    ];
    (name, value, 0..8_u8, any::<bool>()).prop_map(|((name, secret), value, spelt, whole)| {
        let value = match (secret, whole) {
            (true, true) => CANARY.to_owned(),
            (true, false) => format!("{value}{CANARY}{value}"),
            (false, _) => value,
        };
        match spelt {
            0 => (name.replacen("SVC_", "SERVICE_", 1), value),
            1 if !secret => (format!("{name}_FILE"), value),
            2 if !secret => (format!("{name}X"), value),
            _ => (name.to_owned(), value),
        }
    })
}

#[test]
fn any_query_gets_a_documented_answer() {
    let world = World::new();
    let part = prop_oneof![
        "(limit|before|after|status|Limit|%6cimit|)",
        "[=&;+?#]",
        "%[0-9a-fA-F]{0,2}",
        "[0-9]{1,11}",
        instant(),
        "[!-~]{0,9}",
    ];
    let query = prop::collection::vec(part, 0..9).prop_map(|parts| parts.concat());
    proptest!(|(query in query)| check_query(&world, &query));
}

proptest! {
    #[test]
    fn any_cursor_reads_back_or_is_refused(text in instant()) {
        check_cursor(&text);
    }

    #[test]
    fn any_instant_is_a_cursor(micros in any::<i64>()) {
        let instant = Timestamp::from_micros(micros);
        prop_assert_eq!(Timestamp::parse_rounding_up(&instant.to_string()), Some(instant));
    }

    #[test]
    fn any_id_has_one_spelling(text in id()) {
        check_ids(&text);
    }

    #[test]
    fn only_the_signature_is_one(
        header in prop_oneof![any::<String>(), "(sha256=|sha1=|SHA256=)?[0-9a-fA-F ]{62,66}"],
        body in prop::collection::vec(any::<u8>(), 0..200),
        place in 0..71_usize,
        other in any::<char>(),
    ) {
        check_signature(&header, &body);
        let mut bent: Vec<char> = sign(SECRET, &body).chars().collect();
        bent[place] = other;
        check_signature(&bent.into_iter().collect::<String>(), &body);
    }

    #[test]
    fn any_environment_is_taken_or_refused_without_a_secret(
        variables in prop::collection::vec(variable(), 0..12),
    ) {
        check_config(variables);
    }
}
