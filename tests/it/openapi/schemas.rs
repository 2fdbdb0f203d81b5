//! The schemas that `svcctl schema` prints, held to what the code takes and writes: a document fits its schema if, and
//! only if, the code reads it, as far as JSON Schema can say. The schemas of cards have `cards::agreement`, and that of plans
//! is held in `cli/dead_letters/plan/document`.

use std::cell::Cell;
use std::process::Command;

use http::Method;
use jsonschema::Validator;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use serde_json::{Map, Value, json};
use svc::api::CardReport;
use svc::domain::operation::OperatorReason;
use svc::http::message::Surface;
use svc::{card, forge};

use super::document;
use crate::support::world::{TOKEN, World};

const NAMES: [&str; 5] =
    ["agent-card", "agent-card-legacy", "card-report", "dead-letter-plan", "release-result"];

fn printed(arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    let ended = command.env_clear().arg("schema").args(arguments).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    serde_json::from_slice(&ended.stdout).unwrap()
}

fn validator(name: &str) -> Validator {
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    options.build(&printed(&[name])).unwrap()
}

#[test]
fn each_schema_is_listed_and_printed() {
    let listed = printed(&["-o", "json"]);
    let names = listed.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), NAMES);
    for name in NAMES {
        let schema = printed(&[name]);
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

#[test]
fn the_api_has_the_same_schemas() {
    let document = document();
    let components = &document["components"]["schemas"];
    let without = |mut schema: Value, names: &[&str]| {
        for name in names {
            schema.as_object_mut().unwrap().remove(*name);
        }
        schema
    };
    let ours = ["$schema", "title", "description", "$defs"];
    let result = without(printed(&["release-result"]), &ours);
    assert_eq!(without(components["ReleaseResult"].clone(), &ours), result);

    let of_api = |name: &str| -> Value {
        let text = components[name].to_string().replace("#/components/schemas/", "#/$defs/");
        serde_json::from_str(&text).unwrap()
    };
    let mut report = printed(&["card-report"]);
    assert!(report["properties"].as_object_mut().unwrap().remove("file").is_some());
    assert_eq!(
        report["$defs"],
        json!({ "CardFinding": of_api("CardFinding"), "CardEdit": of_api("CardEdit") })
    );
    assert_eq!(without(report, &ours), without(of_api("CardReport"), &ours));
}

fn commit() -> impl Strategy<Value = Value> {
    let texts = [
        "a".repeat(40),
        "0".repeat(40),
        "b".repeat(64),
        "0".repeat(64),
        "A".repeat(40),
        "a".repeat(41),
    ];
    prop_oneof![1 => select(texts.to_vec()).prop_map(Value::from), 4 => "[0-9a-f]{40}".prop_map(Value::from)]
}

fn count() -> impl Strategy<Value = Value> {
    prop_oneof![
        30 => any::<u32>().prop_map(Value::from),
        1 => select(vec![json!(-1), json!(4_294_967_296_u64), json!("1"), json!(null)]),
    ]
}

/// Usually this member, sometimes another value, and sometimes none.
fn mostly(good: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Option<Value>> {
    let strange = select(vec![json!(null), json!(1), json!(""), json!([]), json!({}), json!(true)]);
    prop_oneof![30 => good.prop_map(Some), 1 => strange.prop_map(Some), 1 => Just(None)]
}

fn object(members: Vec<(&'static str, Option<Value>)>) -> Value {
    let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn result() -> impl Strategy<Value = Value> {
    let more = || prop_oneof![30 => Just(None), 1 => Just(Some(json!(1)))];
    let severities = (mostly(count()), mostly(count()), count(), count(), more());
    let findings = severities.prop_map(|(critical, high, medium, low, more)| {
        let counts = [("critical", critical), ("high", high), ("medium", Some(medium))];
        object([&counts[..], &[("low", Some(low)), ("more", more)]].concat())
    });
    let digest = prop_oneof![
        10 => "sha256:[0-9a-f]{64}",
        1 => select(vec!["sha256:".to_owned(), format!("sha256:{}", "A".repeat(64)), "f".repeat(64)]),
    ];
    let artifact = (mostly(digest.prop_map(Value::from)), more())
        .prop_map(|(digest, more)| object(vec![("digest", digest), ("more", more)]));
    let decision =
        select(vec!["accepted", "accepted_at_risk", "rejected", "success"]).prop_map(Value::from);
    let version = prop_oneof![30 => Just(json!(1)), 1 => Just(json!(2))];
    (
        mostly(version),
        mostly(decision),
        mostly(commit()),
        mostly(findings),
        mostly(artifact),
        more(),
    )
        .prop_map(|(version, decision, commit, findings, artifact, more)| {
            object(vec![
                ("version", version),
                ("decision", decision),
                ("headCommit", commit),
                ("findings", findings),
                ("artifact", artifact),
                ("more", more),
            ])
        })
}

#[test]
fn a_result_is_read_if_it_fits_its_schema() {
    let schema = validator("release-result");
    let verdicts = [Cell::new(0), Cell::new(0)];
    proptest!(|(body in result())| {
        let is_read = forge::result::read(&body.to_string()).is_ok();
        verdicts[usize::from(is_read)].update(|count| count + 1);
        assert_eq!(schema.is_valid(&body), is_read, "{body}");
    });
    assert!(verdicts.iter().all(|count| count.get() > 10), "{verdicts:?}");
}

#[test]
fn every_report_fits_its_schema() {
    let schema = validator("card-report");
    let good = include_str!("../../../docs/examples/agent-card.json");
    proptest!(|(cut in 0..good.len(), byte in any::<u8>(), line in proptest::option::of(1_u64..9))| {
        let mut card = good.as_bytes().to_vec();
        card[cut] = byte;
        let report = serde_json::to_value(CardReport::new(card::check(&card), line)).unwrap();
        assert!(schema.is_valid(&report), "{report}");
    });
    // What svcctl prints has the name of the file, too.
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    let arguments = [
        "cards",
        "validate",
        "--offline",
        "-o",
        "ndjson",
        "docs/examples/agent-card.json",
        "Cargo.toml",
    ];
    let ended = command
        .env_clear()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .unwrap();
    let lines = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    for line in lines.lines() {
        assert!(schema.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
    }
}

#[test]
fn a_reason_is_taken_if_it_fits_its_schema() {
    let schema = &document()["components"]["schemas"]["CloseRequest"];
    let schema = jsonschema::validator_for(schema).unwrap();
    let check = |text: &str| {
        let fits = schema.is_valid(&json!({ "reason": text }));
        assert_eq!(fits, OperatorReason::new(text).is_some(), "{text:?}");
    };
    let blank = ["", " ", "\u{a0}\u{3000}", "\u{85}", "\t", "a\u{202e}b", "\u{7f}"];
    blank.into_iter().for_each(check);
    // Not every dialect of patterns can name these, so the description does.
    let is_tag = |text: &str| text.chars().any(|char| ('\u{e0000}'..='\u{e007f}').contains(&char));
    assert!(OperatorReason::new("a\u{e0041}").is_none());
    [200, 201].into_iter().for_each(|length| check(&"é".repeat(length)));
    proptest!(|(text in "(.|\\PC){0,3}".prop_filter("tags", |text| !is_tag(text)))| check(&text));
}

#[test]
fn a_condition_is_read_if_it_fits_its_pattern() {
    let world = World::new();
    let card = include_bytes!("../../../docs/examples/agent-card.json").to_vec();
    let bearer = format!("Bearer {TOKEN}");
    let own = ("host", "localhost");
    let path = "/api/v1/agent-cards/a";
    let put = [own, ("authorization", &bearer), ("content-type", "application/json")];
    assert_eq!(world.send(Surface::Control, Method::PUT, path, &put, card).status, 201);

    let document = document();
    let parameters = &document["paths"]["/api/v1/agent-cards/{name}"]["get"]["parameters"];
    for name in ["If-Match", "If-None-Match"] {
        let parameter =
            parameters.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
        let schema = jsonschema::validator_for(&parameter["schema"]).unwrap();
        proptest!(|(text in "[*W/\"a, \t]{0,9}")| {
            // HTTP takes these for no part of a value.
            let text = text.trim_matches([' ', '\t']);
            let answer = world.send(Surface::Control, Method::GET, path, &[own, (name, text)], Vec::new());
            assert_eq!(schema.is_valid(&text.into()), answer.status != 400, "{name}: {text:?}");
        });
    }
}
