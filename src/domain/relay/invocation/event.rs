//! What may happen to an invocation.

use crate::domain::digest::Digest;
use crate::domain::id::{DeviceId, GrantId, PageInstanceId, RelaySessionId};
use crate::domain::relay::grant::GrantClaim;
use crate::domain::relay::{DecidedBy, RelayReason};

/// What a decision is bound to, taken from the bytes that were signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The device whose key verified the signature over exactly these invocations' digests; `None` where none did.
    pub by: Option<DeviceId>,
    /// The session that was signed.
    pub session: RelaySessionId,
    /// The epoch that was signed.
    pub epoch: u32,
}

/// An approval, as the plugin sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Who decided, as it says.
    pub by: DecidedBy,
    /// What was signed.
    pub signed: Signed,
    /// Digest of what was approved.
    pub preview: Digest,
}

/// How the plugin says that it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// It was carried out.
    Succeeded,
    /// It was not; the file is as before.
    Failed(RelayReason),
    /// The file was not as shown; nothing was done.
    Stale,
    /// It was carried out, it says, with a value that cannot be used.
    Unusable(RelayReason),
}

words! {
    /// An entry in a page's journal, which every page of a device reads.
    Entry {
        /// Written before the page acts.
        Begun => "begun",
        /// It was carried out.
        Succeeded => "succeeded",
        /// It was not; the file is as before.
        Failed => "failed",
        /// The file was not as shown; nothing was done.
        Stale => "stale",
    }
}

/// What a returning page knows of a grant that was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// What its journal says.
    Says(Entry),
    /// Nothing, and it is the page that the grant was claimed for: it never got to know of it, and has dropped
    /// what its old socket still held.
    SilentSamePage,
    /// Nothing, and it is another page: the old one may be frozen with `execute` unread, and do it later.
    SilentOtherPage,
}

impl Journal {
    /// Reads what `page` says of a grant that was claimed for `claimed_for`. Entries that contradict each other
    /// say only that it began.
    #[must_use]
    pub fn read(
        entries: &[(GrantId, Entry)],
        grant: GrantId,
        claimed_for: PageInstanceId,
        page: PageInstanceId,
    ) -> Self {
        let mut of_grant = entries.iter().filter(|(id, _)| *id == grant).map(|(_, entry)| *entry);
        match of_grant.next() {
            Some(first) if of_grant.all(|other| other == first) => Self::Says(first),
            // The weakest of them: it proves neither that it happened nor that it did not.
            Some(_) => Self::Says(Entry::Begun),
            None if page == claimed_for => Self::SilentSamePage,
            None => Self::SilentOtherPage,
        }
    }
}

/// What may happen to an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its card stood on the screen, with that preview.
    Shown(Digest),
    /// The plugin sent an approval.
    Approve(Approval),
    /// The plugin cannot show it.
    CannotShow(Signed, RelayReason),
    /// The person denied it.
    Deny(Signed),
    /// The caller who proposed it takes it back.
    CallerCancels,
    OperatorDenies,
    /// Its proposal, or once it is approved its grant, is over.
    Expires,
    /// A process wants to carry it out.
    Claim(GrantClaim),
    /// The socket of its session sent how it ended.
    Result(Report),
    /// The time it may run is over: [`Effect::deadline`](crate::domain::relay::ActionEffect::deadline) from its claim.
    DeadlinePasses,
    /// The socket of its session closed.
    SocketClosed,
    /// A page of its session has returned.
    Returned(Journal),
    /// Its session has another file now.
    FileChanged,
    /// Its session ended, or its device was revoked.
    Revoked,
    /// An earlier step of its proposal ended without success.
    StepFailed,
}
