//! Reports as workflow commands, which become annotations beside the lines of a pull request.

use std::fmt::Write as _;

use super::{Checked, Reporter};

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

fn data(text: &str) -> String {
    // The percent sign first, or the other escapes would be escaped again.
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_command() {
        assert_eq!(property("a,b:100%\n::error::x"), "a%2Cb%3A100%25%0A%3A%3Aerror%3A%3Ax");
    }
}
