//! Is a text JSON (RFC 8259), and is it JSON that every reader understands alike: no property twice,
//! no halves of characters? Depth is bounded, so that no text exhausts the stack.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::code::FindingCode;
use super::finding::{FindingBuilder, push_step};
use super::node::{Node, Type, Unescaped};
use super::{FINDINGS_MAX, position, scan};

mod stop;

use stop::{CONTROL, LINE_END, NOT_CLOSED};

/// Most objects and arrays inside each other.
/// This and other points that no specification settles: `docs/decisions/59-card-open-points.md`.
const DEPTH_MAX: usize = 128;

/// Up to so many properties of one object are compared each with each.
const FEW: usize = 24;

/// What is said about a text.
#[derive(Debug)]
pub(super) struct Syntax {
    /// The last one says why reading stopped, when it did.
    pub(super) builders: Vec<FindingBuilder>,
    /// It is JSON, whatever else was found.
    pub(super) is_json: bool,
}

/// Reads a whole text, from a place on.
pub(super) fn read(text: &str, begin: usize) -> Syntax {
    let (builders, path, names) = (Vec::new(), Vec::new(), Vec::new());
    let mut reader = Reader { text, at: begin, builders, path, names, depth: 0 };
    let stop = reader.document().err();
    let is_json = stop.is_none();
    let mut builders = reader.builders;
    builders.extend(stop.map(|stop| *stop));
    Syntax { builders, is_json }
}

/// Returns the JSON object that a whole text is.
pub(super) fn object(text: &str) -> Option<Node<'_>> {
    let root = read(text, 0).is_json.then(|| Node::root(text, 0))?;
    (root.kind() == Type::Object).then_some(root)
}

/// A step from a value to one of its parts.
#[derive(Clone, Copy)]
enum Step {
    Name(Name),
    Item(usize),
}

/// The inside of the quotes of a property's name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    begin: usize,
    end: usize,
    has_escape: bool,
}

impl Name {
    fn raw(self, text: &str) -> &str {
        text.get(self.begin..self.end).unwrap_or_default()
    }

    /// Returns the bytes, which are found and compared faster.
    fn bytes(self, text: &str) -> &[u8] {
        text.as_bytes().get(self.begin..self.end).unwrap_or_default()
    }

    fn is(self, other: Self, text: &str) -> bool {
        if self.has_escape || other.has_escape {
            return self.compare(other, text).is_eq();
        }
        self.bytes(text) == other.bytes(text)
    }

    /// Compares names as they read.
    fn compare(self, other: Self, text: &str) -> Ordering {
        if self.has_escape || other.has_escape {
            return Unescaped(self.raw(text)).cmp(Unescaped(other.raw(text)));
        }
        // In UTF-8, bytes have the order of characters.
        self.bytes(text).cmp(other.bytes(text))
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    builders: Vec<FindingBuilder>,
    path: Vec<Step>,
    /// Names of the objects that are open, one behind the other.
    names: Vec<Name>,
    depth: usize,
}

/// Nothing behind the fault can be read.
// Boxed: every value returns through this type, and a builder is large.
type Read<T = ()> = Result<T, Box<FindingBuilder>>;

impl<'a> Reader<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.at = scan::space(self.bytes(), self.at);
        self.bytes().get(self.at).copied()
    }

    fn document(&mut self) -> Read {
        if self.peek().is_none() {
            return Err(Box::new(
                FindingBuilder::new(FindingCode::Empty, self.at, 0).allowed("one JSON object"),
            ));
        }
        self.value()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.stop(self.at, "there is text after the end of the card")),
        }
    }

    fn value(&mut self) -> Read {
        let begin = match self.peek() {
            Some(b'{') => return self.container(b'}'),
            Some(b'[') => return self.container(b']'),
            Some(b'"') => return self.string().map(|_| ()),
            Some(_) => self.at,
            None => return Err(self.stop(self.at, "the text ends where a value is expected")),
        };
        let rest = self.bytes().get(begin..).unwrap_or_default();
        let words: [&[u8]; 3] = [b"true", b"false", b"null"];
        let word = words.into_iter().find(|word| rest.starts_with(word));
        let end = word.map(|word| begin + word.len()).or_else(|| scan::number(self.bytes(), begin));
        // `nullish` or `01` is one wrong value at its beginning, not a value and a missing comma.
        match end.filter(|end| !self.goes_on(*end)) {
            Some(end) => self.at = end,
            None => return Err(self.stop(begin, stop::no_value(self.rest()))),
        }
        Ok(())
    }

    /// Says whether a word or number is followed by what would belong to it.
    fn goes_on(&self, end: usize) -> bool {
        let next = self.bytes().get(end);
        next.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-._".contains(byte))
    }

    fn container(&mut self, close: u8) -> Read {
        if self.depth == DEPTH_MAX {
            let builder = FindingBuilder::new(FindingCode::TooDeep, self.at, 1)
                .allowed(format!("at most {DEPTH_MAX} objects and arrays inside each other"));
            return Err(Box::new(builder));
        }
        let names = self.names.len();
        self.depth += 1;
        self.at += 1;
        let mut item = 0;
        if self.peek() != Some(close) {
            loop {
                if close == b'}' {
                    self.member()?;
                } else {
                    self.item(item)?;
                }
                item += 1;
                if !self.more(close)? {
                    break;
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        // The names of inner objects are gone by now, so those behind `names` are of this object alone.
        self.find_duplicates(names);
        self.names.truncate(names);
        Ok(())
    }

    /// Steps over a comma, up to what must follow it.
    fn more(&mut self, close: u8) -> Read<bool> {
        match self.peek() {
            Some(byte) if byte == close => return Ok(false),
            Some(b',') => self.at += 1,
            Some(_) if close == b'}' => {
                return Err(self.stop(self.at, "expected a comma or }"));
            }
            Some(_) => return Err(self.stop(self.at, "expected a comma or ]")),
            None => return Err(self.stop(self.at, "the text ends inside an object or array")),
        }
        match self.peek() {
            Some(b'}' | b']') => Err(self.stop(self.at, "nothing follows the last comma")),
            _ => Ok(true),
        }
    }

    fn item(&mut self, number: usize) -> Read {
        self.path.push(Step::Item(number));
        self.value()?;
        self.path.pop();
        Ok(())
    }

    fn member(&mut self) -> Read {
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return Err(self.stop(self.at, stop::no_name(self.rest()))),
            None => return Err(self.stop(self.at, "the text ends inside an object")),
        }
        let name = self.string()?;
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(self.stop(self.at, "expected a colon")),
            None => return Err(self.stop(self.at, "the text ends after a property's name")),
        }
        self.names.push(name);
        self.path.push(Step::Name(name));
        self.value()?;
        self.path.pop();
        Ok(())
    }

    fn string(&mut self) -> Read<Name> {
        let opening = self.at;
        let (mut whole, mut has_escape) = (true, false);
        self.at += 1;
        loop {
            self.at = scan::plain(self.bytes(), self.at);
            match self.bytes().get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escape = true;
                    whole &= self.escape(opening)?;
                }
                Some(b'\n' | b'\r') => return Err(self.stop(self.at, LINE_END)),
                Some(_) => return Err(self.stop(self.at, CONTROL)),
                // The author has to look at the quote that opened the string, not at the end of the text.
                None => return Err(self.stop(opening, NOT_CLOSED)),
            }
        }
        self.at += 1;
        // No fault of the grammar (RFC 8259, 8.2), so reading goes on.
        if !whole {
            self.note_half(opening);
        }
        Ok(Name { begin: opening + 1, end: self.at - 1, has_escape })
    }

    /// Steps over an escape; says whether it is a whole character.
    fn escape(&mut self, opening: usize) -> Read<bool> {
        let bytes = self.bytes();
        match bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let Some(unit) = scan::hex(bytes, self.at + 2) else {
                    return Err(self.stop(self.at, "four hexadecimal digits must follow \\u"));
                };
                self.at += 6;
                return Ok(!(0xd800..0xe000).contains(&unit) || self.second_half(unit));
            }
            Some(_) => return Err(self.stop(self.at, "JSON has no such escape")),
            None => return Err(self.stop(opening, NOT_CLOSED)),
        }
        Ok(true)
    }

    /// Steps over the escape of the second half of a character, if that is what follows.
    fn second_half(&mut self, first: u32) -> bool {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        let second = rest.starts_with(b"\\u").then(|| scan::hex(rest, 2)).flatten();
        let fits = first < 0xdc00 && second.is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        self.at += if fits { 6 } else { 0 };
        fits
    }

    fn note_half(&mut self, opening: usize) {
        let builder = FindingBuilder::new(FindingCode::LoneSurrogate, opening, self.at - opening)
            .pointer(self.pointer())
            .allowed("\\ud800 to \\udbff only directly before \\udc00 to \\udfff");
        self.note(builder);
    }

    /// Keeps a finding as long as a report would.
    fn note(&mut self, builder: FindingBuilder) {
        // One more than a report shows, from which it knows that it is cut.
        if self.builders.len() <= FINDINGS_MAX {
            self.builders.push(builder);
        }
    }

    /// Notes the names of the object just read that stood there before.
    fn find_duplicates(&mut self, first: usize) {
        if self.builders.len() > FINDINGS_MAX {
            return;
        }
        let text = self.text;
        let names = self.names.get_mut(first..).unwrap_or_default();
        // Only as many are held as a report shows: the first of the text are below the top.
        let mut pairs = BinaryHeap::<(usize, usize, Name)>::new();
        let mut hold = |before: Name, name: Name| {
            if pairs.len() > FINDINGS_MAX {
                if pairs.peek().is_some_and(|(last, ..)| *last < name.begin) {
                    return;
                }
                pairs.pop();
            }
            pairs.push((name.begin, before.begin, name));
        };
        // Comparing few of them allocates nothing.
        if names.len() <= FEW {
            for (place, name) in names.iter().enumerate() {
                if let Some(before) = names.iter().take(place).find(|other| other.is(*name, text)) {
                    hold(*before, *name);
                }
            }
        } else {
            // In place: their order does not matter afterwards. Stable, so that the first of a group is the first in the text.
            names.sort_by(|a, b| a.compare(*b, text));
            for group in names.chunk_by(|a, b| a.is(*b, text)) {
                let [before, later @ ..] = group else { continue };
                later.iter().for_each(|name| hold(*before, *name));
            }
        }
        // Back in the order of the text.
        let mut reader = position::Reader::new(text);
        for (_, before, name) in pairs.into_sorted_vec() {
            self.note_duplicate(before, name, &mut reader);
        }
    }

    fn note_duplicate(&mut self, before: usize, name: Name, reader: &mut position::Reader<'_>) {
        if self.builders.len() > FINDINGS_MAX {
            return;
        }
        self.path.push(Step::Name(name));
        let pointer = self.pointer();
        self.path.pop();
        let place = reader.place(before - 1);
        let builder = FindingBuilder::new(
            FindingCode::DuplicateProperty,
            name.begin - 1,
            name.end - name.begin + 2,
        )
        .pointer(pointer)
        .message("the property is repeated in this object")
        .found(format!("first at line {}, column {}", place.line, place.column))
        .suggestion("keep one of the two");
        self.note(builder);
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            match step {
                Step::Item(number) => push_step(&mut pointer, &number.to_string()),
                Step::Name(name) => {
                    push_step(&mut pointer, &Unescaped(name.raw(self.text)).collect::<String>());
                }
            }
        }
        pointer
    }
}
