//! Peers that mean harm, against the real binary on every surface: bytes no client sends, peers that
//! are slow, many or greedy, and seeded input for everything that reads. `--nocapture` prints every
//! case and its verdict; `PROPTEST_CASES` with another `PROPTEST_RNG_SEED` makes the properties a campaign.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a helper of a test fails like the test it helps, and verdicts are to be read"
)]

mod cards;
mod cases;
mod floods;
mod framing;
mod headers;
pub(crate) mod isolation;
mod long_lived;
mod memory;
pub(crate) mod probes;
mod properties;
mod relay;
mod request_line;
mod slow;
mod suite;
mod threads;
pub(crate) mod wire;

use std::time::Duration;

/// Nothing that is waited for takes longer, or it does not happen.
const PATIENCE: Duration = Duration::from_secs(20);
