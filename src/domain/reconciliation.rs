//! Reconciliation items as they are listed: their statuses, and which of them are asked for.

/// Status of a reconciliation item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReconciliationStatus {
    /// Waits for its next check.
    Open,
    /// Somebody looks.
    Leased,
    /// Repaired, or nothing was left to repair.
    Completed,
    /// Given up.
    DeadLetter,
}

impl ReconciliationStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Open, Self::Leased, Self::Completed, Self::DeadLetter];

    /// Returns the stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Leased => "leased",
            Self::Completed => "completed",
            Self::DeadLetter => "dead_letter",
        }
    }

    /// Says whether an item in this status is looked at no more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Open | Self::Leased => false,
            Self::Completed | Self::DeadLetter => true,
        }
    }
}
