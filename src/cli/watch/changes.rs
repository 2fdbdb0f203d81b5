//! What has changed from one answer to the next, one JSON line each.

use std::collections::BTreeMap;
use std::mem;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Watched;

/// Fields that only say when the service last did what it does all the time.
const ROUTINE: &[&str] = &[
    "evaluatedAt",
    "lastAnswerAt",
    "lastWorkflowReconciliationPollAt",
    "lastSuccessfulWorkflowReconciliationAt",
    "lastCheckRunReconciliationPollAt",
    "lastSuccessfulCheckRunReconciliationAt",
    "lastLifecycleReconciliationPollAt",
    "lastSuccessfulLifecycleReconciliationAt",
];

/// What was printed last.
pub(super) enum Changes {
    List {
        key: &'static [&'static str],
        rows: Rows,
    },
    /// The document, without what is routine.
    Document(Value),
}

/// The rows of a list as they were printed, by what names them.
type Rows = BTreeMap<String, Box<RawValue>>;

/// One row that changed.
#[derive(Serialize)]
struct RowChange<'a> {
    event: &'static str,
    item: &'a RawValue,
}

impl Changes {
    pub(super) const fn of(watched: Watched) -> Self {
        match watched {
            Watched::List(key) => Self::List { key, rows: Rows::new() },
            Watched::Document => Self::Document(Value::Null),
        }
    }

    /// Returns the lines that say what changed since the last call. Applied one after another they make the list, or
    /// the document, as it is now. `printed` is what the command prints: one row a line, or the document.
    pub(super) fn since_last(&mut self, printed: &str) -> serde_json::Result<String> {
        match self {
            Self::List { key, rows } => list(key, rows, printed),
            Self::Document(last) => document(last, printed),
        }
    }
}

/// Rows that left come first, then the others, the oldest first, as they came.
fn list(key: &[&str], rows: &mut Rows, printed: &str) -> serde_json::Result<String> {
    let mut last = mem::take(rows);
    let mut events = Vec::new();
    for line in printed.lines().rev() {
        let item: Box<RawValue> = serde_json::from_str(line)?;
        let name = name(key, &serde_json::from_str(line)?);
        let event = match last.remove(&name) {
            None => Some("added"),
            Some(before) => (before.get() != item.get()).then_some("changed"),
        };
        events.extend(event.map(|event| (event, item.clone())));
        rows.insert(name, item);
    }
    let removed = last.into_values().map(|item| ("removed", item));
    let mut lines = String::new();
    for (event, item) in removed.chain(events) {
        lines.push_str(&serde_json::to_string(&RowChange { event, item: &item })?);
        lines.push('\n');
    }
    Ok(lines)
}

/// Returns what names a row. In a list of all installations, theirs is a part of it.
fn name(key: &[&str], row: &Value) -> String {
    let fields = key.iter().chain(&["installationId"]).filter_map(|field| row.get(field));
    fields.map(|value| format!("{value} ")).collect()
}

fn document(last: &mut Value, printed: &str) -> serde_json::Result<String> {
    let mut now = serde_json::from_str(printed)?;
    without_routine(&mut now);
    if *last == now {
        return Ok(String::new());
    }
    *last = now;
    Ok(format!("{}\n", printed.trim_end()))
}

fn without_routine(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !ROUTINE.contains(&name.as_str()));
            fields.values_mut().for_each(without_routine);
        }
        Value::Array(values) => values.iter_mut().for_each(without_routine),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, status: &str) -> String {
        format!("{{\"id\":\"{id}\",\"status\":\"{status}\"}}\n")
    }

    /// Returns the events and the ids.
    fn said(changes: &mut Changes, rows: &[String]) -> Vec<String> {
        let lines = changes.since_last(&rows.concat()).unwrap();
        let values = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        values.map(|it| format!("{} {}", it["event"], it["item"]["id"]).replace('"', "")).collect()
    }

    #[test]
    fn rows_are_added_changed_and_removed() {
        let mut changes = Changes::of(Watched::List(&["id"]));
        let rows = [row("c", "new"), row("b", "new"), row("a", "new")];
        assert_eq!(said(&mut changes, &rows), ["added a", "added b", "added c"]);
        assert!(said(&mut changes, &rows).is_empty());
        let rows = [row("d", "new"), row("c", "new"), row("b", "old")];
        assert_eq!(said(&mut changes, &rows), ["removed a", "changed b", "added d"]);
        assert_eq!(said(&mut changes, &[]), ["removed b", "removed c", "removed d"]);
    }

    #[test]
    fn a_row_is_printed_as_it_is_and_one_that_left_as_it_was() {
        let mut changes = Changes::of(Watched::List(&["id"]));
        let odd = "{\"z\":1,\"id\":\"a\",\"a\":1.50}";
        let lines = changes.since_last(odd).unwrap();
        assert_eq!(lines, format!("{{\"event\":\"added\",\"item\":{odd}}}\n"));
        let lines = changes.since_last("").unwrap();
        assert_eq!(lines, format!("{{\"event\":\"removed\",\"item\":{odd}}}\n"));
    }

    #[test]
    fn rows_of_two_installations_are_two() {
        let mut changes = Changes::of(Watched::List(&["id"]));
        let row = |number: u32| format!("{{\"installationId\":\"{number}\",\"id\":\"a\"}}\n");
        assert_eq!(said(&mut changes, &[row(1), row(2)]).len(), 2);
        assert_eq!(said(&mut changes, &[row(1)]), ["removed a"]);
    }

    #[test]
    fn a_document_is_printed_when_more_than_routine_changed() {
        let mut changes = Changes::of(Watched::Document);
        let of = |polled: u32, depth: u32| {
            format!(
                "{{\"lastWorkflowReconciliationPollAt\":\"{polled}\",\"forge\":{{\"lastAnswerAt\":{polled}}},\
                 \"list\":[{{\"evaluatedAt\":{polled}}}],\"depth\":{depth}}}\n"
            )
        };
        assert_eq!(changes.since_last(&of(1, 1)).unwrap(), of(1, 1));
        assert_eq!(changes.since_last(&of(2, 1)).unwrap(), "");
        assert_eq!(changes.since_last(&of(3, 2)).unwrap(), of(3, 2));
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        assert!(Changes::of(Watched::Document).since_last("[").is_err());
        assert!(Changes::of(Watched::List(&["id"])).since_last("[\n").is_err());
    }
}
