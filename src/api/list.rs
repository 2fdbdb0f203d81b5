//! Lists of an installation: what the command line, HTTP, the use case and the store agree on. A row is
//! declared once, beside its JSON shape; so is a filter.

use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::reconcile;
use crate::domain::release::ReleaseStatus;
use crate::domain::repository::RepositoryName;

/// A row of a list that is read from its newest row back.
/// Why there is one type for it: `docs/decisions/28-one-row-type.md`.
pub trait ListRow: Serialize + DeserializeOwned {
    /// Last part of the path of its list.
    const LIST: &'static str;
    /// Which rows may be asked for.
    type Filter: Filter;
    /// Names a row as the one before which a page begins.
    type Cursor: Copy + PartialEq + Display;
    /// What a cursor must be.
    const CURSOR: &'static str;

    /// Reads a cursor; `None` unless it is one. Whether it names a row is for the store to say.
    fn read_cursor(text: &str) -> Option<Self::Cursor>;

    /// Returns the cursor that names this row.
    fn cursor(&self) -> Self::Cursor;
}

/// Which part of a list is wanted.
#[derive(Clone, Debug)]
pub struct ListRequest<R: ListRow> {
    /// Which rows.
    pub filter: R::Filter,
    /// Only rows behind this one.
    pub before: Option<R::Cursor>,
    /// At most so many.
    pub limit: u32,
}

/// Which rows of a list are wanted: parameters of its query string, and options of its command.
pub trait Filter: Clone + Default {
    /// Names of the parameters.
    const NAMES: &'static [&'static str];

    /// Takes a parameter.
    ///
    /// # Errors
    /// What its value must be.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String>;

    /// Returns the parameters that are set.
    fn parameters(&self) -> Vec<(&'static str, String)>;
}

/// Declares a filter: one optional value for each parameter of its name.
macro_rules! filter {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name { $($(#[$field_doc])* pub $field: Option<$type>,)* }

        impl Filter for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($field),)*];

            fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                match name {
                    $(stringify!($field) => {
                        let read = <$type as Parameter>::read(value);
                        self.$field = Some(read.ok_or_else(<$type as Parameter>::allowed)?);
                        Ok(())
                    })*
                    _ => Err(format!("one of {}, not {value}", Self::NAMES.join(", "))),
                }
            }

            fn parameters(&self) -> Vec<(&'static str, String)> {
                let all: [(&'static str, Option<String>); _] =
                    [$((stringify!($field), self.$field.as_ref().map(Parameter::write)),)*];
                all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
            }
        }
    };
}

filter! {
    /// All rows: there is nothing to choose.
    NoFilter {}
}

filter! {
    /// Which release runs.
    ReleaseFilter {
        status: ReleaseStatus,
        /// Of the repository that has this name now.
        repository: RepositoryName,
    }
}

filter! {
    /// Which reconciliation items; those that have not ended, unless a status is wanted.
    ReconciliationFilter {
        status: reconcile::ReconcileStatus,
    }
}

/// A value that a filter may have.
trait Parameter: Sized {
    fn read(text: &str) -> Option<Self>;
    fn write(&self) -> String;
    fn allowed() -> String;
}

impl Parameter for RepositoryName {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }

    fn allowed() -> String {
        "the name of a repository, owner/name".to_owned()
    }
}

/// Declares that words are values of filters, and which of them.
macro_rules! words_of_filters {
    ($($type:ty: $words:expr;)*) => {
        $(
            impl Parameter for $type {
                fn read(text: &str) -> Option<Self> {
                    $words.iter().copied().find(|value| value.as_str() == text)
                }

                fn write(&self) -> String {
                    self.to_string()
                }

                fn allowed() -> String {
                    let words: Vec<&str> = $words.iter().map(|value| value.as_str()).collect();
                    format!("one of: {}", words.join(", "))
                }
            }
        )*
    };
}

words_of_filters! {
    ReleaseStatus: Self::OCCURRING;
    reconcile::ReconcileStatus: Self::ALL;
}
