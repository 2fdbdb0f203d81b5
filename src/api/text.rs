//! Ids, numbers of the forge and instants as JSON: text, in the one spelling each of them has.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::domain::agent_card::CardName;
use crate::domain::digest::Digest;
use crate::domain::id::{
    AttemptId, AuditEventId, CheckRunId, DeviceId, GrantId, InstallationId, InvocationId, OutboxId,
    PageInstanceId, PairingId, ProposalId, ReconciliationId, RelaySessionId, ReleaseRunId,
    WorkflowRunId,
};
use crate::domain::time::Timestamp;

/// Declares that types are written as text, and how they are read from it.
macro_rules! as_text {
    ($($type:ty: $read:expr;)*) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
                    let read: fn(&str) -> Option<Self> = $read;
                    read(&String::deserialize(text)?)
                        .ok_or_else(|| D::Error::custom(concat!("no ", stringify!($type))))
                }
            }
        )*
    };
}

as_text! {
    AttemptId: |text| text.parse().ok();
    AuditEventId: |text| text.parse().ok();
    CardName: |text| text.parse().ok();
    CheckRunId: |text| text.parse().ok();
    DeviceId: |text| text.parse().ok();
    Digest: |text| text.parse().ok();
    GrantId: |text| text.parse().ok();
    InstallationId: |text| text.parse().ok();
    PageInstanceId: |text| text.parse().ok();
    InvocationId: |text| text.parse().ok();
    OutboxId: |text| text.parse().ok();
    PairingId: |text| text.parse().ok();
    ProposalId: |text| text.parse().ok();
    ReconciliationId: |text| text.parse().ok();
    ReleaseRunId: |text| text.parse().ok();
    RelaySessionId: |text| text.parse().ok();
    Timestamp: Timestamp::parse_rounding_up;
    WorkflowRunId: |text| text.parse().ok();
}
