//! Digests, against vectors that were made with JavaScript.

use super::*;
use crate::json;
use proptest::prelude::*;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/relay/vectors.json")).unwrap()
}

#[test]
fn the_vectors_come_out() {
    let vectors = vectors();
    let vectors = vectors["arguments"].as_array().unwrap();
    assert!(vectors.len() > 20);
    for vector in vectors {
        let text = |name: &str| vector[name].as_str().unwrap();
        let given = json::read(text("given").as_bytes(), 100).unwrap();
        let given = given.as_object().unwrap();
        let made = arguments_text(text("action"), given);
        assert_eq!(String::from_utf8(made).unwrap(), text("canonical"), "{}", text("what"));
        assert_eq!(arguments(text("action"), given).to_string(), text("sha256"));
    }
}

#[test]
fn what_has_no_one_reading_is_refused() {
    for text in vectors()["refused"].as_array().unwrap() {
        let text = text.as_str().unwrap();
        assert!(json::read(text.as_bytes(), 100).is_err(), "{text}");
    }
}

#[test]
fn hello_and_journal_have_the_digests_of_the_vectors() {
    let vectors = vectors();
    let text = |of: &str, name: &str| vectors[of][name].as_str().unwrap().to_owned();
    let spread = serde_json::to_string_pretty(
        &serde_json::from_str::<Value>(&text("hello", "text")).unwrap(),
    );
    for spelling in [text("hello", "text"), spread.unwrap()] {
        assert_eq!(hello(&spelling).unwrap().to_string(), text("hello", "sha256"));
    }
    assert_eq!(hello("no JSON"), None);
    let entries: Vec<Entry> = serde_json::from_str(&text("journal", "text")).unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(journal(&entries).to_string(), text("journal", "sha256"));
    assert_ne!(journal(&entries[..1]), journal(&entries));
    assert_eq!(journal(&[]), sha256::of(b"[]"));
}

#[test]
fn every_part_of_a_lane_matters() {
    let session = |last: u8| Lane::Session(uuid::Uuid::from_bytes([last; 16]).into()).digest();
    let file = |issuer, subject, tool, file| Lane::File { issuer, subject, tool, file }.digest();
    let lanes = [
        file("i", "s", DesignTool::Penpot, "f"),
        file("j", "s", DesignTool::Penpot, "f"),
        file("i", "t", DesignTool::Penpot, "f"),
        file("i", "s", DesignTool::Figma, "f"),
        file("i", "s", DesignTool::Penpot, "g"),
        file("is", "", DesignTool::Penpot, "f"),
        session(1),
        session(2),
    ];
    for (place, lane) in lanes.iter().enumerate() {
        assert_eq!(lanes.iter().position(|other| other == lane), Some(place));
    }
    assert_eq!(session(1), session(1));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        (-1e6..1e6).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes an object with its members in this or the opposite order, at every depth.
fn spelled(value: &Value, backwards: bool) -> String {
    let joined = |mut parts: Vec<String>, turn: bool| {
        if turn {
            parts.reverse();
        }
        parts.join(" , ")
    };
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}: {}", json!(name), spelled(value, backwards))
            };
            format!("{{{}}}", joined(members.iter().map(member).collect(), backwards))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| spelled(item, backwards)).collect();
            format!("[{}]", joined(items, false))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn the_order_of_members_does_not_matter(value in any_json()) {
        let digest = |backwards| {
            let text = format!("{{\"v\":{}}}", spelled(&value, backwards));
            let given = json::read(text.as_bytes(), 1_000).unwrap();
            arguments("test", given.as_object().unwrap())
        };
        prop_assert_eq!(digest(false), digest(true));
    }

    #[test]
    fn rounding_twice_is_rounding_once(value in any_json()) {
        let once = rounded(&value);
        prop_assert_eq!(rounded(&once), once.clone());
        // What is stored and sent is read back as it was.
        let text = once.to_string();
        prop_assert_eq!(json::read(text.as_bytes(), 1_000), Ok(once));
    }

    #[test]
    fn rounding_moves_a_number_by_half_a_thousandth_at_most(x in -1e6..1e6_f64) {
        prop_assert!((round(x) - x).abs() <= 0.000_500_000_001);
    }
}
