//! Cards that are fixed, made by chance: a slip is undone and nothing else is touched, whatever the layout.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use svc::card::{self, Fixed};

use super::{make, planted};

const CARDS: usize = 60;

/// Stands for the name or value with the slip; no card that is made has it.
const SLIP: &str = "\"@@slip@@\"";

/// The same part of a card, right and wrong.
struct Slip {
    /// The whole card, with `SLIP` in place of the part.
    card: Value,
    right: String,
    wrong: Vec<String>,
}

pub(super) fn cards(count: usize) -> impl Iterator<Item = Value> {
    let mut runner = TestRunner::deterministic();
    let strategy = make::card().prop_filter("small", |card| card.to_string().len() < 4_000);
    (0..count).map(move |_| strategy.new_tree(&mut runner).unwrap().current())
}

/// Returns a card as several authors would lay it out.
fn layouts(card: &Value) -> [String; 3] {
    let pretty = serde_json::to_string_pretty(card).unwrap();
    [card.to_string(), pretty.replace('\n', "\r\n\t"), pretty]
}

#[test]
#[expect(clippy::print_stdout, reason = "the count is for a run with --nocapture")]
fn a_slip_is_undone_byte_for_byte() {
    let mut undone = 0;
    for card in cards(CARDS) {
        let slips: Vec<Slip> =
            planted::pointers(&card).iter().flat_map(|pointer| slips(&card, pointer)).collect();
        for Slip { card, right, wrong } in slips {
            for layout in layouts(&card) {
                assert_eq!(layout.matches(SLIP).count(), 1, "{layout}");
                let expected = layout.replace(SLIP, &right);
                assert!(card::check(expected.as_bytes()).is_valid(), "{expected}");
                for wrong in &wrong {
                    let faulty = layout.replace(SLIP, wrong);
                    assert_eq!(fixed(&faulty).text, expected, "{faulty}");
                    undone += 1;
                }
            }
        }
    }
    println!("{undone} slips undone");
    assert!(undone > 10_000, "{undone}");
}

fn fixed(faulty: &str) -> Fixed {
    card::fix(faulty.as_bytes()).unwrap_or_else(|| panic!("not fixed: {faulty}"))
}

/// Returns the slips that there are for one place.
fn slips(card: &Value, pointer: &str) -> Vec<Slip> {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let value = card.pointer(pointer).unwrap();
    let with = |changed: Value| {
        let mut card = card.clone();
        *card.pointer_mut(pointer).unwrap() = changed;
        card
    };
    let marked = with(json!(SLIP.trim_matches('"')));
    let in_security = pointer.starts_with("/security/");
    let is_item = card.pointer(parent).unwrap().is_array();
    let mut slips = Vec::new();
    let wrong = wrong_values(card, pointer);
    if !wrong.is_empty() {
        slips.push(Slip { card: marked.clone(), right: value.to_string(), wrong });
    }
    if name == "url" && !in_security {
        let right = json!("https://a.example/a%20%C3%BC").to_string();
        let wrong = vec![
            json!("https://a.example/a ü").to_string(),
            r#"" https://a.example/a \u00fc""#.into(),
        ];
        slips.push(Slip { card: marked.clone(), right, wrong });
    }
    if name == "version" && !in_security {
        slips.push(Slip { card: marked, right: "\"1.50\"".into(), wrong: vec!["1.50".into()] });
    }
    if !is_item && !in_security {
        let mut card = card.clone();
        let object = card.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        let value = object.remove(name).unwrap();
        object.insert(SLIP.trim_matches('"').to_owned(), value);
        let wrong =
            vec![json!(name.to_uppercase()).to_string(), json!(format!("{name}_")).to_string()];
        slips.push(Slip { card, right: json!(name).to_string(), wrong });
    }
    slips
}

/// Returns how authors write a value otherwise.
fn wrong_values(card: &Value, pointer: &str) -> Vec<String> {
    let (value, (_, name)) = (card.pointer(pointer).unwrap(), pointer.rsplit_once('/').unwrap());
    // It may be a string as well as an array.
    if name == "audience" {
        return Vec::new();
    }
    let mut wrong = match value {
        Value::Bool(true) => vec!["\"TRUE\"".to_owned(), "1".to_owned()],
        Value::Bool(false) => vec!["\" false\"".to_owned(), "0".to_owned()],
        Value::String(_) if pointer.contains("/audience/") => Vec::new(),
        Value::String(_) => vec![format!("[\t{value} ]")],
        Value::Array(items) => match items.as_slice() {
            [only @ Value::String(_)] => vec![only.to_string()],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let is_version = name == "protocolVersion" && !pointer.starts_with("/security/");
    if is_version {
        let version = value.as_str().unwrap();
        wrong.push(version.to_owned());
        wrong.push(format!("\"v{version}.0\""));
    } else if planted::is_word(card, pointer) {
        let word = value.as_str().unwrap();
        wrong.push(json!(word.to_uppercase() + " ").to_string());
        wrong.push(json!(format!("-{}", word.to_lowercase())).to_string());
    }
    wrong
}

#[test]
fn a_null_or_a_mark_is_omitted_with_its_comma() {
    let nulls = r#""iconUrl": null"#;
    for mut card in cards(CARDS) {
        card.as_object_mut().unwrap().remove("iconUrl");
        for layout in layouts(&card) {
            let inside = layout.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap();
            let members = inside.trim();
            let (before, behind) = inside.split_once(members).unwrap();
            for faulty in [
                format!("\u{feff}{layout}"),
                format!("{{{before}{nulls},{inside}}}"),
                format!("{{{before}{members},{before}{nulls}{behind}}}"),
            ] {
                assert_eq!(fixed(&faulty).text, layout, "{faulty}");
            }
        }
    }
    let empty = |inside: &str| {
        format!(
            r#"{{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1","capabilities":{{{inside}}}}}"#
        )
    };
    let faulty = empty(r#""streaming":null , "extendedAgentCard": null,"mcpCompatible":null"#);
    assert_eq!(fixed(&faulty).text, empty(""));
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are for a run with --nocapture")]
fn a_faulty_card_is_fixed_once_and_only_where_it_has_edits() {
    let (mut valid, mut left) = (0, 0);
    for card in cards(CARDS) {
        for text in planted::faults(&card).into_iter().map(|fault| fault.text) {
            let expected = step_by_step(&text);
            let Some(fixed) = card::fix(text.as_bytes()) else {
                assert_eq!(expected, text);
                left += 1;
                continue;
            };
            assert_eq!(fixed.text, expected, "{text}");
            assert_eq!(fixed.report, card::check(expected.as_bytes()));
            assert!(card::fix(expected.as_bytes()).is_none(), "{text}\n{expected}");
            // There was one fault, and an edit does not put another in its place.
            assert!(fixed.report.is_valid(), "{text}\n{expected}");
            valid += 1;
        }
    }
    println!("{valid} are valid, {left} have no edits");
    assert!(valid > 500 && left > 500);
}

/// Carries out what each report says, from the end, until there is nothing more.
fn step_by_step(text: &str) -> String {
    let mut text = text.to_owned();
    loop {
        let findings = card::check(text.as_bytes()).findings;
        let mut edits: Vec<_> = findings.into_iter().filter_map(|finding| finding.edit).collect();
        if edits.is_empty() {
            return text;
        }
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.offset));
        for edit in edits {
            text.replace_range(edit.offset..edit.offset + edit.length, &edit.text);
        }
    }
}

#[test]
fn many_faults_are_fixed_in_several_rounds() {
    let skill = json!({ "ID": 1, "name": "n", "Description": "d", "tags": null, "examples": "x" });
    let right = json!({ "id": "1", "name": "n", "description": "d", "examples": ["x"] });
    let card = |skill: &Value| {
        let skills = vec![skill.clone(); 200];
        let card = json!({
            "protocolVersion": "1.0", "name": "n", "description": "d", "url": "a:b", "version": "1",
            "skills": skills,
        });
        serde_json::to_string(&card).unwrap()
    };
    let fixed = fixed(&card(&skill));
    assert_eq!(fixed.edits, 200 * 5);
    let sorted = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
    assert_eq!(sorted(&fixed.text), sorted(&card(&right)));
}
