//! Log lines: one event each, on standard error, as text or as a JSON object. Values are escaped in
//! both, so no value can end a line or start another.
//!
//! Never logged: tokens, secrets, signatures, bodies, normalised actions, payloads, queries of URLs,
//! and text of the forge or the database.

use std::fmt::Write as _;
use std::io::Write as _;

use env_logger::Builder;
use log::Record;
use log::kv::{Error, Key, Value, VisitSource};

use crate::config::LogConfig;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Starts logging, and makes a panic one log line. Calling it again changes nothing.
pub fn start(config: LogConfig) {
    let clock = SystemClock::new();
    let started = Builder::new()
        // Lines of other crates below a warning could hold what must never be logged.
        .filter_level(log::LevelFilter::Warn)
        .filter_module("svc", config.level)
        .filter_module("svcd", config.level)
        .format(move |out, record| {
            let now = clock.now().to_string();
            let line = if config.json { json(&now, record) } else { text(&now, record) };
            writeln!(out, "{line}")
        })
        .try_init();
    if started.is_ok() {
        std::panic::set_hook(Box::new(|info| {
            // The message of the panic is left out: it may quote the value that caused it.
            let place = info.location().map_or_else(String::new, ToString::to_string);
            log::error!(event = "process.panicked", place:% = place; "a thread panicked");
        }));
    }
}

/// Collects the fields of a record.
struct Fields(Vec<(String, String)>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        self.0.push((key.as_str().to_owned(), value.to_string()));
        Ok(())
    }
}

fn fields(record: &Record<'_>) -> Vec<(String, String)> {
    let mut fields = Fields(Vec::new());
    // The visitor never fails, so neither does the visit.
    drop(record.key_values().visit(&mut fields));
    fields.0
}

fn json(now: &str, record: &Record<'_>) -> String {
    let mut object = serde_json::Map::new();
    for (key, value) in fields(record) {
        object.insert(key, value.into());
    }
    // After the fields of the record, so that none of them replaces these.
    object.insert("ts".to_owned(), now.into());
    object.insert("level".to_owned(), record.level().as_str().to_ascii_lowercase().into());
    object.insert("message".to_owned(), record.args().to_string().into());
    serde_json::Value::Object(object).to_string()
}

fn text(now: &str, record: &Record<'_>) -> String {
    let mut line = format!("{now} {:<5} {}", record.level(), escape(&record.args().to_string()));
    for (key, value) in fields(record) {
        write!(line, " {key}={}", quote(&value)).expect("a string takes any text");
    }
    line
}

/// Quotes a value unless it is plainly one word.
fn quote(value: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.:/+".contains(&b);
    if !value.is_empty() && value.bytes().all(plain) {
        value.to_owned()
    } else {
        format!("\"{}\"", escape(value))
    }
}

fn escape(text: &str) -> String {
    text.chars().flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_with(value: &str, show: fn(&str, &Record<'_>) -> String) -> String {
        let pairs = [("event", "test.event"), ("field", value)];
        let record = Record::builder()
            .args(format_args!("something happened"))
            .level(log::Level::Info)
            .key_values(&pairs)
            .build();
        show("now", &record)
    }

    #[test]
    fn a_value_cannot_start_another_line() {
        for show in [text, json] {
            let line = record_with("a\n\u{1b}[31m\u{202e} \"b\"", show);
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(!line.contains('\u{1b}'), "{line}");
        }
    }

    #[test]
    fn lines_read_alone_and_parse() {
        assert_eq!(
            record_with("x y", text),
            "now INFO  something happened event=test.event field=\"x y\""
        );
        let parsed: serde_json::Value = serde_json::from_str(&record_with("x", json)).unwrap();
        assert_eq!(parsed["event"], "test.event");
        assert_eq!(parsed["message"], "something happened");
    }
}
