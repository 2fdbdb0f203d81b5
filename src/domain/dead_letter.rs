//! Dead letters: what was given up, why, and whether an operator may replay it. The replay class is
//! decided when the item dies, stored with the row, and never guessed when the row is read.
//!
//! Why it is stored: `docs/decisions/26-replay-classes.md`.

use std::fmt;

use crate::domain::id::{JobId, OutboxId};
use crate::domain::operation::{self, NotOpen, OperatorRequest};
use crate::domain::time::Timestamp;

words! {
    /// What kind of item died.
    ItemType {
        /// A lifecycle job.
        Job => "job",
        /// A side effect at the forge.
        Outbox => "outbox",
    }
}

words! {
    /// Why an item died. Stable: operators and alerts match on it.
    DeadLetterReason {
        /// The stored action cannot be read; nothing was done.
        ActionsUnreadable => "actions_unreadable",
        /// The installation is suspended; nothing is started for it.
        InstallationSuspended => "installation_suspended",
        /// The installation was removed.
        InstallationDeleted => "installation_deleted",
        /// The job could not be applied, every time it was tried.
        JobFailed => "job_failed",
        /// Every process that claimed the item vanished before it finished.
        CrashLoop => "crash_loop",
        /// The repository is not known, or was deleted.
        RepositoryUnknown => "repository_unknown",
        /// The check run to be updated was never created.
        CheckRunUnknown => "check_run_unknown",
        /// The forge did not let us in: no installation token could be had.
        ForgeTokenRefused => "forge_token_refused",
        /// The forge could not be reached, every time it was tried; nothing was sent.
        ForgeUnavailable => "forge_unavailable",
        /// The forge refused to dispatch the workflow; no run was started.
        ForgeDispatchRejected => "forge_dispatch_rejected",
        /// The dispatch was sent and its fate is not known: a run may have started.
        ForgeDispatchUncertain => "forge_dispatch_uncertain",
        /// The forge refused to create the check run.
        ForgeCheckRunCreateRejected => "forge_check_run_create_rejected",
        /// The creation was sent and its fate is not known: a check run may exist.
        ForgeCheckRunCreateUncertain => "forge_check_run_create_uncertain",
        /// The forge refused to update the check run, or never confirmed it.
        ForgeCheckRunUpdateFailed => "forge_check_run_update_failed",
        /// The forge showed another check run than the one that was created; it is never updated.
        ForgeCheckRunBindingMismatch => "forge_check_run_binding_mismatch",
    }
}

impl DeadLetterReason {
    /// Returns the types of items that can die of it.
    #[must_use]
    pub const fn item_types(self) -> &'static [ItemType] {
        match self {
            Self::InstallationSuspended | Self::InstallationDeleted | Self::JobFailed => {
                &[ItemType::Job]
            }
            Self::ActionsUnreadable | Self::CrashLoop => ItemType::ALL,
            Self::RepositoryUnknown
            | Self::CheckRunUnknown
            | Self::ForgeTokenRefused
            | Self::ForgeUnavailable
            | Self::ForgeDispatchRejected
            | Self::ForgeDispatchUncertain
            | Self::ForgeCheckRunCreateRejected
            | Self::ForgeCheckRunCreateUncertain
            | Self::ForgeCheckRunUpdateFailed
            | Self::ForgeCheckRunBindingMismatch => &[ItemType::Outbox],
        }
    }
}

words! {
    /// What kind of failure it was.
    ErrorClass {
        /// Credentials were refused (401).
        Authentication => "authentication",
        /// The app lacks a permission (403, 451).
        Permission => "permission",
        /// The forge does not know the object (404).
        NotFound => "not_found",
        /// The forge refused the request as such (400, 422).
        Validation => "validation",
        /// The forge asked to wait (403 or 429).
        RateLimited => "rate_limited",
        /// The forge could not be reached, or answered 5xx.
        Unavailable => "unavailable",
        /// An answer, or a stored row, did not have the shape it must have.
        Protocol => "protocol",
        /// An answer was about another object than the one that was asked for.
        Identity => "identity",
        /// Our own state does not allow it.
        State => "state",
        /// The process vanished, or the code panicked.
        Crash => "crash",
    }
}

words! {
    /// Why a call to the forge failed, as far as its name, the connection and the status of the answer show. No
    /// rule depends on it.
    FailureCause {
        /// The name of the forge could not be resolved.
        Dns => "dns",
        /// No connection was accepted, or there is no route.
        Refused => "refused",
        /// The certificate is of an issuer that is not trusted, or there is no valid TLS at all.
        TlsUntrusted => "tls_untrusted",
        /// The certificate is not valid at this time.
        TlsExpired => "tls_expired",
        /// The certificate is for another name.
        TlsName => "tls_name",
        /// The connection or the answer took too long.
        Timeout => "timeout",
        /// The connection broke, or brought no HTTP.
        Reset => "reset",
        /// The forge refused the request.
        Http4xx => "http_4xx",
        /// The forge, or a proxy in front of it, failed.
        Http5xx => "http_5xx",
    }
}

impl ErrorClass {
    /// Says whether a part of the forge that does not know a fresh token yet answers like this.
    #[must_use]
    pub const fn may_be_lag(self) -> bool {
        matches!(self, Self::Authentication | Self::Permission | Self::NotFound)
    }
}

words! {
    /// How a dead letter ended.
    Resolution {
        /// An operator replayed the item.
        Replayed => "replayed",
        /// The effect turned out to have happened.
        Completed => "completed",
        /// The item is not needed any more.
        Superseded => "superseded",
        /// An operator closed it: nothing is sent.
        Closed => "closed",
    }
}

words! {
    /// Why an item may, or may not, be replayed.
    ReplayClass {
        /// Safe: the whole job is one transaction, and it was not committed.
        JobTransaction => "job_transaction",
        /// Safe: nothing left this process.
        NotSent => "not_sent",
        /// Safe: the forge definitely refused, so nothing happened there.
        Refused => "refused",
        /// Safe: it sets a state, and setting the same state again does no harm.
        Repeatable => "repeatable",
        /// Safe: its outcome was uncertain, and a query to the forge proved that it had no effect.
        ProvedAbsent => "proved_absent",
        /// Not safe: a workflow run may exist; dispatching again might start a second one.
        DispatchUncertain => "dispatch_uncertain",
        /// Not safe: a check run may exist; creating it again might make a second one.
        CreateUncertain => "create_uncertain",
        /// Not safe: the check run under its number is known not to be ours.
        BindingMismatch => "binding_mismatch",
        /// Not safe: its stored content cannot be read, so it would fail again.
        Unreadable => "unreadable",
    }
}

impl ReplayClass {
    /// Says whether an item of this class may be replayed.
    #[must_use]
    pub const fn is_safe(self) -> bool {
        match self {
            Self::JobTransaction
            | Self::NotSent
            | Self::Refused
            | Self::Repeatable
            | Self::ProvedAbsent => true,
            Self::DispatchUncertain
            | Self::CreateUncertain
            | Self::BindingMismatch
            | Self::Unreadable => false,
        }
    }

    /// Says whether the effect may have happened.
    #[must_use]
    pub const fn is_uncertain(self) -> bool {
        matches!(self, Self::DispatchUncertain | Self::CreateUncertain)
    }
}

/// Names one item that can die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemId {
    /// A lifecycle job.
    Job(JobId),
    /// An outbox message.
    Outbox(OutboxId),
}

impl ItemId {
    /// Reads an item's id; `None` when the text is not one.
    #[must_use]
    pub fn parse(item_type: ItemType, id: &str) -> Option<Self> {
        match item_type {
            ItemType::Job => id.parse().ok().map(Self::Job),
            ItemType::Outbox => id.parse().ok().map(Self::Outbox),
        }
    }

    /// Returns which kind it is.
    #[must_use]
    pub const fn item_type(self) -> ItemType {
        match self {
            Self::Job(_) => ItemType::Job,
            Self::Outbox(_) => ItemType::Outbox,
        }
    }
}

/// Shown without its type.
impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(id) => id.fmt(f),
            Self::Outbox(id) => id.fmt(f),
        }
    }
}

/// Says whether a dead letter of a stored class may be replayed. A class that only a newer version knows may
/// not.
#[must_use]
pub fn is_replay_safe(class: &str) -> bool {
    ReplayClass::from_word(class).is_some_and(ReplayClass::is_safe)
}

/// What an operator asks for about one item.
pub type ItemRequest = OperatorRequest<ItemId>;

/// What a replay came to.
pub type ReplayOutcome = operation::Outcome<NotReplayable>;

/// Why an item must not be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotReplayable {
    NotDead,
    /// It is dead, and its dead letter was closed: what it would do is gone.
    Closed,
    /// It is dead, but not since the instant that the request names.
    DiedAgain,
    /// It is dead, and its class forbids it.
    Class(ReplayClass),
    /// It is dead, with a class that only a newer version knows.
    UnknownClass,
}

/// What is known of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemFacts {
    /// It is waiting, leased, or finished.
    NotDead,
    /// It is dead, and its dead letter was closed.
    Closed,
    /// It is dead, but not since the instant that was named: it died again.
    DiedAgain,
    /// It is dead, with this class; `None` when it is one that is not known here.
    Dead(Option<ReplayClass>),
}

impl ItemFacts {
    /// Returns what is known of an item that died at an instant, for a request about the dead letter of the instant that it
    /// names, if it names one.
    #[must_use]
    pub fn dead(
        class: Option<ReplayClass>,
        failed_at: Timestamp,
        named: Option<Timestamp>,
    ) -> Self {
        let is_meant = named.is_none_or(|named| named == failed_at);
        if is_meant { Self::Dead(class) } else { Self::DiedAgain }
    }

    /// Decides whether the item may be replayed.
    ///
    /// # Errors
    /// Why it must not be.
    pub const fn replayable(self) -> Result<(), NotReplayable> {
        match self {
            Self::NotDead => Err(NotReplayable::NotDead),
            Self::Closed => Err(NotReplayable::Closed),
            Self::DiedAgain => Err(NotReplayable::DiedAgain),
            // A newer version may know a reason against it.
            Self::Dead(None) => Err(NotReplayable::UnknownClass),
            Self::Dead(Some(class)) if class.is_safe() => Ok(()),
            Self::Dead(Some(class)) => Err(NotReplayable::Class(class)),
        }
    }

    /// Returns the stable words of what an operator may do with the item now.
    pub fn allowed(self) -> impl Iterator<Item = &'static str> {
        let replay = self.replayable().is_ok().then_some("replay");
        let close = self.closable().is_ok().then_some("close");
        replay.into_iter().chain(close)
    }

    /// Decides whether the dead letter of the item may be closed: of any class, because nothing is sent.
    ///
    /// # Errors
    /// It is not open.
    pub const fn closable(self) -> Result<(), NotOpen> {
        match self {
            Self::NotDead | Self::Closed | Self::DiedAgain => Err(NotOpen),
            Self::Dead(_) => Ok(()),
        }
    }
}

/// Returns the instant a new dead letter of an installation gets: now, or a microsecond after the
/// last one, so that the instant alone is a cursor that neither skips nor repeats.
#[must_use]
pub fn failed_at(now: Timestamp, last: Option<Timestamp>) -> Timestamp {
    last.map_or(now, |last| now.max(Timestamp::from_micros(last.micros().saturating_add(1))))
}
