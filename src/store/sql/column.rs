//! Values on their way out of a row: each type says once how it reads. What does not read is an error of
//! that column, never a guess.

use crate::domain::digest::Digest;
use crate::domain::event::CommitSha;
use crate::domain::id::{
    AttemptId, AuditEventId, CheckRunId, DeviceId, GrantId, InstallationId, InvocationId, JobId,
    OutboxId, OwnerId, PageInstanceId, PairingId, ProposalId, ReconciliationId, RelayProcessId,
    RelaySessionId, ReleaseRunId, RepositoryId, WorkflowRunId,
};
use crate::domain::lease::RowHandle;
use crate::domain::time::Timestamp;
use crate::store::sql::value::Value;
use crate::words::Word;

/// A type that a column can be read as.
pub(in crate::store) trait FromColumn: Sized {
    /// Reads a value; returns `None` if it is none of this type.
    fn from_column(value: Value<'_>) -> Option<Self>;
}

impl Value<'_> {
    /// Returns the number, if it is one.
    pub(in crate::store) const fn integer(self) -> Option<i64> {
        if let Self::Integer(number) = self { Some(number) } else { None }
    }
}

impl<'a> Value<'a> {
    /// Returns the text, if it is one.
    pub(in crate::store) const fn text(self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the bytes, if it is a blob.
    pub(in crate::store) const fn blob(self) -> Option<&'a [u8]> {
        if let Self::Blob(bytes) = self { Some(bytes) } else { None }
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl FromColumn for $type {
            fn from_column(value: Value<'_>) -> Option<Self> {
                // An id outside the range of its type is a damaged row; wrapping it could name another tenant's object.
                Self::try_from(value.integer()?).ok()
            }
        }
    )*};
}

integers! { i64 u32 }
integers! { CheckRunId InstallationId OwnerId RepositoryId WorkflowRunId }

macro_rules! our_ids {
    ($($type:ty)*) => {$(
        impl FromColumn for $type {
            fn from_column(value: Value<'_>) -> Option<Self> {
                // Parsed again although this program wrote it: another program may have edited the file.
                value.text()?.parse().ok()
            }
        }
    )*};
}

our_ids! { AttemptId AuditEventId JobId OutboxId ReconciliationId ReleaseRunId }
our_ids! { DeviceId GrantId InvocationId PageInstanceId PairingId ProposalId RelayProcessId RelaySessionId }

impl FromColumn for bool {
    fn from_column(value: Value<'_>) -> Option<Self> {
        value.integer().map(|number| number != 0)
    }
}

impl FromColumn for String {
    fn from_column(value: Value<'_>) -> Option<Self> {
        value.text().map(str::to_owned)
    }
}

impl FromColumn for Vec<u8> {
    fn from_column(value: Value<'_>) -> Option<Self> {
        value.blob().map(<[u8]>::to_vec)
    }
}

impl<const N: usize> FromColumn for [u8; N] {
    fn from_column(value: Value<'_>) -> Option<Self> {
        value.blob()?.try_into().ok()
    }
}

impl FromColumn for Timestamp {
    fn from_column(value: Value<'_>) -> Option<Self> {
        value.integer().map(Self::from_micros)
    }
}

impl FromColumn for RowHandle {
    fn from_column(value: Value<'_>) -> Option<Self> {
        value.integer().map(Self::new)
    }
}

impl FromColumn for CommitSha {
    fn from_column(value: Value<'_>) -> Option<Self> {
        Self::new(value.text()?)
    }
}

/// The bytes. Where a digest is stored as text, [`Row::parse`](crate::store::sql::Row::parse) reads it.
impl FromColumn for Digest {
    fn from_column(value: Value<'_>) -> Option<Self> {
        <[u8; 32]>::from_column(value).map(Self::from)
    }
}

impl<W: Word> FromColumn for W {
    fn from_column(value: Value<'_>) -> Option<Self> {
        W::of_word(value.text()?)
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(value: Value<'_>) -> Option<Self> {
        if value == Value::Null { Some(None) } else { T::from_column(value).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outbox::EffectKind;

    #[test]
    fn a_value_of_another_type_or_range_does_not_read() {
        let read = |value| InstallationId::from_column(value).map(InstallationId::get);
        assert_eq!(read(Value::Integer(7)), Some(7));
        for value in [Value::Null, Value::Integer(0), Value::Text("7"), Value::Blob(b"7")] {
            assert_eq!(read(value), None, "{value:?}");
        }
        assert_eq!(u32::from_column(Value::Integer(-1)), None);
        assert_eq!(EffectKind::from_column(Value::Text("effect")), None);
        assert_eq!(<[u8; 2]>::from_column(Value::Blob(b"abc")), None);
    }

    #[test]
    fn only_an_optional_column_may_be_null() {
        assert_eq!(<Option<u32>>::from_column(Value::Null), Some(None));
        assert_eq!(<Option<u32>>::from_column(Value::Integer(1)), Some(Some(1)));
        assert_eq!(<Option<u32>>::from_column(Value::Text("1")), None);
        assert_eq!(String::from_column(Value::Null), None);
    }
}
