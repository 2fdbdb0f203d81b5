//! A claim: the right to finish one item, until a lease ends. It is a value, and every write it allows
//! is fenced by its random id. And what becomes of an item whose holder vanished.

/// The right to finish `item`. A later claim of the same item makes this one worthless: the store
/// compares [`Fence::claim_id`], so the holder of a lost claim changes nothing.
#[derive(Debug)]
pub struct Claim<T> {
    /// What was claimed.
    pub item: T,
    /// What the store compares.
    pub fence: Fence,
}

/// Identity of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Row the claim is on.
    pub row: RowHandle,
    /// 128 random bits, new at every claim.
    pub claim_id: [u8; 16],
    /// Rises with every claim of the row; orders claims in logs.
    pub token: i64,
}

/// A row of the store. Only the store makes and reads one; what it holds differs between engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowHandle(i64);

impl RowHandle {
    /// Makes the handle of a row. Only for the store.
    pub(crate) const fn new(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number of the row. Only for the store.
    pub(crate) const fn row_number(self) -> i64 {
        self.0
    }
}

/// What becomes of an item whose holder vanished before it finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vanished {
    /// It is due again.
    GiveBack,
    /// It ends as a crash loop: it may be what makes its holders vanish.
    GiveUp,
}

/// Decides about an item that was held `count` times, of which the last ended with its holder vanished.
#[must_use]
pub const fn after_vanished(count: u32, max: u32) -> Vanished {
    if count >= max { Vanished::GiveUp } else { Vanished::GiveBack }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_given_up_with_its_last_holder() {
        let decisions = [1, 2, 3, 4].map(|count| after_vanished(count, 3));
        let back = Vanished::GiveBack;
        assert_eq!(decisions, [back, back, Vanished::GiveUp, Vanished::GiveUp]);
    }
}
