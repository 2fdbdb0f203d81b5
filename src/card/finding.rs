//! Findings: what is wrong, where, what was found, what is allowed, and what was probably meant.

use std::borrow::Cow;
use std::ops::Range;

use super::code::FindingCode;
use super::position::{Position, Reader};

/// One fault of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of fault.
    pub code: FindingCode,
    /// JSON Pointer (RFC 6901) of the value or property; of a missing one, where it would stand.
    pub pointer: String,
    /// Of the value; of the name, when a property is the fault; of the object that lacks one.
    pub place: Position,
    /// Bytes of what the place begins, for a marker below it; 0 when there is nothing.
    pub length: usize,
    /// One sentence that can be read alone, without a full stop.
    pub message: String,
    /// What stands there: shortened, and with its escapes as in the text.
    pub found: Option<String>,
    /// What may stand there.
    pub allowed: Option<String>,
    /// What to write instead.
    pub suggestion: Option<String>,
    /// The suggestion as a change of the text, if it leaves nothing to decide.
    pub edit: Option<Edit>,
    /// What kind of change mends it.
    pub change: Change,
}

/// Part of the text of a card, and what to write in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the text in front of the part.
    pub offset: usize,
    /// Bytes of the part, at least one.
    pub length: usize,
    /// What stands there afterwards; empty to remove the part.
    pub text: String,
}

/// Most bytes that an edit writes, so that a report stays small. What is longer is not a slip.
const EDIT_MAX: usize = 4096;

words! {
    /// What kind of change mends a fault.
    Change {
        /// The same under another name.
        Rename => "rename",
        /// The same in another form.
        Reshape => "reshape",
        /// Something is missing.
        Add => "add",
        /// There is no place for it.
        Remove => "remove",
        /// The value itself is wrong.
        Correct => "correct",
    }
}

/// A finding whose place is not counted out yet.
#[derive(Debug)]
pub(super) struct FindingBuilder {
    finding: Finding,
}

impl FindingBuilder {
    pub(super) fn new(code: FindingCode, offset: usize, length: usize) -> Self {
        let place = Position { line: 1, column: 1, offset };
        let message = code.title().to_owned();
        let finding = Finding {
            code,
            pointer: String::new(),
            place,
            length,
            message,
            found: None,
            allowed: None,
            suggestion: None,
            edit: None,
            change: Change::Correct,
        };
        Self { finding }
    }

    pub(super) fn pointer(mut self, pointer: String) -> Self {
        self.finding.pointer = pointer;
        self
    }

    pub(super) fn message(mut self, message: impl Into<String>) -> Self {
        self.finding.message = message.into();
        self
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> Self {
        self.finding.found = Some(found.into());
        self
    }

    pub(super) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.finding.allowed = Some(allowed.into());
        self
    }

    /// Gives advice that leaves something to decide, or that is no change of one place.
    pub(super) fn suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.finding.suggestion = Some(suggestion.into());
        self
    }

    /// Suggests to write a text in place of a part, and does so when the card is fixed.
    /// What is such an edit, and what is only advice: `docs/decisions/111-card-edits.md`.
    pub(super) fn write(mut self, part: Range<usize>, text: String) -> Self {
        self.finding.suggestion = Some(format!("write {}", shortened(&text)));
        self.set_edit(part, text);
        self
    }

    /// Suggests to omit a part.
    pub(super) fn set_omitted(&mut self, part: Range<usize>) {
        self.finding.suggestion = Some("omit it".to_owned());
        self.set_edit(part, String::new());
    }

    fn set_edit(&mut self, part: Range<usize>, text: String) {
        let edit = Edit { offset: part.start, length: part.len(), text };
        self.finding.edit = Some(edit).filter(|edit| edit.text.len() <= EDIT_MAX);
    }

    /// Leaves the suggestion to the author.
    pub(super) fn without_edit(&mut self) {
        self.finding.edit = None;
    }

    pub(super) const fn code_of(mut self, code: FindingCode) -> Self {
        self.finding.code = code;
        self
    }

    /// Says what to write instead of what was thought first.
    pub(super) fn set_suggestion(&mut self, suggestion: String) {
        self.finding.suggestion = Some(suggestion);
        self.without_edit();
    }

    pub(super) const fn change(mut self, change: Change) -> Self {
        self.finding.change = change;
        self
    }

    pub(super) const fn code(&self) -> FindingCode {
        self.finding.code
    }

    pub(super) const fn offset(&self) -> usize {
        self.finding.place.offset
    }

    pub(super) fn pointer_text(&self) -> &str {
        &self.finding.pointer
    }

    /// Counts out the place.
    pub(super) fn finish(mut self, reader: &mut Reader<'_>) -> Finding {
        self.finding.place = reader.place(self.finding.place.offset);
        self.finding
    }
}

/// Most characters of a name that a pointer repeats; behind them stands an ellipsis.
const STEP_MAX: usize = 100;

/// Adds a step to a pointer.
pub(super) fn push_step(pointer: &mut String, step: &str) {
    pointer.push('/');
    // A text of few bytes has few characters as well, so most steps are not counted.
    if step.len() <= STEP_MAX && !step.bytes().any(|byte| byte == b'~' || byte == b'/') {
        return pointer.push_str(step);
    }
    let cut = step.char_indices().nth(STEP_MAX).map(|(end, _)| end);
    let shown = cut.and_then(|end| step.get(..end)).unwrap_or(step);
    for char in shown.chars().chain(cut.map(|_| '…')) {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(char),
        }
    }
}

/// Most characters of the text that a finding repeats.
const FOUND_MAX: usize = 60;

/// Shortens what stands in the text.
pub(super) fn shortened(raw: &str) -> Cow<'_, str> {
    // A text of few bytes has few characters as well.
    let cut = if raw.len() > FOUND_MAX { raw.char_indices().nth(FOUND_MAX) } else { None };
    match cut {
        None => Cow::Borrowed(raw),
        Some((end, _)) => Cow::Owned(format!("{}…", raw.get(..end).unwrap_or_default())),
    }
}

/// Names words, each in quotes.
pub(super) fn quoted(words: impl IntoIterator<Item = &'static str>) -> String {
    let mut quoted = String::new();
    for word in words {
        let before = if quoted.is_empty() { "\"" } else { ", \"" };
        quoted.extend([before, word, "\""]);
    }
    quoted
}
