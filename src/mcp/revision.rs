//! The revisions of the protocol that this server speaks, and what changed between them.

words! {
    /// A revision of the legacy era, oldest first: a session that begins with `initialize`.
    Legacy {
        /// Never published, but some clients ask for it. Taken as 2024-11-05, and never offered.
        V2024_10_07 => "2024-10-07",
        /// The first that was published.
        V2024_11_05 => "2024-11-05",
        /// With batches.
        V2025_03_26 => "2025-03-26",
        /// Without batches; with the version header and structured results.
        V2025_06_18 => "2025-06-18",
        /// Streams that a client may come back to.
        V2025_11_25 => "2025-11-25",
    }
}

/// The one revision of the modern era: every request stands for itself.
pub const MODERN: &str = "2026-07-28";

impl Legacy {
    /// The revision that is offered unless the configuration says otherwise.
    pub const DEFAULT: Self = Self::V2025_11_25;

    /// Returns the revisions that are offered, newest first.
    pub fn offered() -> impl Iterator<Item = Self> {
        Self::ALL.iter().rev().copied().filter(|it| it.is_offered())
    }

    /// Says whether it may be offered to a client that asks for an unknown revision.
    #[must_use]
    pub fn is_offered(self) -> bool {
        self != Self::V2024_10_07
    }

    /// Says whether a message may be an array of messages. Such was received in one revision only.
    #[must_use]
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Says whether progress may come with a message.
    #[must_use]
    pub fn has_progress_messages(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Says whether results may have structured content.
    #[must_use]
    pub fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Says whether a client may come back to a stream that broke. Older clients fail at its first, empty event.
    #[must_use]
    pub fn has_resumption(self) -> bool {
        self >= Self::V2025_11_25
    }
}

/// Says whether a text is a date as revisions have it: `YYYY-MM-DD`, in digits.
#[must_use]
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
