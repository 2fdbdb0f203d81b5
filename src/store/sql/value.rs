//! Values on their way into a statement: each type says once how it is stored.

use uuid::Uuid;
use uuid::fmt::Hyphenated;

use crate::domain::agent_card::CardName;
use crate::domain::dead_letter::ItemId;
use crate::domain::digest::Digest;
use crate::domain::event::{AccountName, CommitSha, GitRef};
use crate::domain::id::{
    AppId, AttemptId, AuditEventId, CheckRunId, DeviceId, GrantId, HookDeliveryId, InstallationId,
    InvocationId, JobId, OutboxId, OwnerId, PageInstanceId, PairingId, ProposalId,
    ReconciliationId, RelayProcessId, RelaySessionId, ReleaseRunId, RepositoryId, WorkflowRunId,
};
use crate::domain::lease::RowHandle;
use crate::domain::operation::{OperationId, OperatorReason};
use crate::domain::repository::RepositoryName;
use crate::domain::time::Timestamp;
use crate::words::Word;

/// A stored value. It borrows, so that binding and reading allocate nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Value<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Blob(&'a [u8]),
    /// An id of ours, written out in place. It is stored as text, and read as text.
    Uuid([u8; Hyphenated::LENGTH]),
}

/// A type that can be bound to a parameter.
pub(in crate::store) trait Bind {
    /// Returns the value as it is stored.
    fn bind(&self) -> Value<'_>;
}

/// Named parameters of a statement: `params! { ":id": id, ":now": tx.now }`. Values are borrowed.
macro_rules! params {
    ($($name:literal: $value:expr),* $(,)?) => {
        &[$(($name, $crate::store::sql::value::Bind::bind(&$value))),*]
    };
}

pub(in crate::store) use params;

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Bind for $type {
            fn bind(&self) -> Value<'_> {
                Value::Integer(i64::from(*self))
            }
        }
    )*};
}

integers! { i64 u32 u16 bool }

macro_rules! forge_ids {
    ($($type:ty)*) => {$(
        impl Bind for $type {
            fn bind(&self) -> Value<'_> {
                Value::Integer(self.get())
            }
        }
    )*};
}

forge_ids! { AppId CheckRunId HookDeliveryId InstallationId OwnerId RepositoryId WorkflowRunId }

macro_rules! our_ids {
    ($($type:ty)*) => {$(
        impl Bind for $type {
            fn bind(&self) -> Value<'_> {
                let mut text = [0; Hyphenated::LENGTH];
                // Lower case, because SQLite compares text byte by byte: an id in upper case would not be found.
                Uuid::from(*self).as_hyphenated().encode_lower(&mut text);
                Value::Uuid(text)
            }
        }
    )*};
}

our_ids! { AttemptId AuditEventId JobId OutboxId ReconciliationId ReleaseRunId }
our_ids! { DeviceId GrantId InvocationId PageInstanceId PairingId ProposalId RelayProcessId RelaySessionId }

macro_rules! texts {
    ($($type:ty)*) => {$(
        impl Bind for $type {
            fn bind(&self) -> Value<'_> {
                Value::Text(self.as_str())
            }
        }

        impl Bind for &$type {
            fn bind(&self) -> Value<'_> {
                Value::Text(self.as_str())
            }
        }
    )*};
}

texts! { AccountName CardName CommitSha GitRef OperationId OperatorReason RepositoryName String }

impl Bind for &str {
    fn bind(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Bind for Vec<u8> {
    fn bind(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl<const N: usize> Bind for [u8; N] {
    fn bind(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl<const N: usize> Bind for &[u8; N] {
    fn bind(&self) -> Value<'_> {
        Value::Blob(*self)
    }
}

/// The bytes.
impl Bind for Digest {
    fn bind(&self) -> Value<'_> {
        Value::Blob(self.as_bytes())
    }
}

impl Bind for Timestamp {
    fn bind(&self) -> Value<'_> {
        Value::Integer(self.micros())
    }
}

impl Bind for RowHandle {
    fn bind(&self) -> Value<'_> {
        Value::Integer(self.row_number())
    }
}

impl Bind for ItemId {
    fn bind(&self) -> Value<'_> {
        match self {
            Self::Job(id) => id.bind(),
            Self::Outbox(id) => id.bind(),
        }
    }
}

impl<W: Word> Bind for W {
    fn bind(&self) -> Value<'_> {
        Value::Text(self.word())
    }
}

impl<T: Bind> Bind for Option<T> {
    fn bind(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Bind::bind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outbox::EffectKind;

    #[test]
    fn values_are_bound_as_they_are_stored() {
        let text = "0199f3a0-0000-7000-8000-00000000000a";
        let job: JobId = text.parse().unwrap();
        let installation = InstallationId::try_from(7).unwrap();
        let (item, now) = (ItemId::Job(job), Timestamp::from_micros(5));
        let bound: &[(&str, Value<'_>)] = params! {
            ":id": job,
            ":item": item,
            ":installation": installation,
            ":kind": EffectKind::CheckRunUpdate,
            ":nothing": None::<String>,
            ":something": Some("x"),
            ":now": now,
            ":claim": [1, 2],
            ":flag": true,
        };
        let id = Value::Uuid(text.as_bytes().try_into().unwrap());
        let expected = [
            (":id", id),
            (":item", id),
            (":installation", Value::Integer(7)),
            (":kind", Value::Text("check_run_update")),
            (":nothing", Value::Null),
            (":something", Value::Text("x")),
            (":now", Value::Integer(5)),
            (":claim", Value::Blob(&[1, 2])),
            (":flag", Value::Integer(1)),
        ];
        assert_eq!(bound, expected);
    }
}
