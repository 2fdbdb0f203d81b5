//! What an operator asks for under an idempotency key: it happens once, and the same request gets the same answer for
//! ever.
//!
//! See `docs/decisions/119-operator-requests.md`.

use std::fmt;

use crate::domain::id::{AuditEventId, InstallationId};

/// Longest reason, in characters.
const REASON_MAX: usize = 200;

/// The caller's idempotency key. Shape: 1 to 128 visible ASCII characters. Source: the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationId(String);

impl OperationId {
    /// Returns the key when it has the shape.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let accepts = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        accepts.then(|| Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why an operator did it, in their own words, for the audit log. Shape: 1 to 200 visible characters. Source: the
/// operator; never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct OperatorReason(String);

impl OperatorReason {
    /// What a reason must be, for those who send another one.
    pub const SHAPE: &'static str =
        "1 to 200 characters, without control characters and marks that reorder text";

    /// Returns the reason when it has the shape.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_short = text.chars().nth(REASON_MAX).is_none();
        let is_plain = !text.chars().any(|char| char.is_control() || is_invisible(char));
        let says_something = text.chars().any(|char| !char.is_whitespace());
        (is_short && is_plain && says_something).then(|| Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Hides the words, which must not reach a log.
impl fmt::Debug for OperatorReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reason(…)")
    }
}

/// Says whether a character is a line or paragraph separator, or a mark that sets the direction of text or takes no
/// room.
#[must_use]
pub const fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A request about one item, which `I` names.
#[derive(Clone, Debug)]
pub struct OperatorRequest<I> {
    /// The scope: an item of another installation is not found.
    pub installation: InstallationId,
    pub item: I,
    /// The caller's key.
    pub operation: OperationId,
    /// The configured actor.
    pub actor: String,
}

/// An item that is not open, so that there is nothing to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOpen;

/// What a close came to.
pub type CloseOutcome = Outcome<NotOpen>;

/// What a request came to. `R` is why the item as it is now does not allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<R> {
    /// It was carried out, and the audit event is written.
    Applied(AuditEventId),
    /// The same request was carried out before; nothing changed.
    AlreadyApplied(AuditEventId),
    /// The key was used for another request; nothing changed.
    OperationConflict,
    /// No such item in this installation; nothing changed.
    NotFound,
    /// The item is there and does not allow it; nothing changed.
    Refused(R),
}

/// Whether a known key was used for this very request: the same installation, item, what to do, why, and, if it names one, death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameRequest {
    /// It was.
    Yes,
    /// It was not.
    No,
}

/// What to do about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<R> {
    /// Change the item, write the audit event, record the key: all or nothing.
    Apply,
    /// Answer without changing anything.
    Answer(Outcome<R>),
}

/// Decides a request. The key is looked at before the item, so that `AlreadyApplied` outlives it.
///
/// `known` is how the key was used before, and the audit event of that; `item` is whether the item allows the request, if
/// there is one in the installation.
#[must_use]
pub fn decide<R>(
    known: Option<(SameRequest, AuditEventId)>,
    item: Option<Result<(), R>>,
) -> Decision<R> {
    Decision::Answer(match (known, item) {
        // Whatever the item is now: it may have died again since, and a repeated request must not replay it twice.
        (Some((SameRequest::Yes, audit_event)), _) => Outcome::AlreadyApplied(audit_event),
        (Some((SameRequest::No, _)), _) => Outcome::OperationConflict,
        (None, None) => Outcome::NotFound,
        (None, Some(Err(why))) => Outcome::Refused(why),
        (None, Some(Ok(()))) => return Decision::Apply,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_line_that_a_person_can_read() {
        for text in ["x", "größe 大: the repository was deleted", &"ä".repeat(200)] {
            assert_eq!(OperatorReason::new(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            " ",
            "\u{3000}",
            "a\nb",
            "a\u{1b}[2J",
            "\u{202e}evil",
            "a\u{200b}",
            &"a".repeat(201),
        ] {
            assert!(OperatorReason::new(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn the_words_of_an_operator_are_not_shown_by_debug() {
        assert_eq!(format!("{:?}", OperatorReason::new("secret").unwrap()), "Reason(…)");
    }
}
