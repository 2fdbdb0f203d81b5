//! Types and published schema agree, both ways.

use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::made::{built, from_plugin, mutate, other, parts};
use super::*;
use crate::domain::time::Timestamp;
use crate::relay::action::DesignAction;

/// The schema of one side's frames, as the document has it.
fn side(name: &str) -> Schema {
    Schema::new(definition(&DOCUMENT, name).unwrap())
}

static FROM_DAEMON: LazyLock<Schema> = LazyLock::new(|| side("fromDaemon"));
static FROM_PLUGIN: LazyLock<Schema> = LazyLock::new(|| side("fromPlugin"));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_the_daemon_builds_fits_the_schema(parts in parts()) {
        let frame = built(parts);
        let value: Value = serde_json::from_str(&write(&frame)).unwrap();
        prop_assert_eq!(check(frame.kind(), &value), Ok(()));
        prop_assert_eq!(FROM_DAEMON.check(&value), Ok(()));
        prop_assert!(FROM_PLUGIN.check(&value).is_err());
    }

    #[test]
    fn what_a_plugin_may_say_is_read_and_nothing_is_lost(frame in from_plugin()) {
        let read = read(&frame.to_string()).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        prop_assert_eq!(read.kind().as_str(), frame["type"].as_str().unwrap());
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), frame);
    }
}

#[test]
fn the_published_table_has_every_close_code() {
    let readme = include_str!("../../../docs/relay/README.md");
    for close in Close::ALL {
        let mut rows = readme.lines().filter_map(|line| line.strip_prefix("| "));
        let row = rows.find(|row| row.starts_with(&format!("{} | ", close.code())));
        let again = if close.may_come_again() { "yes |" } else { "no |" };
        assert!(row.is_some_and(|row| row.ends_with(again)), "{close:?}: {row:?}");
    }
}

#[test]
fn only_the_name_of_another_version_is_one() {
    for name in ["svc.relay.v0", "svc.relay.v2", "svc.relay.v10", "svc.relay.v999"] {
        assert!(is_other_version(name), "{name}");
    }
    for name in [
        PROTOCOL,
        "svc.relay.v",
        "svc.relay.v1000",
        "svc.relay.v2.0",
        "svc.relay.w2",
        "svc.other.v2",
        "",
        "SVC.RELAY.V2",
    ] {
        assert!(!is_other_version(name), "{name}");
    }
}

/// The frames that a run of mutations gave, by the verdict of the schema.
#[test]
fn what_the_schema_refuses_is_refused_and_what_it_accepts_is_read() {
    let (accepted, refused) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let path = prop::collection::vec(any::<u8>(), 1..4);
    let config = ProptestConfig::with_cases(4_000);
    proptest!(config, |(frame in from_plugin(), path in path, change in 0..6_u8, other in other())| {
        let mut frame = frame;
        mutate(&mut frame, path, change, other);
        let is_accepted = FROM_PLUGIN.check(&frame).is_ok();
        let count = if is_accepted { &accepted } else { &refused };
        count.set(count.get() + 1);
        let read = read(&frame.to_string());
        prop_assert_eq!(read.is_ok(), is_accepted, "{}", frame);
    });
    assert!(accepted.get() > 100 && refused.get() > 1_000, "{accepted:?} {refused:?}");
}

#[test]
fn both_sides_have_the_frames_of_the_document() {
    let listed = |name: &str| -> Vec<String> {
        let frames = DOCUMENT["$defs"][name]["oneOf"].as_array().unwrap();
        let name = |frame: &Value| frame["$ref"].as_str().unwrap().replace("#/$defs/", "");
        frames.iter().map(name).collect()
    };
    let plugin: Vec<&str> = PluginFrame::ALL.iter().map(|kind| kind.as_str()).collect();
    let daemon: Vec<&str> = DaemonFrame::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(listed("fromPlugin"), plugin);
    assert_eq!(listed("fromDaemon"), daemon);
}

fn fault(text: &str) -> Option<Fault> {
    read(text).err()
}

#[test]
fn what_is_no_frame_is_refused_by_what_is_wrong() {
    for text in ["", "[]", "null", "{", "{}{}", r#"{"type":"bye","reason":NaN}"#] {
        assert_eq!(fault(text), Some(Fault::Malformed), "{text}");
    }
    for text in [
        r#"{"type":"bye","reason":"person","reason":"person"}"#,
        r#"{"type":"bye","type":"bye","reason":"person"}"#,
        r#"{"type":"context","file":{"key":null,"name":"a","name":"b","page":"c"}}"#,
        r#"{"type":"context","file":{"key":null,"name":"a","n\u0061me":"b","page":"c"}}"#,
    ] {
        assert_eq!(fault(text), Some(Fault::Repeated), "{text}");
    }
    for text in ["{}", r#"{"type":1}"#, r#"{"type":"ping","n":1}"#, r#"{"type":"Bye"}"#] {
        assert_eq!(fault(text), Some(Fault::UnknownType), "{text}");
    }
    let values = format!(
        r#"{{"type":"result","grant":"{}","outcome":"succeeded","value":[{}0]}}"#,
        Uuid::nil(),
        "0,".repeat(VALUES_MAX)
    );
    assert_eq!(fault(&values), Some(Fault::TooManyValues));
}

#[test]
fn a_fault_repeats_nothing_of_the_frame() {
    let mark = "cafe0123";
    for text in [
        format!(r#"{{"type":"{mark}"}}"#),
        format!(r#"{{"type":"bye","reason":"{mark}"}}"#),
        format!(r#"{{"type":"bye","reason":"person","{mark}":1}}"#),
        format!(r#"{{"type":"context","file":{{"{mark}":1}}}}"#),
        format!(r#"{{"type":"shown","proposal":"{mark}","previewSha256":"{mark}"}}"#),
        format!("{{{mark}}}"),
    ] {
        let fault = fault(&text).expect(&text);
        let problem = write(&FromDaemon::Problem(fault.problem()));
        assert!(!problem.contains(mark), "{problem}");
        assert_eq!(fault.close(), Close::BadFrame);
    }
    assert_eq!(Fault::TooLarge.close(), Close::TooLarge);
}

#[test]
fn lines_are_short_and_plain() {
    assert_eq!(Line::new(&"é".repeat(300)).as_str(), "é".repeat(200));
    assert_eq!(
        Line::new("a\nb\u{202e}c\u{2028}\u{7f}d").as_str(),
        "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}d"
    );
}

#[test]
fn instants_are_as_the_schema_calls_them() {
    for micros in [0, 1, 1_795_251_600_123_456, Timestamp::MAX.micros()] {
        let shown = Timestamp::from_micros(micros).to_string();
        let schema = json!({"type": "string", "format": "date-time", "maxLength": 32});
        let validator = jsonschema::draft202012::options().should_validate_formats(true);
        assert!(validator.build(&schema).unwrap().is_valid(&json!(shown)), "{shown}");
    }
}

#[test]
fn close_codes_are_those_of_the_protocol() {
    let codes = Close::ALL.map(Close::code);
    assert_eq!(codes, [4400, 4401, 4403, 4404, 4408, 4409, 4410, 4413, 4426, 4429]);
    let again: Vec<u16> =
        Close::ALL.into_iter().filter(|close| close.may_come_again()).map(Close::code).collect();
    assert_eq!(again, [4408, 4429]);
}

#[test]
fn actions_of_another_version_are_not_known() {
    let mut frame: Value = {
        let vectors = include_str!("../../../tests/data/relay/vectors.json");
        let vectors: Value = serde_json::from_str(vectors).unwrap();
        serde_json::from_str(vectors["hello"]["text"].as_str().unwrap()).unwrap()
    };
    frame["actions"] = json!(["set_text", "draw_cat", "list_pages"]);
    let Ok(FromPlugin::Hello(hello)) = read(&frame.to_string()) else { panic!("it is a hello") };
    let known: Vec<DesignAction> = hello.known_actions().into_iter().collect();
    assert_eq!(known, [DesignAction::ListPages, DesignAction::SetText]);
}
