//! The real `svcd`, as a supervisor, the forge and an operator meet it: a process with a folder, a
//! socket and ports of its own, and a simulated forge. Whatever can be seen without ending or
//! starting a process is better tested elsewhere.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "a helper of a test fails like the test it helps"
)]

pub(crate) mod ask;
pub(crate) mod database;
pub(crate) mod letters;
pub(crate) mod process;
pub(crate) mod site;

mod canary;
mod cannot_start;
mod causes;
mod check_forge;
mod clock;
mod completion;
mod concurrent;
mod contract;
mod counted;
mod crashed;
mod disk;
mod gate;
mod handed_over;
mod intake;
mod intake_bodies;
mod kill;
mod lifecycle;
mod load;
mod log_format;
mod log_sink;
mod long_lived;
mod lost_webhooks;
mod mcp_access;
mod mcp_doctor;
mod mcp_stdio;
mod measures;
mod methods;
mod neighbours;
mod operator_list;
mod operator_refusals;
mod operator_replay;
mod plan_input;
mod plan_kill;
mod plans;
mod refused_writes;
mod relay_pair;
mod relay_plugin;
mod reload;
mod results;
mod slo;
mod stop;
mod strange_files;
mod svcctl;
mod swapped;
mod tenants;
mod transcripts;
mod unreachable;
mod waiting;
mod watching;
mod workflow_file;

use std::time::Duration;

use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const SECRET: &str = "a webhook secret of the tests";
pub(crate) const INSTALLATION: i64 = 4_711;
pub(crate) const STRANGER: i64 = 4_712;

/// Nothing that is waited for takes longer, or it does not happen. On a machine with ten other things to do, two seconds of
/// a debug build become more than twenty.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until there is something to see.
pub(crate) fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, look)
}

/// The same for what takes longer by itself.
pub(crate) fn wait_within<T>(
    patience: Duration,
    what: &str,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let clock = SystemClock::new();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(clock.monotonic() < patience, "waited in vain for {what}");
        assert!(Notify::new().pause(Duration::from_millis(10)));
    }
}

#[expect(clippy::print_stderr, reason = "a word for the person who runs a test")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Returns a commit that differs with `number`.
pub(crate) fn commit(number: usize) -> String {
    format!("{:040x}", number + 0xabc0)
}
