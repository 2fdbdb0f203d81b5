//! Reports as workflow commands, which become annotations beside the lines of a pull request.

use std::fmt::Write as _;

use super::{Checked, Reporter};
use crate::cli::output::escape;

pub(super) struct Github;

impl Reporter for Github {
    fn card(&self, card: &Checked<'_>, out: &mut String) {
        for finding in &card.report.findings {
            let (line, column, code) = (finding.line, finding.column, property(&finding.code));
            let mut message = finding.message.clone();
            if let Some(suggestion) = &finding.suggestion {
                message.push_str("; ");
                message.push_str(suggestion);
            }
            let (file, message) = (property(card.name), data(&message));
            writeln!(out, "::error file={file},line={line},col={column},title={code}::{message}")
                .expect("writing to a string does not fail");
        }
    }

    fn unreadable(&self, name: &str, why: &str, out: &mut String) {
        writeln!(out, "::error file={}::cannot be read: {}", property(name), data(why))
            .expect("writing to a string does not fail");
    }
}

/// The log of the run shows the command as well, so text of others is escaped as it is for a terminal. That leaves no
/// line ends, which would end the command.
fn data(text: &str) -> String {
    escape(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_command() {
        assert_eq!(property("a,b:100%\r\n::error::x"), r"a%2Cb%3A100%25\r\n%3A%3Aerror%3A%3Ax");
    }

    #[test]
    fn no_text_commands_a_terminal_or_reorders_a_line() {
        assert_eq!(data("\u{9b}31m\u{202e}x\u{85}\u{2066}y"), r"\u{9b}31m\u{202e}x\u{85}\u{2066}y");
        assert_eq!(property("\u{90}a\u{200f}:b"), r"\u{90}a\u{200f}%3Ab");
    }
}
