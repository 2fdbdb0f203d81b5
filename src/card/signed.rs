//! A valid card as a text with signatures in it: what each declares, and how one more is written in
//! without touching anything else. What a signature is worth is decided elsewhere.

use std::borrow::Cow;

use super::node::{Member, Node};
use super::shape::Variant;
use super::{ValidationReport, check};

/// The text of a valid card.
#[derive(Clone, Copy, Debug)]
pub struct Valid<'a> {
    text: &'a str,
    root: Node<'a>,
    variant: Variant,
}

/// What one signature says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared<'a> {
    /// One of `ES256`, `RS256`, `EdDSA`.
    pub algorithm: Cow<'a, str>,
    /// Of the key it was made with.
    pub key_id: Cow<'a, str>,
    /// Any text.
    pub jws: Cow<'a, str>,
}

impl<'a> Valid<'a> {
    /// Checks a card.
    ///
    /// # Errors
    /// When it is not valid: why.
    pub fn of(bytes: &'a [u8]) -> Result<Self, ValidationReport> {
        let report = check(bytes);
        match (report.variant, std::str::from_utf8(bytes)) {
            (Some(variant), Ok(text)) if report.is_valid() => {
                // A valid card has no byte order mark, so it begins at 0.
                Ok(Self { text, root: Node::root(text, 0), variant })
            }
            _ => Err(report),
        }
    }

    /// Returns which variant it is; only a current one has signatures.
    #[must_use]
    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// Returns its text.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// Returns what its signatures declare, in their order.
    pub fn signatures(&self) -> impl Iterator<Item = Declared<'a>> {
        let list = self.root.get("signatures");
        list.into_iter().flat_map(Node::items).map(|entry| {
            let text = |name| entry.get(name).and_then(Node::text).unwrap_or_default();
            Declared { algorithm: text("algorithm"), key_id: text("keyId"), jws: text("jws") }
        })
    }

    /// Writes one more signature in, given as JSON, behind those it has or in their place. Everything
    /// else stays as it stands, byte for byte; the new part is laid out as what stands before it.
    #[must_use]
    pub fn with_signature(&self, entry: &str, in_place: bool) -> String {
        let Some(list) = self.root.get("signatures") else {
            let last = self.root.members().last();
            let space = last.map_or("", |last| self.space_before(last.key));
            let end = last.map_or(self.root.begin() + 1, |last| last.value.end());
            let colon = last.map_or(":", Member::colon);
            return self.spliced(end, end, &format!(",{space}\"signatures\"{colon}[{entry}]"));
        };
        match list.items().last().filter(|_| !in_place) {
            Some(last) => {
                let added = format!(",{}{entry}", self.space_before(last));
                self.spliced(last.end(), last.end(), &added)
            }
            None => self.spliced(list.begin(), list.end(), &format!("[{entry}]")),
        }
    }

    /// Returns the white space in front of a part.
    fn space_before(&self, part: Node<'a>) -> &'a str {
        let before = self.text.get(..part.begin()).unwrap_or_default();
        before.get(before.trim_end().len()..).unwrap_or_default()
    }

    fn spliced(&self, begin: usize, end: usize, new: &str) -> String {
        let before = self.text.get(..begin).unwrap_or_default();
        let behind = self.text.get(end..).unwrap_or_default();
        [before, new, behind].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
    const ENTRY: &str = r#"{"algorithm":"ES256","keyId":"k","jws":"j"}"#;

    fn signed(card: &str, in_place: bool) -> String {
        Valid::of(card.as_bytes()).unwrap().with_signature(ENTRY, in_place)
    }

    #[test]
    fn a_signature_is_written_in_and_nothing_else_is_touched() {
        let wide = "{\n  \"signatur\\u0065s\" : [\n    @\n  ],\n  \"protocolVersion\": \"1.0\",\n  \
            \"name\":\"n\",\n\t\"description\":\"d\",\"url\":\"a:b\",\n  \"version\": \"1\"\n}\n";
        let (one, two) = (format!("[{ENTRY}]"), format!("[{ENTRY},{ENTRY}]"));
        let with = |list: &str| CARD.replace('}', &format!(",\"signatures\":{list}}}"));
        assert_eq!(signed(CARD, false), with(&one));
        assert_eq!(signed(&with("[ ]"), false), with(&one));
        assert_eq!(signed(&with(&one), false), with(&two));
        assert_eq!(signed(&with(&two), true), with(&one));
        let kept = wide.replace('@', &format!("{ENTRY},\n    {ENTRY}"));
        assert_eq!(signed(&wide.replace('@', ENTRY), false), kept);
        let unsigned = "{\n  \"protocolVersion\": \"1.0\",\n  \"name\":\"n\",\n  \
            \"description\":\"d\",\n  \"url\":\"a:b\",\n  \"version\": \"1\"\n}\n";
        let new = format!("\"1\",\n  \"signatures\": {one}\n}}");
        assert_eq!(signed(unsigned, false), unsigned.replace("\"1\"\n}", &new));
    }

    #[test]
    fn what_signatures_declare_is_read_and_only_of_valid_cards() {
        let card = signed(CARD, false);
        let declared: Vec<_> = Valid::of(card.as_bytes()).unwrap().signatures().collect();
        let expected = Declared { algorithm: "ES256".into(), key_id: "k".into(), jws: "j".into() };
        assert_eq!(declared, [expected]);
        assert!(Valid::of(b"{}").is_err() && Valid::of(b"\xff").is_err());
    }
}
