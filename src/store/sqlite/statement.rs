//! Statements on `SQLite`: prepared once and kept, bound by name, read row by row.

use std::ops::{ControlFlow, Deref};
use std::str::FromStr;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql};

use crate::domain::lease::RowHandle;
use crate::domain::time::Timestamp;
use crate::runtime::random::Ids;
use crate::store::error::Error;
use crate::store::sql::column::FromColumn;
use crate::store::sql::value::Value;
use crate::store::types::StoreSize;

/// Named parameters, as `params!` makes them.
type Params<'a> = [(&'static str, Value<'a>)];

/// What statements run on: an open transaction, or a reader.
#[derive(Clone, Copy)]
pub(in crate::store) struct Db<'a>(&'a Connection);

/// What a verb sees: the open transaction, the instant it happens at, and chance.
pub(in crate::store) struct Tx<'a> {
    db: Db<'a>,
    /// Read after the write lock was taken; the same for the whole group.
    pub(in crate::store) now: Timestamp,
    pub(in crate::store) ids: &'a mut Ids,
}

impl<'a> Tx<'a> {
    pub(in crate::store) const fn new(db: Db<'a>, now: Timestamp, ids: &'a mut Ids) -> Self {
        Self { db, now, ids }
    }
}

impl<'a> Deref for Tx<'a> {
    type Target = Db<'a>;

    fn deref(&self) -> &Db<'a> {
        &self.db
    }
}

impl<'a> Db<'a> {
    pub(in crate::store) const fn new(connection: &'a Connection) -> Self {
        Self(connection)
    }

    /// Runs a statement that returns no rows. Returns how many rows it changed.
    pub(in crate::store) fn execute(&self, sql: &str, params: &Params<'_>) -> Result<usize, Error> {
        Ok(self.prepare(sql, params)?.raw_execute()?)
    }

    /// Reads every row.
    pub(in crate::store) fn query<T>(
        &self,
        sql: &str,
        params: &Params<'_>,
        mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        self.each(sql, params, |row| {
            found.push(read(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Reads the first row; returns `None` if there is none.
    pub(in crate::store) fn query_one<T>(
        &self,
        sql: &str,
        params: &Params<'_>,
        read: impl FnOnce(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let mut statement = self.prepare(sql, params)?;
        // Also for UPDATE … RETURNING: SQLite makes all changes before it returns the first row.
        statement.raw_query().next()?.map(|row| read(&Row(row))).transpose()
    }

    /// Returns the only column of a statement that always has one row.
    pub(in crate::store) fn value<T: FromColumn>(
        &self,
        sql: &str,
        params: &Params<'_>,
    ) -> Result<T, Error> {
        let mut statement = self.prepare(sql, params)?;
        let mut rows = statement.raw_query();
        let row = rows.next()?.ok_or(Error::Row("value"))?;
        convert(row.get_ref(0)?, "value", T::from_column)
    }

    /// Visits rows until there are no more, or the visitor breaks off.
    pub(in crate::store) fn each(
        &self,
        sql: &str,
        params: &Params<'_>,
        mut visit: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        let mut statement = self.prepare(sql, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if visit(&Row(row))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Lets several statements see one state of the file.
    pub(in crate::store) fn snapshot<T>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Nothing was written, so it does not matter how it ends.
        let _snapshot = self.0.unchecked_transaction()?;
        read(self)
    }

    /// Returns the row that was inserted last.
    pub(in crate::store) fn inserted_row(&self) -> RowHandle {
        RowHandle::new(self.0.last_insert_rowid())
    }

    /// Returns the step of the file's schema.
    pub(in crate::store) fn schema_step(&self) -> Result<i64, Error> {
        Ok(self.0.pragma_query_value(None, "user_version", |row| row.get(0))?)
    }

    /// Returns what the database takes up.
    pub(in crate::store) fn size(&self) -> Result<StoreSize, Error> {
        let pragma = |name| -> rusqlite::Result<u64> {
            let value: i64 = self.0.pragma_query_value(None, name, |row| row.get(0))?;
            Ok(u64::try_from(value).unwrap_or(0))
        };
        let page = pragma("page_size")?;
        Ok(StoreSize {
            bytes: pragma("page_count")?.saturating_mul(page),
            free_bytes: pragma("freelist_count")?.saturating_mul(page),
        })
    }

    fn prepare(&self, sql: &str, params: &Params<'_>) -> Result<CachedStatement<'a>, Error> {
        // The cache clears the bindings of a returned statement: a parameter left out is NULL, never an old value.
        let mut statement = self.0.prepare_cached(sql)?;
        for (name, value) in params {
            statement.raw_bind_parameter(*name, value)?;
        }
        Ok(statement)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
            Self::Uuid(text) => ValueRef::Text(text),
        }))
    }
}

/// One row of an answer.
pub(in crate::store) struct Row<'a>(&'a rusqlite::Row<'a>);

impl Row<'_> {
    /// Reads a column.
    ///
    /// # Errors
    /// [`Error::Row`] when it holds something else.
    pub(in crate::store) fn get<T: FromColumn>(&self, column: &'static str) -> Result<T, Error> {
        self.read(column, T::from_column)
    }

    /// Reads a column of text whose type has a spelling of its own.
    ///
    /// # Errors
    /// [`Error::Row`] when it holds something else.
    pub(in crate::store) fn parse<T: FromStr>(&self, column: &'static str) -> Result<T, Error> {
        self.read(column, |value| value.text()?.parse().ok())
    }

    /// Reads a column and turns it into something that is no column by itself.
    ///
    /// # Errors
    /// [`Error::Row`] when it cannot be.
    pub(in crate::store) fn read<T>(
        &self,
        column: &'static str,
        read: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Result<T, Error> {
        convert(self.0.get_ref(column)?, column, read)
    }
}

fn convert<T>(
    value: ValueRef<'_>,
    column: &'static str,
    read: impl FnOnce(Value<'_>) -> Option<T>,
) -> Result<T, Error> {
    let value = match value {
        ValueRef::Null => Some(Value::Null),
        ValueRef::Integer(number) => Some(Value::Integer(number)),
        // SQLite stores any bytes as text; only Rust demands UTF-8.
        ValueRef::Text(text) => str::from_utf8(text).ok().map(Value::Text),
        ValueRef::Blob(bytes) => Some(Value::Blob(bytes)),
        // No column is of this type.
        ValueRef::Real(_) => None,
    };
    value.and_then(read).ok_or(Error::Row(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sql::params;

    fn with_rows<T>(test: impl FnOnce(&Db<'_>) -> T) -> T {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT)").unwrap();
        let db = Db::new(&connection);
        for word in [Some("a"), None, Some("c")] {
            let sql = "INSERT INTO t (word) VALUES (:word)";
            assert_eq!(db.execute(sql, params! { ":word": word }).unwrap(), 1);
        }
        test(&db)
    }

    #[test]
    fn rows_are_read_by_the_names_of_their_columns() {
        with_rows(|db| {
            let all = "SELECT id, word FROM t WHERE id >= :from ORDER BY id";
            let words: Result<Vec<Option<String>>, Error> =
                db.query(all, params! { ":from": 2_u32 }, |row| row.get("word"));
            assert_eq!(words.unwrap(), [None, Some("c".to_owned())]);
            let first = db.query_one(all, params! { ":from": 1_u32 }, |row| row.get::<i64>("id"));
            assert_eq!(first.unwrap(), Some(1));
            let none = db.query_one(all, params! { ":from": 9_u32 }, |row| row.get::<i64>("id"));
            assert_eq!(none.unwrap(), None);
            assert_eq!(db.value::<u32>("SELECT count(*) FROM t", &[]).unwrap(), 3);
            assert_eq!(db.inserted_row(), RowHandle::new(3));
        });
    }

    #[test]
    fn a_visitor_may_break_off() {
        with_rows(|db| {
            let mut seen = 0;
            let visited = db.each("SELECT id FROM t ORDER BY id", &[], |_| {
                seen += 1;
                Ok(if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
            assert!(visited.is_ok() && seen == 2);
        });
    }

    #[test]
    fn a_value_that_does_not_read_names_its_column() {
        with_rows(|db| {
            let second = "SELECT word FROM t WHERE id = 2";
            let read = db.query_one(second, &[], |row| row.get::<String>("word"));
            assert!(matches!(read, Err(Error::Row("word"))), "{read:?}");
            let read = db.query_one(second, &[], |row| row.get::<String>("name"));
            assert!(matches!(read, Err(Error::Statement(_))), "{read:?}");
        });
    }

    #[test]
    fn a_parameter_that_no_statement_names_is_a_bug() {
        with_rows(|db| {
            let changed = db.execute("DELETE FROM t WHERE id = :id", params! { ":row": 1_u32 });
            assert!(matches!(changed, Err(Error::Statement(_))), "{changed:?}");
        });
    }
}
