//! The fast path: one pass over the bytes that builds nothing and knows valid cards only.
//!
//! Where it is not sure (escapes in a word that matters, very many scopes) it says so, and the slow
//! path decides. It never takes a card for valid that is not.

use super::scan;
use super::shape::{Kind, SCHEMES, Shape, Variant};
use super::{date_time, uri};

/// Most names in one object of `security` that are compared here.
const SCOPES_MAX: usize = 8;

/// Returns the variant of a card that is surely valid.
pub(super) fn known_valid(bytes: &[u8]) -> Option<Variant> {
    std::str::from_utf8(bytes).ok()?;
    // The wrong variant costs little: it fails at the first property that it does not have.
    Variant::ALL.iter().copied().find(|variant| {
        let mut reader = Reader { bytes, at: 0 };
        reader.object(variant.shape()).is_some() && reader.peek().is_none()
    })
}

/// Reads forward; nothing means that it is not sure.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        // Mostly there is no white space, and this test is cheaper than the call.
        if self.bytes.get(self.at).is_some_and(|byte| *byte <= b' ') {
            self.at = scan::space(self.bytes, self.at);
        }
        self.bytes.get(self.at).copied()
    }

    /// Steps over a byte that must come next.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.accept(byte).then_some(())
    }

    /// Steps over a byte if it comes next.
    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over a comma or the closing bracket; says whether there is more.
    fn more(&mut self, close: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        (byte == b',' || byte == close).then_some(byte == b',')
    }

    /// Reads a string without escapes.
    fn plain(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let begin = self.at;
        let end = scan::plain(self.bytes, begin);
        self.at = end + 1;
        (self.bytes.get(end) == Some(&b'"')).then(|| self.bytes.get(begin..end))?
    }

    /// Steps over a string, escapes and all.
    fn text(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            self.at = scan::plain(self.bytes, self.at);
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let unit = scan::hex(self.bytes, self.at + 2)?;
                if (0xd800..0xe000).contains(&unit) {
                    self.low_surrogate(unit)?;
                }
                self.at += 6;
            }
            _ => return None,
        }
        Some(())
    }

    fn low_surrogate(&mut self, high: u32) -> Option<()> {
        // The caller steps over the second half.
        self.at += 6;
        let escaped = self.bytes.get(self.at..)?.starts_with(b"\\u");
        let low = scan::hex(self.bytes, self.at + 2)?;
        (escaped && high < 0xdc00 && (0xdc00..0xe000).contains(&low)).then_some(())
    }

    fn value(&mut self, kind: Kind) -> Option<()> {
        match kind {
            Kind::Text => self.text(),
            Kind::Uri => uri::check(self.plain()?).is_ok().then_some(()),
            Kind::DateTime => date_time::check(self.plain()?).is_ok().then_some(()),
            Kind::Flag => self.flag(),
            Kind::Word(words) => {
                let word = self.plain()?;
                words.iter().any(|known| known.as_bytes() == word).then_some(())
            }
            Kind::Texts => self.array(Self::text),
            Kind::TextOrTexts if self.peek() == Some(b'"') => self.text(),
            Kind::TextOrTexts => self.array(Self::text),
            Kind::Object(shape) => self.object(shape),
            Kind::Objects(shape) => self.array(|reader| reader.object(shape)),
            Kind::Schemes => self.array(Self::scheme),
            Kind::Scopes => self.array(Self::scopes),
        }
    }

    fn flag(&mut self) -> Option<()> {
        self.peek()?;
        let rest = self.bytes.get(self.at..)?;
        let word: &[u8] = if rest.starts_with(b"t") { b"true" } else { b"false" };
        self.at += word.len();
        rest.starts_with(word).then_some(())
    }

    fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.accept(b']') {
            return Some(());
        }
        loop {
            item(self)?;
            if !self.more(b']')? {
                return Some(());
            }
        }
    }

    fn object(&mut self, shape: &Shape) -> Option<()> {
        self.expect(b'{')?;
        let mut seen = 0;
        if !self.accept(b'}') {
            loop {
                let (bit, field) = shape.find(self.plain()?)?;
                self.expect(b':')?;
                if seen & bit != 0 {
                    return None;
                }
                seen |= bit;
                self.value(field.kind)?;
                if !self.more(b'}')? {
                    break;
                }
            }
        }
        (seen & shape.required == shape.required).then_some(())
    }

    /// Tries one shape after the other: all but one end at `type`, which mostly comes first.
    fn scheme(&mut self) -> Option<()> {
        let begin = self.at;
        SCHEMES.iter().find_map(|(_, shape)| {
            self.at = begin;
            self.object(shape)
        })
    }

    fn scopes(&mut self) -> Option<()> {
        self.expect(b'{')?;
        if self.accept(b'}') {
            return Some(());
        }
        let mut names: [Option<&[u8]>; SCOPES_MAX] = [None; SCOPES_MAX];
        for place in 0..SCOPES_MAX {
            let name = Some(self.plain()?);
            // Names without escapes are equal exactly if their bytes are.
            if names.contains(&name) {
                return None;
            }
            *names.get_mut(place)? = name;
            self.expect(b':')?;
            self.array(Self::text)?;
            if !self.more(b'}')? {
                return Some(());
            }
        }
        None
    }
}
