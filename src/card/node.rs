//! Values of a text that is known to be JSON, read where they stand. Nothing is built: a node is a
//! place, and looking at its parts steps over the text.

use std::borrow::Cow;
use std::ops::Range;

use super::scan;

/// The JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    /// Returns it with its article.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// One value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    text: &'a str,
    begin: usize,
}

/// One property of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    pub(super) key: Node<'a>,
    pub(super) value: Node<'a>,
}

impl<'a> Node<'a> {
    /// Returns the value that stands in a text from a place on. The text must be JSON, as `syntax` says.
    pub(super) fn root(text: &'a str, begin: usize) -> Self {
        Self { text, begin: scan::space(text.as_bytes(), begin) }
    }

    /// Returns the place of its first byte.
    pub(super) const fn begin(self) -> usize {
        self.begin
    }

    pub(super) fn kind(self) -> Type {
        match self.text.as_bytes().get(self.begin) {
            Some(b'{') => Type::Object,
            Some(b'[') => Type::Array,
            Some(b'"') => Type::String,
            Some(b't' | b'f') => Type::Boolean,
            Some(b'n') | None => Type::Null,
            Some(_) => Type::Number,
        }
    }

    /// Says whether it has parts.
    pub(super) fn is_container(self) -> bool {
        matches!(self.kind(), Type::Array | Type::Object)
    }

    /// Returns the place behind its last byte.
    pub(super) fn end(self) -> usize {
        let bytes = self.text.as_bytes();
        match self.kind() {
            Type::String => scan::closed_string(bytes, self.begin),
            Type::Number => scan::number(bytes, self.begin).unwrap_or(bytes.len()),
            // The text is known to be JSON, so the first letter tells the word.
            Type::Null => self.begin + 4,
            Type::Boolean if bytes.get(self.begin) == Some(&b't') => self.begin + 4,
            Type::Boolean => self.begin + 5,
            Type::Array | Type::Object => end_of_container(bytes, self.begin),
        }
    }

    /// Returns the place of the part behind it in the same array or object.
    pub(super) fn next(self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let comma = scan::space(bytes, self.end());
        (bytes.get(comma) == Some(&b',')).then(|| scan::space(bytes, comma + 1))
    }

    /// Returns its place.
    pub(super) fn range(self) -> Range<usize> {
        self.begin..self.end()
    }

    /// Returns it as it stands in the text.
    pub(super) fn raw(self) -> &'a str {
        self.text.get(self.range()).unwrap_or_default()
    }

    /// Returns a string without its quotes and escapes; half a character becomes U+FFFD.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        if self.kind() != Type::String {
            return None;
        }
        let raw = self.raw();
        let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        Some(if inside.contains('\\') {
            Cow::Owned(Unescaped(inside).collect())
        } else {
            Cow::Borrowed(inside)
        })
    }

    /// Returns the properties of an object, and none of anything else.
    pub(super) fn members(self) -> impl Iterator<Item = Member<'a>> {
        let mut parts = self.parts(Type::Object);
        std::iter::from_fn(move || {
            let key = parts.next()?;
            Some(Member { key, value: parts.next()? })
        })
    }

    /// Returns the items of an array, and none of anything else.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        self.parts(Type::Array)
    }

    /// Returns the value of a property, the first of that name.
    pub(super) fn get(self, name: &str) -> Option<Self> {
        self.members().find(|member| member.is(name)).map(|member| member.value)
    }

    /// Returns the parts between the brackets, names and values alike.
    fn parts(self, kind: Type) -> impl Iterator<Item = Self> {
        let is_meant = self.kind() == kind;
        let mut at = if is_meant { self.begin + 1 } else { self.text.len() };
        let text = self.text;
        std::iter::from_fn(move || {
            let bytes = text.as_bytes();
            at = scan::space(bytes, at);
            // The text is known to be JSON, so commas and colons are where they belong.
            while let Some(b',' | b':') = bytes.get(at) {
                at = scan::space(bytes, at + 1);
            }
            if matches!(bytes.get(at), None | Some(b']' | b'}')) {
                return None;
            }
            let part = Node { text, begin: at };
            at = part.end();
            Some(part)
        })
    }
}

impl<'a> Member<'a> {
    /// Says whether this is the property of a name.
    pub(super) fn is(self, name: &str) -> bool {
        self.name() == name
    }

    /// Returns the colon, with the white space around it.
    pub(super) fn colon(self) -> &'a str {
        self.key.text.get(self.key.end()..self.value.begin).unwrap_or(":")
    }

    /// Returns its name without escapes.
    pub(super) fn name(self) -> Cow<'a, str> {
        self.key.text().unwrap_or_default()
    }
}

fn end_of_container(bytes: &[u8], begin: usize) -> usize {
    let (mut depth, mut at) = (0_usize, begin);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = scan::closed_string(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The characters of a string with its escapes resolved, read as they are asked for.
#[derive(Clone, Debug)]
pub(super) struct Unescaped<'a>(pub(super) &'a str);

impl Iterator for Unescaped<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let (char, length) = match self.0.as_bytes() {
            [b'\\', b'u', ..] => self.unicode(),
            [b'\\', escaped, ..] => (simple(*escaped), 2),
            _ => self.0.chars().next().map(|char| (char, char.len_utf8()))?,
        };
        self.0 = self.0.get(length..).unwrap_or_default();
        Some(char)
    }
}

impl Unescaped<'_> {
    /// Reads one escape of four digits, or a pair of them.
    fn unicode(&self) -> (char, usize) {
        let bytes = self.0.as_bytes();
        let unit = |at| scan::hex(bytes, at);
        let high = unit(2).unwrap_or(0xfffd);
        let low = bytes.get(6..).is_some_and(|rest| rest.starts_with(b"\\u")).then(|| unit(8));
        match (high, low.flatten()) {
            (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
                let scalar = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            _ => (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
        }
    }
}

const fn simple(escaped: u8) -> char {
    match escaped {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'/' => '/',
        b'"' => '"',
        _ => '\\',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_where_they_stand() {
        let root = Node::root(r#" {"a" : [1, "x]\"", {}], "b\u0063": true } "#, 0);
        let names: Vec<_> = root.members().map(|member| member.name().into_owned()).collect();
        assert_eq!(names, ["a", "bc"]);
        let items: Vec<_> = root.get("a").unwrap().items().map(Node::raw).collect();
        assert_eq!(items, ["1", r#""x]\"""#, "{}"]);
        let text: String = Unescaped(r"\ud83d\ude00\n\ud800x").collect();
        assert_eq!(text, "😀\n\u{fffd}x");
    }
}
