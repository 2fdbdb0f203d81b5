//! The schema as it stands after every step, in one file for readers. Nothing reads it but people.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use crate::support::ManualClock;
use crate::support::world::{open_raw, open_store};

const HEAD: &str = "\
-- The schema as it stands after the newest step, for readers. It is generated and never run; what is run
-- is `migrations/*/up.sql`. `UPDATE=1 cargo test --test it generated` writes it anew.
";

const KINDS: &[&str] = &["TABLE", "INDEX", "TRIGGER"];

/// A column that a later step added.
struct Added {
    table: String,
    /// As the step spells it, and the database keeps it.
    definition: String,
    /// Lines above it.
    above: String,
    /// The comment on its line.
    beside: String,
}

/// Returns every CREATE statement: tables by name, each with its indexes and triggers, with the comments
/// that stand above them in their steps.
pub(super) fn text() -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    drop(open_store(&path, &Arc::new(ManualClock::new()), 1));
    let database = open_raw(&path);
    let steps = steps();
    let mut columns: Vec<Added> = Vec::new();
    for step in &steps {
        // A table that is made anew has the columns of earlier steps in its own statement.
        columns.retain(|column| !step.contains(&format!("ALTER TABLE {} RENAME TO", column.table)));
        columns.extend(added(step));
    }
    let mut text = HEAD.to_owned();
    for (name, mut sql) in statements(&database) {
        if sql.starts_with("CREATE TABLE") {
            text.push('\n');
            // The last one first: each is put right behind the line that held them all.
            for column in columns.iter().rev().filter(|column| column.table == name) {
                sql = on_a_line_of_its_own(&sql, column);
            }
        }
        text += &steps.iter().rev().find_map(|step| comment(step, &name)).unwrap();
        text += &sql;
        text += ";\n";
    }
    assert_same(&database, &text);
    text
}

fn statements(database: &Connection) -> Vec<(String, String)> {
    let mut statement = database
        .prepare(
            "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL \
             ORDER BY tbl_name, type <> 'table', name",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The text of every step, in order.
fn steps() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.iter().map(|step| fs::read_to_string(step.join("up.sql")).unwrap()).collect()
}

/// Returns the comment lines right above the statement of a step that creates an object.
fn comment(step: &str, name: &str) -> Option<String> {
    let mut above = String::new();
    for line in step.lines() {
        if line.starts_with("--") {
            above += line;
            above += "\n";
            continue;
        }
        let line = line.replace(" IF NOT EXISTS", "");
        let mut words = line.split(' ').skip_while(|word| !KINDS.contains(word));
        if line.starts_with("CREATE ") && words.nth(1) == Some(name) {
            return Some(above);
        }
        above.clear();
    }
    None
}

/// Returns the columns a step adds, each with the comment lines above it. One comment may stand above
/// several.
fn added(step: &str) -> Vec<Added> {
    let (mut found, mut above, mut is_used) = (Vec::new(), String::new(), false);
    let mut rest = step;
    while let Some((line, next)) = rest.split_once('\n') {
        let start = rest;
        rest = next;
        if line.starts_with("--") {
            if std::mem::take(&mut is_used) {
                above.clear();
            }
            above += "    ";
            above += line;
            above += "\n";
        } else if let Some(column) = start.strip_prefix("ALTER TABLE ") {
            let (statement, after) = column.split_once(';').unwrap();
            let Some((table, definition)) = statement.split_once(" ADD COLUMN ") else {
                // A table that is renamed makes room for one that takes its name.
                above.clear();
                continue;
            };
            let (table, definition) = (table.to_owned(), definition.to_owned());
            let (beside, below) = after.split_once('\n').unwrap();
            let beside = beside.trim().to_owned();
            found.push(Added { table, definition, above: above.clone(), beside });
            (rest, is_used) = (below, true);
        } else {
            above.clear();
        }
    }
    found
}

/// Moves a column out of the line that the database appended it to.
fn on_a_line_of_its_own(sql: &str, column: &Added) -> String {
    let Added { table, definition, above, beside } = column;
    let (before, after) = sql
        .split_once(&format!(", {definition}"))
        .unwrap_or_else(|| panic!("{table} has no column {definition}"));
    let space = if beside.is_empty() { "" } else { "  " };
    let before = with_comma(before);
    // Nothing follows the last column of a table without constraints of its own.
    if after.starts_with(')') {
        return format!("{before}\n{above}    {definition}{space}{beside}\n{after}");
    }
    let (line, below) = after.split_once('\n').unwrap();
    format!("{before}{line}\n{above}    {definition},{space}{beside}\n{below}")
}

/// Ends the line of the column before with the comma that the database put on the next line.
fn with_comma(before: &str) -> String {
    let Some(lines) = before.strip_suffix('\n') else { return before.to_owned() };
    let (above, line) = lines.rsplit_once('\n').unwrap();
    let (column, comment) = line.find(" --").map_or((line, ""), |place| line.split_at(place));
    format!("{above}\n{},{comment}", column.trim_end())
}

/// Checks that the text makes the tables that the steps make.
fn assert_same(database: &Connection, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let made = open_raw(&folder.path().join("made.db"));
    made.execute_batch(text).unwrap();
    let columns = |database: &Connection| -> Vec<String> {
        let mut statement = database
            .prepare(
                "SELECT concat_ws(' ', t.name, c.cid, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk) \
                 FROM sqlite_schema t JOIN pragma_table_info(t.name) c ORDER BY 1",
            )
            .unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(columns(&made), columns(database));
    assert_eq!(statements(&made).len(), statements(database).len());
}
