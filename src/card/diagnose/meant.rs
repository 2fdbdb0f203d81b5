//! What was probably meant: by a name, a word, a value of the wrong type, or what is no URI.

use std::fmt::Write as _;

use super::{Node, Shape, Type, quoted, spelling};
use crate::card::uri;

/// Names that are all shown.
const SHOWN_MAX: usize = 5;
/// Names that are shown of more.
const NEAREST: usize = 3;

/// Returns the known word that a text is in another spelling.
pub(super) fn same_word(text: &str, known: &[&'static str]) -> Option<&'static str> {
    let is_same = |word: &&'static str| spelling::is_same(word, text.trim());
    let version = spelling::version(text, known.iter().copied());
    let version = version.filter(|_| spelling::is_usual_version(text));
    version.or_else(|| known.iter().copied().find(is_same))
}

/// Returns the known word that was probably meant. It is a guess, because a similar word may mean something
/// else: PS256 is not RS256.
pub(super) fn similar_word(
    text: &str,
    known: &[&'static str],
    is_version: bool,
) -> Option<&'static str> {
    // Versions of official cards, such as 0.2.5, are like none of ours.
    let is_number = is_version && text.starts_with(|char: char| char.is_ascii_digit());
    let near = spelling::version(text, known.iter().copied())
        .or_else(|| spelling::nearest(text.trim(), known.iter().copied()));
    near.or_else(|| known.first().copied().filter(|_| is_number))
}

/// Names some of the properties of a shape that has so many that no author reads them all.
pub(super) fn similar_names(name: &str, shape: &Shape) -> Option<String> {
    if shape.fields.len() <= SHOWN_MAX {
        return None;
    }
    let nearest = quoted(spelling::most_similar::<NEAREST>(name, shape.names()));
    Some(format!("the nearest of the allowed names are {nearest}"))
}

/// Returns what a value of the wrong type was meant to be.
pub(super) fn value(node: Node<'_>, expected: &str) -> Option<String> {
    let raw = node.raw();
    match (node.kind(), expected) {
        (Type::String, "true or false") => {
            let word = node.text()?.trim().to_ascii_lowercase();
            matches!(word.as_str(), "true" | "false").then_some(word)
        }
        (Type::Number, "true or false") if raw == "1" => Some("true".to_owned()),
        (Type::Number, "true or false") if raw == "0" => Some("false".to_owned()),
        (Type::Number | Type::Boolean, "a string") => Some(format!("\"{raw}\"")),
        (Type::Array, "a string") => {
            let mut items = node.items();
            let only = items.next().filter(|item| item.kind() == Type::String)?;
            items.next().is_none().then(|| only.raw().to_owned())
        }
        (Type::String, "an array of strings") => Some(format!("[{raw}]")),
        _ => None,
    }
}

/// Returns the URI with what may not stand in it escaped, or with a scheme, if that makes one; and whether that
/// leaves nothing to decide.
pub(super) fn uri(fault: uri::Fault, text: &str) -> Option<(String, bool)> {
    let trimmed = text.trim();
    let (candidate, is_exact) = match fault {
        // Which scheme was omitted is a guess.
        uri::Fault::Scheme if trimmed.starts_with("//") => (format!("https:{trimmed}"), false),
        uri::Fault::Scheme
            // A dot suggests a host; a relative reference begins with one of these.
            if trimmed.contains('.') && !trimmed.starts_with(['/', '.', '?', '#']) =>
        {
            (format!("https://{trimmed}"), false)
        }
        uri::Fault::Character(_) => (escaped(trimmed), text.chars().all(is_of_iri)),
        _ => return None,
    };
    // A suggestion must not be refused when the author follows it.
    uri::check(candidate.as_bytes()).ok()?;
    Some((format!("\"{candidate}\""), is_exact))
}

/// Says whether a character is one of a URI, or one that browsers and RFC 3987 write as escapes without a change of
/// meaning. Of the others it is not known why they are there: `{id}` may be a template, and `\` a slash.
fn is_of_iri(char: char) -> bool {
    is_of_uri(char) || char == ' ' || char >= '\u{a0}'
}

fn is_of_uri(char: char) -> bool {
    char.is_ascii_graphic() && !"<>\"{}|\\^`[]".contains(char)
}

/// Escapes what no URI has. A host is left alone: its form for machines is not made by escapes.
fn escaped(text: &str) -> String {
    let host_end = text.find("//").map_or(0, |at| {
        let host = text.get(at + 2..).unwrap_or_default();
        at + 2 + host.find(['/', '?', '#']).unwrap_or(host.len())
    });
    let mut escaped = text.get(..host_end).unwrap_or_default().to_owned();
    for char in text.get(host_end..).unwrap_or_default().chars() {
        // `%` stays as it is, or what is escaped already would be escaped again.
        if is_of_uri(char) {
            escaped.push(char);
        } else {
            let mut buffer = [0; 4];
            for byte in char.encode_utf8(&mut buffer).bytes() {
                write!(escaped, "%{byte:02X}").expect("writing to a string does not fail");
            }
        }
    }
    escaped
}
