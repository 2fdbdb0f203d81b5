//! Exit codes: one meaning each, so that a script needs no text. The help and the manual show this
//! very table.

use std::fmt::Write as _;
use std::process::ExitCode;

words! {
    /// How a run ended, by rising code; its word is that of the service where it has one.
    Exit(meaning, title) {
        Done => "done", "done", "Done";
        Failed => "failed", "svcd refused the request, the operation failed, a card or its signature is not valid, or a problem was found (mcp doctor, relay audit verify)", "The command failed";
        NotReady => "not_ready", "status: svcd is not ready", "svcd is not ready";
        Unauthenticated => "unauthenticated", "the token is missing or not accepted", "The token is missing or not accepted";
        NotReplayable => "not_replayable", "the item must not be replayed", "The item must not be replayed";
        NotFound => "not_found", "svcd does not know the installation, the item does not exist in this installation, no dead letter matches (dead-letters plan), the card does not exist, or the relay does not know the ID or the code", "Not found";
        Conflict => "operation_conflict", "the idempotency key was used for another request", "The idempotency key was used for another request";
        SignalFiring => "signal_firing", "slo: a critical signal is firing", "A critical signal is firing";
        PreconditionFailed => "precondition_failed", "cards: the name is already in use (--create), or no card with this digest is registered under it (--if-match)", "The condition does not hold";
        NotOpen => "not_open", "dead-letters close, reconcile close: there is nothing to close: the item is closed already, or is neither a dead letter nor a reconciliation that was given up", "There is nothing to close";
        DiedAgain => "died_again", "replay --wait: the item became a dead letter again", "The item became a dead letter again";
        Held => "held", "replay --wait: the effect is held: svcd sends it later, because the forge asked it to wait or cannot be reached", "The effect is held";
        TimedOut => "timed_out", "replay --wait, releases wait: --timeout passed before the end; dead-letters apply: --settle-timeout passed before the end", "The timeout passed before the end";
        NotSucceeded => "not_succeeded", "releases wait: the release ended without success", "The release ended without success";
        ItemsSkipped => "items_skipped", "dead-letters apply: items that have changed since the plan was written were skipped", "Items were skipped";
        ItemsDiedAgain => "items_died_again", "dead-letters apply: replayed items became dead letters again", "Replayed items became dead letters again";
        Usage => "usage", "the command line is wrong", "The command line is wrong";
        Malformed => "malformed_answer", "the response from svcd is malformed", "The response is malformed";
        Unreachable => "unreachable", "svcd cannot be reached", "svcd cannot be reached";
        LocalFile => "local_file", "a local file cannot be used, or output cannot be written", "A local file cannot be used";
        Temporary => "temporary", "a temporary failure; retry later (replay, close: with the same idempotency key)", "A temporary failure";
        Interrupted => "interrupted", "--watch: interrupted; dead-letters apply: interrupted or not confirmed (to continue, run the same command again)", "Interrupted";
    }
}

impl Exit {
    /// Returns the code the process ends with. Those from 64 to 75 are of `sysexits.h`, and 130 is what a shell
    /// says of an interruption.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::NotReady => 3,
            Self::Unauthenticated => 4,
            Self::NotReplayable => 5,
            Self::NotFound => 6,
            Self::Conflict => 7,
            Self::SignalFiring => 8,
            Self::PreconditionFailed => 9,
            Self::NotOpen => 10,
            Self::DiedAgain => 11,
            Self::Held => 12,
            Self::TimedOut => 13,
            Self::NotSucceeded => 14,
            Self::ItemsSkipped => 15,
            Self::ItemsDiedAgain => 16,
            Self::Usage => 64,
            Self::Malformed => 65,
            Self::Unreachable => 69,
            Self::LocalFile => 74,
            Self::Temporary => 75,
            Self::Interrupted => 130,
        }
    }
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
        assert_eq!(
            codes,
            [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 64, 65, 69, 74, 75, 130]
        );
    }

    #[test]
    fn the_help_names_every_code() {
        assert!(table().contains("\n   5  the item must not be replayed\n"), "{}", table());
        assert_eq!(table().lines().count(), 1 + Exit::ALL.len());
    }
}
