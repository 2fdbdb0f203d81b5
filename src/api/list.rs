//! Lists of an installation: what the command line, HTTP, the use case and the store agree on. A row is
//! declared once, beside its JSON shape; so is a filter.
//!
//! Which index answers a filter, and what is stuck: `docs/decisions/116-list-filters.md`.

use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::dead_letter::{DeadLetterReason, ItemType};
use crate::domain::event::GitRef;
use crate::domain::reconcile;
use crate::domain::release::ReleaseStatus;
use crate::domain::repository::RepositoryName;
use crate::domain::time::Timestamp;

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

    /// Says why no row can match, and what to change; `None` when one can.
    fn contradiction(&self) -> Option<String>;
}

/// Declares a filter: one optional value for each parameter, and what contradicts itself.
macro_rules! filter {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident = $parameter:literal: $type:ty,)* }
        contradiction: $contradiction:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name { $($(#[$field_doc])* pub $field: Option<$type>,)* }

        impl Filter for $name {
            const NAMES: &'static [&'static str] = &[$($parameter,)*];

            fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                match name {
                    $($parameter => {
                        let read = <$type as Parameter>::read(value);
                        self.$field = Some(read.ok_or_else(<$type as Parameter>::allowed)?);
                        Ok(())
                    })*
                    _ => Err(format!("one of {}, not {value}", Self::NAMES.join(", "))),
                }
            }

            fn parameters(&self) -> Vec<(&'static str, String)> {
                let all: [(&'static str, Option<String>); _] =
                    [$(($parameter, self.$field.as_ref().map(Parameter::write)),)*];
                all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
            }

            fn contradiction(&self) -> Option<String> {
                let contradiction: fn(&Self) -> Option<String> = $contradiction;
                contradiction(self)
            }
        }
    };
}

filter! {
    /// All rows: there is nothing to choose.
    NoFilter {}
    contradiction: |_| None
}

filter! {
    /// Which dead letters.
    DeadLetterFilter {
        item_type = "type": ItemType,
        reason = "reason": DeadLetterReason,
        /// Of the repository that had this name when the item died; case is ignored.
        repository = "repository": RepositoryName,
        replay_safe = "replaySafe": bool,
        /// Failed then or later.
        since = "since": Timestamp,
        /// Failed earlier.
        until = "until": Timestamp,
    }
    contradiction: |filter| {
        empty_time(filter.since, filter.until).or_else(|| never_dies_of(filter.item_type?, filter.reason?))
    }
}

filter! {
    /// Which audit events.
    AuditFilter {
        /// Recorded then or later.
        since = "since": Timestamp,
        /// Recorded earlier.
        until = "until": Timestamp,
    }
    contradiction: |filter| empty_time(filter.since, filter.until)
}

filter! {
    /// Which release runs.
    ReleaseFilter {
        status = "status": ReleaseStatus,
        /// Of the repository that has this name now.
        repository = "repository": RepositoryName,
        tag = "tag": Tag,
        /// Not ended, and not changed for longer than a reconciliation may take.
        stuck = "stuck": Yes,
        /// Recorded then or later.
        since = "since": Timestamp,
        /// Recorded earlier.
        until = "until": Timestamp,
    }
    contradiction: |filter| {
        let ended = filter.status.is_some_and(ReleaseStatus::is_terminal);
        empty_time(filter.since, filter.until).or_else(|| ended_is_not_stuck(filter.stuck, ended))
    }
}

filter! {
    /// Which reconciliation items; those that have not ended, unless a status is wanted.
    ReconciliationFilter {
        status = "status": reconcile::ReconcileStatus,
        reason = "reason": reconcile::ReconcileReason,
        /// Not ended, though its deadline has passed.
        stuck = "stuck": Yes,
        /// Closed by an operator after it was given up, or not.
        closed = "closed": bool,
        /// Detected then or later.
        since = "since": Timestamp,
        /// Detected earlier.
        until = "until": Timestamp,
    }
    contradiction: |filter| {
        let ended = filter.status.is_some_and(reconcile::ReconcileStatus::is_terminal);
        let given_up = filter.status == Some(reconcile::ReconcileStatus::DeadLetter);
        empty_time(filter.since, filter.until)
            .or_else(|| ended_is_not_stuck(filter.stuck, ended))
            .or_else(|| only_given_up_is_closed(filter.closed, given_up))
    }
}

fn empty_time(since: Option<Timestamp>, until: Option<Timestamp>) -> Option<String> {
    (since? >= until?).then(|| {
        "'since' must be earlier than 'until'; make 'since' earlier or 'until' later".to_owned()
    })
}

fn never_dies_of(item_type: ItemType, reason: DeadLetterReason) -> Option<String> {
    (!reason.item_types().contains(&item_type)).then(|| {
        format!(
            "an item of type {item_type} cannot have the reason {reason}; omit 'type' or 'reason'"
        )
    })
}

fn ended_is_not_stuck(stuck: Option<Yes>, ended: bool) -> Option<String> {
    (stuck.is_some() && ended)
        .then(|| "an item that has ended cannot be stuck; omit 'status' or 'stuck'".to_owned())
}

fn only_given_up_is_closed(closed: Option<bool>, given_up: bool) -> Option<String> {
    (closed == Some(true) && !given_up).then(|| {
        "only what was given up can be closed; set 'status' to dead_letter, or omit 'closed'"
            .to_owned()
    })
}

/// A choice that is made or left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yes;

/// A tag, with or without `refs/tags/` before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(GitRef);

impl Tag {
    /// Reads a tag; `None` if no ref can have this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let tag = text.strip_prefix("refs/tags/").unwrap_or(text);
        GitRef::new(&format!("refs/tags/{tag}")).map(Self)
    }

    /// Returns the full ref.
    #[must_use]
    pub const fn git_ref(&self) -> &GitRef {
        &self.0
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

impl Parameter for bool {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }

    fn allowed() -> String {
        "true or false".to_owned()
    }
}

impl Parameter for Yes {
    fn read(text: &str) -> Option<Self> {
        (text == "true").then_some(Self)
    }

    fn write(&self) -> String {
        "true".to_owned()
    }

    fn allowed() -> String {
        "true, or omitted".to_owned()
    }
}

impl Parameter for Tag {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn write(&self) -> String {
        self.0.tag().to_owned()
    }

    fn allowed() -> String {
        "the name of a tag, at most 245 bytes".to_owned()
    }
}

impl Parameter for Timestamp {
    fn read(text: &str) -> Option<Self> {
        Self::parse_rounding_up(text)
    }

    fn write(&self) -> String {
        self.to_string()
    }

    fn allowed() -> String {
        "an ISO 8601 time with an offset, such as 2026-11-21T09:00:00Z; encode + as %2B".to_owned()
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
    ItemType: Self::ALL;
    DeadLetterReason: Self::ALL;
    ReleaseStatus: Self::OCCURRING;
    reconcile::ReconcileReason: Self::ALL;
    reconcile::ReconcileStatus: Self::ALL;
}
