use std::cell::Cell;

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::*;

/// Returns the published schema.
fn schema() -> jsonschema::Validator {
    let schema = include_str!("../../../../../docs/schemas/dead-letter-plan.json");
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    options.build(&serde_json::from_str(schema).unwrap()).unwrap()
}

fn head(action: PlanAction) -> PlanHead {
    PlanHead {
        plan_id: "0199f3a0-0000-7000-8000-00000000000a".to_owned(),
        created_at: Timestamp::from_micros(1_795_251_600_000_000),
        store_id: "3f0c9a52-7d1e-4b6a-a1c4-5e8d2f7b9c10".to_owned(),
        action,
        reason: (action == PlanAction::Close).then(|| "not \"needed\"".to_owned()),
        installation_ids: vec![1.try_into().unwrap(), 2.try_into().unwrap()],
        all_installations: true,
        filters: BTreeMap::from([("since".to_owned(), "2026-11-21T09:00:00.000000Z".to_owned())]),
    }
}

fn item(number: usize) -> PlanItem {
    PlanItem {
        installation_id: i64::try_from(1 + number % 2).unwrap().try_into().unwrap(),
        item_type: ["job", "outbox"][number % 2].to_owned(),
        item_id: format!("0199f3a0-0000-7000-8000-{number:012x}"),
        failed_at: Timestamp::from_micros(1_795_251_600_000_000 + i64::try_from(number).unwrap()),
        reason_code: ["job_failed", "forge_unavailable", "crash_loop"][number % 3].to_owned(),
        replay_class: "not_sent".to_owned(),
    }
}

fn written(action: PlanAction, items: usize) -> String {
    let mut text = Vec::new();
    let mut plan = PlanWriter::begin(&mut text, head(action)).unwrap();
    plan.summary.leave_out("dispatch_uncertain", "a run may exist");
    for number in 0..items {
        plan.item(&item(number)).unwrap();
    }
    plan.end().unwrap();
    String::from_utf8(text).unwrap()
}

fn read(text: &str) -> Result<Plan, PlanFault> {
    Plan::read(|| Ok(text.as_bytes())).unwrap()
}

#[test]
fn what_was_written_is_read() {
    for items in [0, 1, 7] {
        for action in [PlanAction::Replay, PlanAction::Close] {
            let plan = read(&written(action, items)).unwrap();
            assert_eq!(plan.head, head(action));
            assert_eq!((plan.items.len(), plan.summary.items), (items, items));
            assert_eq!(plan.summary.left_out[0].count, 1);
            for (number, read) in plan.items.iter().enumerate() {
                let item = item(number);
                assert_eq!(read.item.to_string(), item.item_id);
                assert_eq!(read.item.item_type().as_str(), item.item_type);
                assert_eq!(
                    (read.installation, read.failed_at),
                    (item.installation_id, item.failed_at)
                );
                assert_eq!(read.reason, u32::try_from(number % 3).unwrap());
            }
        }
    }
}

#[test]
fn a_plan_of_many_installations_is_read() {
    let numbers: Vec<usize> = (0..20_000).collect();
    let installation = |number: &usize| i64::try_from(number + 1).unwrap().try_into().unwrap();
    let installation_ids = numbers.iter().map(installation).collect();
    let mut text = Vec::new();
    let head = PlanHead { installation_ids, ..head(PlanAction::Replay) };
    let mut plan = PlanWriter::begin(&mut text, head).unwrap();
    for number in &numbers {
        let installation_id = installation(number);
        plan.item(&PlanItem { installation_id, ..item(*number) }).unwrap();
    }
    let (_, summary) = plan.end().unwrap();
    let plan = Plan::read(|| Ok(text.as_slice())).unwrap().unwrap();
    assert_eq!((plan.items.len(), plan.summary), (numbers.len(), summary));
}

#[test]
fn the_key_is_of_the_plan_and_the_item() {
    let plan = read(&written(PlanAction::Replay, 2)).unwrap();
    assert_eq!(
        plan.key(plan.items[1].item).as_str(),
        "0199f3a0-0000-7000-8000-00000000000a/outbox/0199f3a0-0000-7000-8000-000000000001"
    );
}

/// The digest is of what the plan says, not of how the file is laid out.
#[test]
fn a_plan_may_be_laid_out_anew() {
    let text = written(PlanAction::Replay, 5);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for anew in [serde_json::to_string(&value), serde_json::to_string_pretty(&value)] {
        assert_eq!(read(&anew.unwrap()).unwrap().items.len(), 5);
    }
}

/// Every member of a plan, with another value, without its last part, beside one more, or away. What still fits the schema
/// is a plan, and was changed.
#[test]
fn every_change_is_noticed() {
    let (schema, mut fitting) = (schema(), 0);
    let text = written(PlanAction::Close, 3);
    let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut pointers = Vec::new();
    walk(&whole, String::new(), &mut pointers);
    assert!(pointers.len() > 40, "{pointers:?}");
    for pointer in pointers {
        for change in 0..4 {
            let mut changed = whole.clone();
            edit(&mut changed, &pointer, change);
            if changed != whole {
                let fault = read(&changed.to_string()).unwrap_err();
                if schema.is_valid(&changed) {
                    fitting += 1;
                    let is_edited = matches!(fault, PlanFault::Edited);
                    assert!(is_edited, "{pointer} by change {change}: {fault:?}");
                }
            }
        }
    }
    assert!(fitting > 10, "{fitting}");
    for cut in [1, 10, text.len() / 2, text.len() - 3] {
        assert!(matches!(read(text.get(..cut).unwrap()), Err(PlanFault::NotAPlan(_))));
    }
}

fn walk(value: &serde_json::Value, at: String, pointers: &mut Vec<String>) {
    let below: Vec<(String, &serde_json::Value)> = match value {
        serde_json::Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        serde_json::Value::Array(values) => {
            values.iter().enumerate().map(|(place, value)| (place.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (name, value) in below {
        walk(value, format!("{at}/{name}"), pointers);
    }
    pointers.push(at);
}

fn edit(whole: &mut serde_json::Value, pointer: &str, change: usize) {
    if change == 3 {
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        if let Some(members) = whole.pointer_mut(parent).and_then(|it| it.as_object_mut()) {
            drop(members.remove(name));
        }
        return;
    }
    let other = serde_json::json!("another");
    let found = whole.pointer_mut(pointer).unwrap();
    match (change, found) {
        (0, found) => {
            *found = match found {
                serde_json::Value::Number(number) => (number.as_u64().unwrap() + 1).into(),
                serde_json::Value::Bool(bool) => (!*bool).into(),
                serde_json::Value::String(text) if text.ends_with('0') => {
                    format!("{}1", text.get(..text.len() - 1).unwrap()).into()
                }
                _ => other,
            }
        }
        (1, serde_json::Value::Object(members)) => {
            drop(members.insert("another".to_owned(), other));
        }
        (1, serde_json::Value::Array(values)) => {
            if let Some(last) = values.last().cloned() {
                values.push(last);
            }
        }
        (2, serde_json::Value::Object(members)) => drop(members.pop_back()),
        (2, serde_json::Value::Array(values)) => drop(values.pop()),
        _ => {}
    }
}

trait PopBack {
    fn pop_back(&mut self) -> Option<serde_json::Value>;
}

impl PopBack for serde_json::Map<String, serde_json::Value> {
    fn pop_back(&mut self) -> Option<serde_json::Value> {
        let last = self.keys().next_back().cloned()?;
        self.remove(&last)
    }
}

#[test]
fn a_newer_version_is_named_whatever_else_it_has() {
    for text in [
        r#"{"schemaVersion": 2}"#.to_owned(),
        r#"{"steps": [], "schemaVersion": 2, "sha256": 7}"#.to_owned(),
        written(PlanAction::Replay, 1).replace("\"schemaVersion\": 1", "\"schemaVersion\": 2"),
    ] {
        assert!(matches!(read(&text), Err(PlanFault::Newer(2))), "{text}");
    }
}

#[test]
fn what_is_no_plan_is_refused() {
    for text in
        ["", "{}", "[]", "null", "{\"schemaVersion\": 1}", "\u{0}", "{\"schemaVersion\": -1}"]
    {
        assert!(matches!(read(text), Err(PlanFault::NotAPlan(_))), "{text}");
    }
    let twice =
        written(PlanAction::Replay, 1).replace("\"sha256\"", "\"sha256\": \"\", \"sha256\"");
    assert!(matches!(read(&twice), Err(PlanFault::NotAPlan(_))));
}

fn heads() -> impl Strategy<Value = PlanHead> {
    let reason = prop_oneof![4 => "\\PC{0,9}", 1 => ".{0,3}", 1 => Just("x".repeat(201))]
        .prop_filter("tags", |text| {
            !text.chars().any(|char| ('\u{e0000}'..='\u{e007f}').contains(&char))
        });
    let ids = prop_oneof![
        9 => Just(head(PlanAction::Replay).plan_id),
        1 => select(vec!["", "0199F3A0-0000-7000-8000-00000000000A"]).prop_map(str::to_owned),
    ];
    let is_close = any::<bool>();
    (ids, is_close, proptest::option::weighted(0.5, reason), "\\PC{0,9}", any::<bool>()).prop_map(
        |(plan_id, is_close, reason, text, all_installations)| PlanHead {
            plan_id,
            reason,
            store_id: text.clone(),
            all_installations,
            filters: BTreeMap::from([(text.clone(), text)]),
            ..head(if is_close { PlanAction::Close } else { PlanAction::Replay })
        },
    )
}

fn items() -> impl Strategy<Value = PlanItem> {
    let types = prop_oneof![20 => select(vec!["job", "outbox"]), 1 => select(vec!["", "Job"])];
    let ids = prop_oneof![20 => "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", 1 => "[0-9a-f]{32}"];
    let times = Timestamp::MIN.micros()..=Timestamp::MAX.micros();
    (types, ids, times, "\\PC{0,9}", 1..=2_i64).prop_map(
        |(item_type, item_id, failed_at, word, installation)| PlanItem {
            installation_id: installation.try_into().unwrap(),
            item_type: item_type.to_owned(),
            item_id,
            failed_at: Timestamp::from_micros(failed_at),
            reason_code: word.clone(),
            replay_class: word,
        },
    )
}

/// Whatever it says, as long as its counts and its digest are right.
#[test]
fn a_plan_is_read_if_it_fits_its_schema() {
    let schema = schema();
    let verdicts = [Cell::new(0), Cell::new(0)];
    proptest!(|(head in heads(), items in proptest::collection::vec(items(), 0..4))| {
        let mut text = Vec::new();
        let mut plan = PlanWriter::begin(&mut text, head).unwrap();
        items.iter().for_each(|item| plan.item(item).unwrap());
        plan.end().unwrap();
        let text = String::from_utf8(text).unwrap();
        let is_read = read(&text).is_ok();
        verdicts[usize::from(is_read)].update(|count| count + 1);
        assert_eq!(schema.is_valid(&serde_json::from_str(&text).unwrap()), is_read, "{text}");
    });
    assert!(verdicts.iter().all(|count| count.get() > 10), "{verdicts:?}");
}
