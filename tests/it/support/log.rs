//! The log lines of a test.
//!
//! A process has one logger, and the tests of this binary run side by side in one process. Workers log on
//! the thread that steps them, so each thread collects its own lines, and only while a test asks for them.

use std::cell::RefCell;
use std::sync::Once;

use log::kv::{Error, Key, Value, VisitSource};
use log::{Level, LevelFilter, Log, Metadata, Record};

/// One log line of this program.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) level: Level,
    /// Names and values, in the order they were given.
    fields: Vec<(String, String)>,
}

impl Line {
    /// Returns the value of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns the name of the event; empty if the line has none.
    pub(crate) fn event(&self) -> &str {
        self.field("event").unwrap_or_default()
    }

    /// Returns the names of all fields.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|(name, _)| name.as_str()).collect()
    }
}

thread_local! {
    /// The lines of this thread while it collects them.
    static LINES: RefCell<Option<Vec<Line>>> = const { RefCell::new(None) };
}

struct ThreadLogger;

impl Log for ThreadLogger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("svc") && LINES.with_borrow(Option::is_some)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut fields = Fields(Vec::new());
        record.key_values().visit(&mut fields).unwrap();
        let line = Line { level: record.level(), fields: fields.0 };
        LINES.with_borrow_mut(|lines| lines.get_or_insert_default().push(line));
    }

    fn flush(&self) {}
}

/// Collects the fields of a record.
struct Fields(Vec<(String, String)>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        self.0.push((key.as_str().to_owned(), value.to_string()));
        Ok(())
    }
}

/// Runs `body` and returns what it logged on this thread, `debug` and above.
pub(crate) fn lines_of(body: impl FnOnce()) -> Vec<Line> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        log::set_logger(&ThreadLogger).unwrap();
        log::set_max_level(LevelFilter::Debug);
    });
    LINES.set(Some(Vec::new()));
    body();
    LINES.take().unwrap_or_default()
}
