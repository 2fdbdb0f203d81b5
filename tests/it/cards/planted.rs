//! One fault is planted into a valid card: the report names it, and nothing else. 99 of 100 must be
//! told so; the rest is counted and shown.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use svc::card;

use super::make;

const CARDS: usize = 150;

/// A card with one fault, and what must be said of it.
pub(super) struct Planted {
    pub(super) text: String,
    code: &'static str,
    pointer: String,
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are for a run with --nocapture")]
fn one_fault_is_one_finding() {
    let mut runner = TestRunner::deterministic();
    let strategy = make::card().prop_filter("small", |card| card.to_string().len() < 6_000);
    let (mut planted, mut wrong) = (0, Vec::new());
    for _ in 0..CARDS {
        let card = strategy.new_tree(&mut runner).unwrap().current();
        for fault in faults(&card) {
            planted += 1;
            let report = card::check(fault.text.as_bytes());
            let told: Vec<_> = report
                .findings
                .iter()
                .map(|finding| (finding.code.as_str(), finding.pointer.as_str()))
                .collect();
            if told != [(fault.code, fault.pointer.as_str())] {
                wrong.push(format!("{} {}: {told:?}", fault.code, fault.pointer));
            }
        }
    }
    println!("{planted} faults planted, {} told otherwise", wrong.len());
    assert!(planted > 5_000, "{planted}");
    assert!(wrong.len() * 100 <= planted, "{} of {planted}: {wrong:#?}", wrong.len());
}

/// Plants every fault there is a place for.
pub(super) fn faults(card: &Value) -> Vec<Planted> {
    let mut faults = Vec::new();
    let mut plant = |card: Value, code, pointer: String| {
        faults.push(Planted { text: card.to_string(), code, pointer });
    };
    plant_at_root(card, &mut plant);
    for pointer in pointers(card) {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let with = |value: Value| {
            let mut changed = card.clone();
            *changed.pointer_mut(&pointer).unwrap() = value;
            changed
        };
        plant(with(json!(7)), "card/wrong-type", pointer.clone());
        plant(with(Value::Null), "card/null", pointer.clone());
        if is_word(card, &pointer) {
            plant(with(json!("bogus")), "card/unknown-value", pointer.clone());
        }
        if ["url", "uri", "iconUrl", "documentationUrl", "jwksUri", "openIdConnectUrl"]
            .contains(&name)
            && !parent.starts_with("/security/")
        {
            plant(with(json!("no uri")), "card/not-a-uri", pointer.clone());
        }
        if name == "signedAt" {
            plant(with(json!("2023-02-29T00:00Z")), "card/not-a-date-time", pointer.clone());
        }
        let is_object = card.pointer(parent).unwrap().is_object();
        if is_object && !parent.starts_with("/security/") {
            plant_at_name(card, parent, name, &mut plant);
        }
    }
    faults
}

fn plant_at_root(card: &Value, plant: &mut impl FnMut(Value, &'static str, String)) {
    let with = |name: &str, value: Value| {
        let mut changed = card.clone();
        changed[name] = value;
        changed
    };
    plant(with("protocolVersion", json!("9.9")), "card/unknown-version", "/protocolVersion".into());
    let is_legacy = card["protocolVersion"] == "0.3";
    let other = if is_legacy { "transport" } else { "authentication" };
    plant(with(other, json!([])), "card/other-variant", format!("/{other}"));
    plant(
        with("preferredTransport", json!("x")),
        "card/official-shape",
        "/preferredTransport".into(),
    );
    let twice = card.to_string().replacen('{', r#"{"name":"n","#, 1);
    let report = card::check(twice.as_bytes());
    assert_eq!(report.findings.len(), 1, "{twice}");
}

/// Takes away, misspells, and adds beside.
fn plant_at_name(
    card: &Value,
    parent: &str,
    name: &str,
    plant: &mut impl FnMut(Value, &'static str, String),
) {
    let change = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        let mut changed = card.clone();
        change(changed.pointer_mut(parent).unwrap().as_object_mut().unwrap());
        changed
    };
    plant(
        change(&|object| drop(object.insert("zzz".to_owned(), json!({})))),
        "card/unknown-property",
        format!("{parent}/zzz"),
    );
    let slip = name.to_uppercase();
    let misspelt = change(&|object| {
        let value = object.remove(name).unwrap();
        object.insert(slip.clone(), value);
    });
    plant(misspelt, "card/unknown-property", format!("{parent}/{slip}"));
    if is_required(card, parent, name) {
        let code = if parent.is_empty() && name == "protocolVersion" {
            "card/missing-version"
        } else {
            "card/missing-property"
        };
        plant(change(&|object| drop(object.remove(name))), code, format!("{parent}/{name}"));
    }
}

pub(super) fn is_word(card: &Value, pointer: &str) -> bool {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match name {
        "transport" | "algorithm" | "in" | "scheme" => !parent.starts_with("/security/"),
        "type" => card.pointer(parent).unwrap().is_object() && !parent.starts_with("/security/"),
        "protocolBinding" | "protocolVersion" => parent.starts_with("/supportedInterfaces/"),
        _ => false,
    }
}

fn is_required(card: &Value, parent: &str, name: &str) -> bool {
    let names: &[&str] = match parent.split('/').nth(1).unwrap_or_default() {
        "" => &["protocolVersion", "name", "description", "url", "version"],
        "provider" => &["name", "url"],
        "extensions" => &["uri"],
        "signatures" => &["algorithm", "keyId", "jws"],
        "skills" => &["id", "name", "description"],
        "supportedInterfaces" => &["url", "protocolBinding", "protocolVersion"],
        "securitySchemes" | "authentication" => {
            match card.pointer(parent).unwrap()["type"].as_str().unwrap() {
                "apiKey" => &["type", "id", "in", "name"],
                "http" => &["type", "id", "scheme"],
                _ => &["type", "id", "openIdConnectUrl"],
            }
        }
        _ => &[],
    };
    names.contains(&name)
}

/// Returns the pointers of everything below the root.
pub(super) fn pointers(card: &Value) -> Vec<String> {
    fn walk(value: &Value, pointer: &str, all: &mut Vec<String>) {
        let mut step = |name: &str, value: &Value| {
            let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            all.push(pointer.clone());
            walk(value, &pointer, all);
        };
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| step(name, value)),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(place, item)| step(&place.to_string(), item));
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    walk(card, "", &mut all);
    all
}
