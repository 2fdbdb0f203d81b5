//! Reports as JUnit XML: a suite for each file, a case for each card. A long file of lines becomes
//! several suites, because the counts stand in front of the cases.

use std::fmt::Write as _;

use super::{Checked, Counts, Reporter};
use crate::cli::output::escape;

pub(super) struct Junit;

impl Reporter for Junit {
    fn head(&self) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"agent cards\">\n".to_owned()
    }

    fn card(&self, card: &Checked<'_>, out: &mut String) {
        let case =
            card.report.line.map_or_else(|| "card".to_owned(), |line| format!("line {line}"));
        open(out, card.name, &case);
        let Some(first) = card.report.findings.first() else {
            out.push_str("/>\n");
            return;
        };
        let (kind, message) = (xml(&first.code), xml(&first.message));
        write(out, format_args!(">\n<failure type=\"{kind}\" message=\"{message}\">"));
        for finding in &card.report.findings {
            let (line, column, code) = (finding.line, finding.column, xml(&finding.code));
            let message = xml(&finding.message);
            write(out, format_args!("{line}:{column} {code} {message}"));
            if let Some(suggestion) = &finding.suggestion {
                write(out, format_args!("; {}", xml(suggestion)));
            }
            out.push('\n');
        }
        out.push_str("</failure>\n</testcase>\n");
    }

    fn unreadable(&self, name: &str, why: &str, out: &mut String) {
        open(out, name, "card");
        let why = xml(why);
        write(
            out,
            format_args!(">\n<error type=\"unreadable\" message=\"{why}\"/>\n</testcase>\n"),
        );
    }

    fn group(&self, name: &str, part: &Counts, inside: String) -> String {
        let errors = part.unreadable.len();
        let tests = part.cards + u64::try_from(errors).unwrap_or(0);
        let (name, failures) = (xml(name), part.invalid);
        format!(
            "<testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" \
             errors=\"{errors}\">\n{inside}</testsuite>\n"
        )
    }

    fn tail(&self, _total: &Counts) -> String {
        "</testsuites>\n".to_owned()
    }
}

fn open(out: &mut String, name: &str, case: &str) {
    write(out, format_args!("<testcase classname=\"{}\" name=\"{case}\"", xml(name)));
}

fn write(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string does not fail");
}

/// Returns text as it may stand in XML 1.0, in elements and attributes.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in escape(text).chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // No text of XML 1.0 may have them (section 2.2). Control characters are gone by `escape`.
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_may_stand_in_xml() {
        assert_eq!(xml("<a b=\"&\">\0\u{ffff}"), "&lt;a b=&quot;&amp;&quot;&gt;\\u{0}\u{fffd}");
    }
}
