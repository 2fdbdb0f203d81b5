//! How the last write went.

use crate::store::error::Unavailable;

/// How the last write went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It was committed.
    Ok,
    /// It was not.
    Failing(Unavailable),
}
