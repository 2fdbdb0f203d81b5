//! Makes text of others harmless for a terminal.

use crate::domain::operation::is_invisible;

/// Returns the text with everything escaped that could move the cursor, change colours, run a
/// terminal command, or reorder what is read.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() || is_invisible(char) {
            escaped.extend(char.escape_default());
        } else {
            escaped.push(char);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_a_terminal_would_obey() {
        for (text, expected) in [
            ("acme/site", "acme/site"),
            ("größe 大", "größe 大"),
            ("\u{1b}]0;owned\u{7}", "\\u{1b}]0;owned\\u{7}"),
            ("a\r\nb\tc", "a\\r\\nb\\tc"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("x\u{202e}y\u{2066}z", "x\\u{202e}y\\u{2066}z"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }
}
