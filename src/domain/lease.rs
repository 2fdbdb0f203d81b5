//! A claim: the right to finish one item, until a lease ends. It is a value, and every write it allows
//! is fenced by its random id.

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
    pub row: i64,
    /// 128 random bits, new at every claim.
    pub claim_id: [u8; 16],
    /// Rises with every claim of the row; orders claims in logs.
    pub token: i64,
}
