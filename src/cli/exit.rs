//! Exit codes: one meaning each, so that a script needs no text. The help and the manual show this
//! very table.

use std::fmt::Write as _;
use std::process::ExitCode;

/// Declares the ways to end: a code, a stable word, and what it means to a person.
macro_rules! exits {
    ($($name:ident = $code:literal $word:literal: $meaning:literal,)*) => {
        /// How a run ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Exit { $(#[doc = $meaning] $name,)* }

        impl Exit {
            /// Every way to end, by rising code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the code the process ends with. Those from 64 up are of `sysexits.h`.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns the stable word, which is that of the service where it has one.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Returns what it means, for the help.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

exits! {
    Done = 0 "done": "done",
    Failed = 1 "failed": "the service refused the request, the operation failed, or a card or its signature is not valid",
    NotReady = 3 "not_ready": "status: the service is not ready",
    Unauthenticated = 4 "unauthenticated": "the token is missing or not accepted",
    NotReplayable = 5 "not_replayable": "the item must not be replayed",
    NotFound = 6 "not_found": "no such item in this installation, or no such card",
    Conflict = 7 "operation_conflict": "the idempotency key was used for another request",
    SignalFiring = 8 "signal_firing": "slo: a critical signal fires",
    PreconditionFailed = 9 "precondition_failed": "cards: the card is not the one that was expected",
    Usage = 64 "usage": "the command line is wrong",
    Malformed = 65 "malformed_answer": "the answer of the service could not be understood",
    Unreachable = 69 "unreachable": "the service cannot be reached",
    LocalFile = 74 "local_file": "a local file cannot be used, or output cannot be written",
    Temporary = 75 "temporary": "a passing failure; run it again later, with the same key",
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Returns the table of codes for the long help.
pub(crate) fn table() -> String {
    let mut text = String::from("Exit codes:\n");
    for exit in Exit::ALL {
        writeln!(text, "  {:>2}  {}", exit.code(), exit.meaning())
            .expect("writing to a string does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_published_ones_and_differ() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 3, 4, 5, 6, 7, 8, 9, 64, 65, 69, 74, 75]);
    }

    #[test]
    fn the_help_names_every_code() {
        assert!(table().contains("\n   5  the item must not be replayed\n"), "{}", table());
        assert_eq!(table().lines().count(), 1 + Exit::ALL.len());
    }
}
