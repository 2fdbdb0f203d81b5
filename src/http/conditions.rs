//! Conditional requests (RFC 9110, section 13): entity tags to conditions. A tag of ours is the
//! quoted digest of the bytes; another's is a tag too, and matches nothing.

use http::HeaderName;
use http::header::{IF_MATCH, IF_NONE_MATCH};

use crate::app;
use crate::domain::agent_card::Condition;
use crate::domain::digest::Digest;
use crate::http::error::invalid;
use crate::http::message::Head;

/// What a header of entity tags says.
#[derive(Debug, PartialEq, Eq)]
enum Tags {
    /// `*`
    Any,
    Listed(Vec<Tag>),
}

#[derive(Debug, PartialEq, Eq)]
struct Tag {
    is_weak: bool,
    /// When it is one of ours.
    digest: Option<Digest>,
}

/// Reads what a write is conditional on.
pub(super) fn of_write(head: &Head) -> Result<Condition, app::Error> {
    match (tags(head, &IF_MATCH)?, tags(head, &IF_NONE_MATCH)?) {
        (None, None) => Ok(Condition::Always),
        (Some(tags), None) => Ok(matched(&tags)),
        (None, Some(Tags::Any)) => Ok(Condition::Absent),
        (None, Some(Tags::Listed(_))) => {
            Err(invalid("If-None-Match must be * when a card is written"))
        }
        (Some(_), Some(_)) => Err(invalid("send If-Match or If-None-Match, not both")),
    }
}

/// Reads what a removal is conditional on.
pub(super) fn of_removal(head: &Head) -> Result<Condition, app::Error> {
    match of_write(head)? {
        Condition::Absent => Err(invalid("If-None-Match is not allowed here; send If-Match")),
        condition => Ok(condition),
    }
}

/// What a read comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    Show,
    NotModified,
    PreconditionFailed,
}

/// Decides about a read of the card with this digest.
pub(super) fn of_read(head: &Head, found: Digest) -> Result<Read, app::Error> {
    // `If-Match` comes first (RFC 9110, section 13.2.2).
    if tags(head, &IF_MATCH)?.is_some_and(|tags| !matched(&tags).holds(Some(found))) {
        return Ok(Read::PreconditionFailed);
    }
    Ok(match tags(head, &IF_NONE_MATCH)? {
        None => Read::Show,
        Some(Tags::Any) => Read::NotModified,
        Some(Tags::Listed(tags)) => {
            // `If-None-Match` compares weakly (RFC 9110, section 13.1.2), so `is_weak` does not matter.
            let is_known = tags.iter().any(|tag| tag.digest == Some(found));
            if is_known { Read::NotModified } else { Read::Show }
        }
    })
}

/// Compares strongly: a weak tag matches nothing.
fn matched(tags: &Tags) -> Condition {
    match tags {
        Tags::Any => Condition::Present,
        Tags::Listed(tags) => {
            let strong = tags.iter().filter(|tag| !tag.is_weak);
            Condition::OneOf(strong.filter_map(|tag| tag.digest).collect())
        }
    }
}

fn tags(head: &Head, name: &HeaderName) -> Result<Option<Tags>, app::Error> {
    let mut whole = String::new();
    // Several lines of a list are one list (RFC 9110, section 5.3).
    for value in head.headers.get_all(name) {
        let text = value.to_str().map_err(|_| invalid(MALFORMED))?;
        whole.push_str(if whole.is_empty() { "" } else { "," });
        whole.push_str(text);
    }
    if !head.headers.contains_key(name) {
        return Ok(None);
    }
    read(&whole).map(Some).ok_or_else(|| invalid(MALFORMED))
}

const MALFORMED: &str =
    "If-Match and If-None-Match must be * or quoted entity tags, such as the value of ETag";

fn read(text: &str) -> Option<Tags> {
    let mut rest = text.trim_matches([' ', '\t']);
    if rest == "*" {
        return Some(Tags::Any);
    }
    let mut listed = Vec::new();
    while !rest.is_empty() {
        let (is_weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let (opaque, behind) = quoted.strip_prefix('"')?.split_once('"')?;
        listed.push(Tag { is_weak, digest: opaque.parse().ok() });
        let behind = behind.trim_start_matches([' ', '\t']);
        if !behind.is_empty() && !behind.starts_with(',') {
            return None;
        }
        // Empty elements of a list are skipped (RFC 9110, section 5.6.1).
        rest = behind.trim_start_matches([' ', '\t', ',']);
    }
    (!listed.is_empty()).then_some(Tags::Listed(listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_or_refused() {
        let ours = "ab".repeat(32);
        let tag = |is_weak, digest: Option<&str>| Tag {
            is_weak,
            digest: digest.map(|text| text.parse().unwrap()),
        };
        assert_eq!(read(" * "), Some(Tags::Any));
        let text = format!("\"{ours}\", W/\"{ours}\",, \"a,b\"");
        let expected = vec![tag(false, Some(&ours)), tag(true, Some(&ours)), tag(false, None)];
        assert_eq!(read(&text), Some(Tags::Listed(expected)));
        for text in ["", ",", "*,*", &ours, "\"a", "a\"", "\"a\" \"b\"", "w/\"a\"", "*, \"a\""] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
