//! The words of each fault of the grammar: why reading stops. What other languages have and JSON does not is
//! called by its name.

use super::{FindingBuilder, FindingCode, Reader};

pub(super) const NOT_CLOSED: &str = "this string is not closed";
pub(super) const LINE_END: &str =
    "the line ends inside a string: a quote is missing, or \\n is meant";
pub(super) const CONTROL: &str = "a control character must be escaped in a string";
const COMMENT: &str = "this is a comment, and JSON has no comments";
const SINGLE_QUOTE: &str = "names and strings need double quotes, not single ones";
const NOT_FINITE: &str = "JSON has no NaN and no Infinity";

/// Says why no value begins here.
pub(super) fn no_value(rest: &str) -> &'static str {
    let unsigned = rest.trim_start_matches(['-', '+']);
    if ["NaN", "Infinity"].iter().any(|word| unsigned.starts_with(word)) {
        return NOT_FINITE;
    }
    if rest.starts_with('\'') { SINGLE_QUOTE } else { "this is not a JSON value" }
}

/// Says why no name of a property begins here.
pub(super) fn no_name(rest: &str) -> &'static str {
    if rest.starts_with('\'') {
        return SINGLE_QUOTE;
    }
    "expected the name of a property in quotes"
}

impl Reader<'_> {
    /// Returns the rest of the text, from where reading is.
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn stop(&self, at: usize, message: &'static str) -> Box<FindingBuilder> {
        let rest = self.text.get(at..).unwrap_or_default();
        // Reading stops at none of these inside a string.
        let is_comment = ["//", "/*", "#"].iter().any(|begin| rest.starts_with(begin));
        let message = if is_comment { COMMENT } else { message };
        let char = rest.chars().next();
        let length = char.map_or(0, char::len_utf8);
        let builder = FindingBuilder::new(FindingCode::NotJson, at, length)
            .message(format!("not JSON: {message}"));
        Box::new(match char {
            Some(char) => builder.found(format!("'{}'", char.escape_debug())),
            None => builder.found("the end of the text"),
        })
    }
}
