//! Log lines: one event each, on standard error, as logfmt or as a JSON object. Values are escaped in
//! both, so no value can end a line or start another.
//!
//! The journal of systemd gets the priority of each line in front of it, and no time, because it notes one itself
//! (docs/decisions/92-log-formats.md).
//!
//! Never logged: tokens, secrets, signatures, bodies, normalised actions, payloads, queries of URLs,
//! and text of the forge or the database.

mod queue;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use env_logger::{Builder, Target};
use log::kv::{Error, Key, Value, VisitSource};
use log::{Level, LevelFilter, Record};
use serde_json::Value as Json;

use crate::config::{LogConfig, journal_stream};
use crate::logging::queue::Queue;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::thread;

/// Longest wait for lines to be written before the process ends.
const FLUSH_MAX: Duration = Duration::from_secs(1);

static QUEUE: Queue = Queue::new();
/// Whether a thread writes what is in the queue.
static IS_QUEUED: AtomicBool = AtomicBool::new(false);
/// Whether the journal reads standard error.
static IS_JOURNAL: LazyLock<bool> = LazyLock::new(|| {
    let stream = rustix::fs::fstat(io::stderr()).ok();
    let stream = stream.map(|stat| format!("{}:{}", stat.st_dev, stat.st_ino));
    stream.is_some() && stream == journal_stream()
});

/// Starts logging, and makes a panic one log line. Calling it again changes nothing.
pub fn start(config: LogConfig) -> Flush {
    let clock = SystemClock::new();
    let started = Builder::new()
        // Lines of other crates below a warning could hold what must never be logged.
        .filter_level(LevelFilter::Warn)
        .filter_module("svc", config.level)
        .filter_module("svcd", config.level)
        .format(move |out, record| out.write_all(line(config, &clock, record).as_bytes()))
        .target(Target::Pipe(Box::new(Lines)))
        .try_init();
    if started.is_err() {
        return Flush;
    }
    let clock = SystemClock::new();
    let writer = thread::spawn("log", move || {
        loop {
            QUEUE.write(&mut io::stderr(), |lines| dropped_line(config, &clock, lines));
        }
    });
    // Without the thread, lines are written as they come: the start will fail for lack of threads and must say so.
    IS_QUEUED.store(writer.is_ok(), Ordering::Release);
    std::panic::set_hook(Box::new(|info| {
        // The message of the panic is left out: it may quote the value that caused it.
        let place = info.location().map_or_else(String::new, ToString::to_string);
        log::error!(event = "process.panicked", place:% = place; "a thread panicked");
    }));
    Flush
}

/// Where the logger writes: each write is one whole line, without its end.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        emit(&String::from_utf8_lossy(line));
        Ok(line.len())
    }

    /// The logger asks for it after each line; [`flush`] waits.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes an error for the person who started the process to standard error, as a line after those that were
/// logged before.
pub fn show_error(line: &str) {
    emit(&(priority(Level::Error).to_owned() + line));
}

fn emit(line: &str) {
    if IS_QUEUED.load(Ordering::Acquire) {
        QUEUE.push(line);
    } else {
        // There is no other place to say that this failed.
        drop(writeln!(io::stderr(), "{line}"));
    }
}

/// Returns what the journal takes from the start of a line, as sd-daemon(3) has it.
fn priority(level: Level) -> &'static str {
    match level {
        _ if !*IS_JOURNAL => "",
        Level::Error => "<3>",
        Level::Warn => "<4>",
        Level::Info => "<6>",
        Level::Debug | Level::Trace => "<7>",
    }
}

/// Returns how many lines were dropped, because standard error did not take them, since the start.
#[must_use]
pub fn dropped() -> u64 {
    QUEUE.dropped()
}

/// Waits until the lines before are written, for at most a second. For ends of the process that drop nothing.
pub fn flush() {
    QUEUE.flush(FLUSH_MAX);
}

/// Gives lines a second to be written when it is dropped, also by a panic.
#[must_use = "lines that were not written are lost"]
pub struct Flush;

impl Drop for Flush {
    fn drop(&mut self) {
        flush();
    }
}

fn line(config: LogConfig, clock: &SystemClock, record: &Record<'_>) -> String {
    let now = (!*IS_JOURNAL).then(|| clock.now().to_string());
    let fields = fields(now, record);
    let line = if config.json { json(fields) } else { logfmt(&fields) };
    priority(record.level()).to_owned() + &line
}

/// Returns the line that reports dropped ones, with its end.
fn dropped_line(config: LogConfig, clock: &SystemClock, lines: u64) -> String {
    let fields = [("event", Value::from("log.lines_dropped")), ("lines", Value::from(lines))];
    let mut record = Record::builder();
    record.level(Level::Warn).key_values(&fields);
    let what = "log lines were dropped here; standard error did not take them";
    line(config, clock, &record.args(format_args!("{what}")).build()) + "\n"
}

/// Collects the fields of a record.
struct Fields(Vec<(String, Json)>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let value = serde_json::to_value(&value).unwrap_or_else(|_| value.to_string().into());
        self.0.push((key.as_str().to_owned(), value));
        Ok(())
    }
}

/// Returns the fields of a line in their order.
fn fields(now: Option<String>, record: &Record<'_>) -> Vec<(String, Json)> {
    let level = record.level().as_str().to_ascii_lowercase();
    let own = [("level", level), ("message", record.args().to_string())];
    let own = now.map(|now| ("ts", now)).into_iter().chain(own);
    let mut fields = Fields(own.map(|(name, value)| (name.to_owned(), value.into())).collect());
    // The visitor never fails, so neither does the visit.
    drop(record.key_values().visit(&mut fields));
    fields.0
}

fn json(fields: Vec<(String, Json)>) -> String {
    let mut object = serde_json::Map::new();
    for (name, value) in fields {
        // The first stands, so that no field of a record replaces those of every line.
        object.entry(name).or_insert(value);
    }
    Json::Object(object).to_string()
}

fn logfmt(fields: &[(String, Json)]) -> String {
    let pairs = fields.iter().map(|(name, value)| match value {
        Json::String(text) => format!("{name}={}", quote(text)),
        value => format!("{name}={}", quote(&value.to_string())),
    });
    pairs.collect::<Vec<_>>().join(" ")
}

/// Quotes a value where readers of logfmt need it.
fn quote(value: &str) -> String {
    let is_plain = |c: char| !matches!(c, ' ' | '=' | '"') && !is_hidden(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    let mut quoted = String::from('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(quoted, "\\u{unit:04x}").expect("a string takes any text");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Says whether a character is no visible one: it may steer a terminal or change the order of what is shown.
fn is_hidden(c: char) -> bool {
    c.is_control() || c.escape_debug().nth(1) == Some('u')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line of a record, as logfmt and as JSON.
    fn lines_of(field: &str, value: Value<'_>) -> [String; 2] {
        let pairs = [("event", Value::from("test.event")), (field, value)];
        let record = Record::builder()
            .args(format_args!("it's done"))
            .level(Level::Info)
            .key_values(&pairs)
            .build();
        let fields = fields(Some("now".to_owned()), &record);
        [logfmt(&fields), json(fields)]
    }

    #[test]
    fn a_value_cannot_start_another_line() {
        for line in lines_of("field", "a\n\u{1b}[31m\u{85}\u{202e} \"b\"".into()) {
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(!line.contains('\u{1b}'), "{line}");
        }
    }

    #[test]
    fn logfmt_is_quoted_as_its_readers_expect() {
        for (value, wanted) in [
            ("it's", "it's"),
            ("a\\b", "a\\b"),
            ("é", "é"),
            ("", "\"\""),
            ("x y", "\"x y\""),
            ("a=b", "\"a=b\""),
            ("\"a\\b\"", r#""\"a\\b\"""#),
            ("a\r\n\tb", r#""a\r\n\tb""#),
            ("\0\u{1b}\u{7f}\u{202e}\u{e0001}", r#""\u0000\u001b\u007f\u202e\udb40\udc01""#),
        ] {
            assert_eq!(quote(value), wanted, "{value:?}");
        }
        let [line, _] = lines_of("count", 7.into());
        assert_eq!(line, "ts=now level=info message=\"it's done\" event=test.event count=7");
    }

    #[test]
    fn json_has_values_of_their_types_and_no_field_replaces_those_of_every_line() {
        for (value, wanted) in [
            (Value::from(u64::MAX), serde_json::json!(u64::MAX)),
            (Value::from(-1), serde_json::json!(-1)),
            (Value::from(0.5), serde_json::json!(0.5)),
            (Value::from(true), serde_json::json!(true)),
            (Value::from("7"), serde_json::json!("7")),
            (Value::from_display(&7), serde_json::json!("7")),
        ] {
            let [_, line] = lines_of("field", value);
            let line: Json = serde_json::from_str(&line).unwrap();
            assert_eq!(line["field"], wanted);
            assert_eq!((&line["event"], &line["level"]), (&"test.event".into(), &"info".into()));
        }
        let [_, line] = lines_of("message", "another".into());
        assert_eq!(serde_json::from_str::<Json>(&line).unwrap()["message"], "it's done");
    }
}
