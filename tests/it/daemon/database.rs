//! A look into the file of a daemon, from another process.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, ToSql};

/// Opens the database of a stopped daemon, or as another process at the file.
#[expect(clippy::disallowed_methods, reason = "this process is not the daemon that owns the file")]
pub(crate) fn open(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

/// Returns the one number a query answers.
pub(crate) fn number(database: &Connection, query: &str, parameters: &[&dyn ToSql]) -> i64 {
    database.query_row(query, parameters, |row| row.get(0)).unwrap()
}

/// Checks every page and every reference.
pub(crate) fn assert_sound(database: &Connection) {
    let found: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(found, "ok");
    let broken = number(database, "SELECT count(*) FROM pragma_foreign_key_check", &[]);
    assert_eq!(broken, 0, "foreign keys");
}

/// Lets only writers in that know this step of the schema.
pub(crate) fn admit_writers_from(database: &Connection, step: i64) {
    database.execute("UPDATE schema_compatibility SET oldest_writer_step = ?1", [step]).unwrap();
}

/// Returns every value that is not null, as `table.column` and text.
pub(crate) fn values(database: &Connection) -> Vec<(String, String)> {
    let mut tables = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut values = Vec::new();
    for table in tables {
        let mut statement = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<String> =
            statement.column_names().into_iter().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (place, column) in columns.iter().enumerate() {
                let text = match row.get(place).unwrap() {
                    Value::Null => continue,
                    Value::Integer(number) => number.to_string(),
                    Value::Real(number) => number.to_string(),
                    Value::Text(text) => text,
                    Value::Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                };
                values.push((format!("{table}.{column}"), text));
            }
        }
    }
    values
}
