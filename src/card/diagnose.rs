//! The slow path, for what the fast path does not know: which variant the author meant, and
//! every way in which the card differs from it.
//!
//! Why a fault has only one finding: `docs/decisions/60-card-findings.md`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::code::FindingCode;
use super::finding::{Change, FindingBuilder, push_step, quoted, shortened};
use super::node::{Member, Node, Type};
use super::shape::{Field, Kind, SCHEME_TYPES, SCHEMES, Shape, Variant, scheme_names};
use super::{FINDINGS_MAX, ValidationReport, known_aliases, spelling, syntax};

mod fault;
mod meant;
mod wrapped;

/// The bytes of a byte order mark.
const MARK: &str = "\u{feff}";

/// Returns everything that is to be said about a text.
pub(super) fn report(bytes: &[u8]) -> ValidationReport {
    let (text, fault) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            // Line and column of the fault are counted in the part that is text.
            let (good, rest) = bytes.split_at_checked(error.valid_up_to()).unwrap_or_default();
            let fault = not_utf8(good.len(), rest, error.error_len().is_some());
            (std::str::from_utf8(good).unwrap_or_default(), Some(fault))
        }
    };
    let begin = if text.starts_with(MARK) { MARK.len() } else { 0 };
    let mut builders = Vec::new();
    if begin > 0 {
        let mut mark = FindingBuilder::new(FindingCode::ByteOrderMark, 0, begin)
            .allowed("UTF-8 without a byte order mark");
        mark.set_omitted(0..begin);
        builders.push(mark);
    }
    if let Some(fault) = fault {
        builders.push(fault);
        return ValidationReport::new(None, text, builders);
    }
    let read = syntax::read(text, begin);
    builders.extend(read.builders);
    if !read.is_json {
        return ValidationReport::new(None, text, builders);
    }
    let root = Node::root(text, begin);
    if root.kind() != Type::Object {
        let fault = FindingBuilder::new(FindingCode::NotAnObject, root.begin(), root.raw().len());
        builders.push(fault.found(root.kind().name()).allowed("an object"));
        wrapped::tell(root, text, &mut builders);
        return ValidationReport::new(None, text, builders);
    }
    let variant = meant(root);
    builders.extend(compare(root, variant, &builders));
    wrapped::tell(root, text, &mut builders);
    ValidationReport::new(Some(variant), text, builders)
}

/// Names the first byte that is not UTF-8, which no editor shows as what it is.
fn not_utf8(offset: usize, rest: &[u8], is_wrong: bool) -> FindingBuilder {
    let byte = rest.first().copied().unwrap_or_default();
    let why = if is_wrong { "is invalid there" } else { "begins a character that is not complete" };
    FindingBuilder::new(FindingCode::NotUtf8, offset, 0)
        .message(format!("the text is not UTF-8: byte 0x{byte:02X} at offset {offset} {why}"))
        .found(format!("0x{byte:02X}"))
        .suggestion("save the file as UTF-8")
}

/// Returns the variant the author meant: that of the version, else the one whose own properties the
/// card has more of, else that of a misspelt version, else the current one.
pub(super) fn meant(root: Node<'_>) -> Variant {
    let version = root.get("protocolVersion");
    let version = version.and_then(|node| match node.kind() {
        // `0.3` without quotes is a slip, and says no less.
        Type::Number => Some(node.raw().into()),
        _ => node.text(),
    });
    let version = version.as_deref().unwrap_or_default();
    let find = |is_its: &dyn Fn(&'static [&'static str]) -> bool| {
        Variant::ALL.iter().copied().find(|variant| is_its(variant.versions()))
    };
    let named = find(&|versions| versions.contains(&version));
    named.unwrap_or_else(|| {
        let count = |variant: Variant| {
            let is_own = |member: &Member<'_>| {
                let name = member.name();
                let has = |variant: Variant| variant.shape().find(name.as_bytes()).is_some();
                has(variant) && !has(variant.other())
            };
            root.members().filter(is_own).count()
        };
        match count(Variant::Legacy).cmp(&count(Variant::Current)) {
            Ordering::Greater => Variant::Legacy,
            Ordering::Less => Variant::Current,
            Ordering::Equal => {
                let misspelt = |versions: &'static [&'static str]| {
                    spelling::version(version, versions.iter().copied()).is_some()
                };
                find(&misspelt).unwrap_or(Variant::Current)
            }
        }
    })
}

/// Returns how a card differs from a variant, leaving out what is known of repeated
/// properties.
fn compare(root: Node<'_>, variant: Variant, known: &[FindingBuilder]) -> Vec<FindingBuilder> {
    let mut walker = Walker { variant, builders: Vec::new(), pointer: String::new() };
    walker.object(root, variant.shape());
    let twice = |place: usize| {
        let stands = |builder: &FindingBuilder| {
            builder.code() == FindingCode::DuplicateProperty && builder.offset() == place
        };
        known.iter().any(stands)
    };
    walker.builders.retain(|builder| !twice(builder.offset()));
    walker.builders
}

struct Walker {
    variant: Variant,
    builders: Vec<FindingBuilder>,
    pointer: String,
}

impl Walker {
    /// Says whether a report would show no more.
    fn is_full(&self) -> bool {
        self.builders.len() > FINDINGS_MAX
    }

    /// Looks at a part under its step of the pointer.
    fn under<T>(&mut self, step: &str, visit: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        push_step(&mut self.pointer, step);
        let visited = visit(self);
        self.pointer.truncate(length);
        visited
    }

    fn object(&mut self, node: Node<'_>, shape: &'static Shape) {
        if node.kind() != Type::Object {
            return self.wrong_type(node, "an object");
        }
        let (mut seen, mut unknown, mut renamed) = (0, Vec::new(), Vec::new());
        let (mut before, mut is_first, mut told) = (None, true, Vec::new());
        for member in node.members() {
            let name = member.name();
            let (is_full, first) = (self.is_full(), self.builders.len());
            let mut is_omitted = false;
            match shape.find(name.as_bytes()) {
                Some((bit, field)) if seen & bit == 0 => {
                    // Marked even when the report is full, because `missing` needs all that were seen.
                    seen |= bit;
                    if !is_full {
                        self.under(&name, |walker| walker.value(member.value, field.kind));
                    }
                    if self.builders.len() > first {
                        is_omitted = !field.required && member.value.kind() == Type::Null;
                        told.push((bit, first..self.builders.len()));
                    }
                }
                // That it is repeated has been reported already. Which of them is meant is the author's decision.
                Some((bit, _)) => self.leave_to_author(&told, bit),
                None => {
                    if !is_full {
                        let place = self.builders.len();
                        let name = self.under(&name, |walker| walker.unknown(member, shape));
                        renamed.extend(name.map(|name| (place, name)));
                    }
                    if unknown.len() <= FINDINGS_MAX {
                        unknown.push(name);
                    }
                }
            }
            if is_omitted && let Some(builder) = self.builders.last_mut() {
                let before = before.filter(|_| !is_first);
                builder.set_omitted(with_comma(member, before));
            }
            is_first &= is_omitted;
            before = Some(member);
        }
        self.keep_names_apart(shape, seen, &renamed);
        self.missing(node, shape, seen, &unknown);
    }

    /// Takes the edits of what was told about a property away.
    fn leave_to_author(&mut self, told: &[(u32, Range<usize>)], property: u32) {
        for (_, places) in told.iter().filter(|(bit, _)| *bit == property) {
            for builder in self.builders.get_mut(places.clone()).into_iter().flatten() {
                builder.without_edit();
            }
        }
    }

    /// Leaves renaming to the author where it would repeat a name.
    fn keep_names_apart(
        &mut self,
        shape: &'static Shape,
        seen: u32,
        renamed: &[(usize, &'static str)],
    ) {
        for (place, name) in renamed {
            let is_free = shape.find(name.as_bytes()).is_some_and(|(bit, _)| seen & bit == 0);
            let is_alone = renamed.iter().filter(|(_, other)| other == name).count() == 1;
            if !(is_free && is_alone)
                && let Some(builder) = self.builders.get_mut(*place)
            {
                builder.without_edit();
            }
        }
    }

    /// Tells what is missing, but not what is only written differently.
    fn missing(
        &mut self,
        node: Node<'_>,
        shape: &'static Shape,
        seen: u32,
        unknown: &[Cow<'_, str>],
    ) {
        if seen & shape.required == shape.required {
            return;
        }
        let is_meant = |field: &Field| {
            unknown.iter().any(|name| match known_aliases::official(shape, name) {
                Some(relative) => relative.instead.contains(&field.name),
                None => spelling::nearest(name, shape.names()) == Some(field.name),
            })
        };
        let mut bit = 1;
        for field in shape.fields {
            if field.required && seen & bit == 0 && !is_meant(field) {
                self.missing_field(node, shape, field);
            }
            bit <<= 1;
        }
    }

    fn value(&mut self, node: Node<'_>, kind: Kind) {
        match kind {
            Kind::Text => self.string(node),
            Kind::Uri => self.uri(node),
            Kind::DateTime => self.date_time(node),
            Kind::Flag if node.kind() == Type::Boolean => {}
            Kind::Flag => self.wrong_type(node, "true or false"),
            Kind::Word(words) => self.word(node, words),
            Kind::TextOrTexts if node.kind() == Type::String => {}
            Kind::TextOrTexts if node.kind() != Type::Array => {
                self.wrong_type(node, "a string or an array of strings");
            }
            Kind::Texts | Kind::TextOrTexts => {
                self.items(node, "an array of strings", Self::string);
            }
            Kind::Object(shape) => self.object(node, shape),
            Kind::Objects(shape) => {
                let are_signatures = self.pointer == "/signatures";
                self.items(node, "an array of objects", |walker, item| {
                    if are_signatures && fault::is_detached(item) {
                        return walker.detached_signature(item);
                    }
                    walker.object(item, shape);
                });
            }
            // Only there do official cards have an object.
            Kind::Schemes if node.kind() == Type::Object && self.pointer == "/securitySchemes" => {
                self.map_of_schemes(node);
            }
            Kind::Schemes => self.items(node, "an array of security schemes", Self::scheme),
            Kind::Scopes => self.items(node, "an array of objects", Self::scopes),
        }
    }

    fn items(
        &mut self,
        node: Node<'_>,
        expected: &str,
        mut visit: impl FnMut(&mut Self, Node<'_>),
    ) {
        if node.kind() != Type::Array {
            return self.wrong_type(node, expected);
        }
        for (number, item) in node.items().enumerate() {
            if self.is_full() {
                return;
            }
            self.under(&number.to_string(), |walker| visit(walker, item));
        }
    }

    fn scopes(&mut self, node: Node<'_>) {
        if node.kind() != Type::Object {
            return self.wrong_type(node, "an object from scheme names to arrays of scopes");
        }
        for member in node.members() {
            if self.is_full() {
                return;
            }
            self.under(&member.name(), |walker| walker.value(member.value, Kind::Texts));
        }
    }

    /// Compares a scheme with the shape its type names. Without a known type, only what no scheme has
    /// is told besides.
    fn scheme(&mut self, node: Node<'_>) {
        let word = node.get("type").and_then(Node::text);
        let is_its = |known: &&(&str, Shape)| word.as_deref() == Some(known.0);
        if let Some((_, shape)) = SCHEMES.iter().find(is_its) {
            return self.object(node, shape);
        }
        if node.kind() != Type::Object {
            return self.wrong_type(node, "an object");
        }
        let (mut seen, mut unknown, mut renamed) = (0, Vec::new(), Vec::new());
        for member in node.members() {
            let name = member.name();
            let is_known = scheme_names().any(|known| known == name);
            seen |= u32::from(name == "type");
            if !is_known && unknown.len() <= FINDINGS_MAX {
                unknown.push(name.clone());
            }
            if self.is_full() {
                // No early return: `missing` needs all of `seen` and `unknown`.
                continue;
            }
            let place = self.builders.len();
            let name = self.under(&name, |walker| match name.as_ref() {
                "type" => {
                    walker.word(member.value, &SCHEME_TYPES);
                    None
                }
                _ if is_known => None,
                _ => walker.unknown(member, &ANY_SCHEME),
            });
            renamed.extend(name.map(|name| (place, name)));
        }
        self.keep_names_apart(&ANY_SCHEME, seen, &renamed);
        self.missing(node, &ANY_SCHEME, seen, &unknown);
    }

    fn string(&mut self, node: Node<'_>) {
        if node.kind() != Type::String {
            self.wrong_type(node, "a string");
        }
    }
}

/// Returns what goes with a property that is omitted: the comma in front of it, or that behind it if it
/// comes first.
fn with_comma(member: Member<'_>, before: Option<Member<'_>>) -> Range<usize> {
    match before {
        Some(before) => before.value.end()..member.value.end(),
        None => member.key.begin()..member.value.next().unwrap_or_else(|| member.value.end()),
    }
}

/// A scheme of which only the type is known to be missing.
static ANY_SCHEME: Shape = Shape {
    title: "security scheme",
    fields: &[Field { name: "type", kind: Kind::Word(&SCHEME_TYPES), required: true }],
    required: 1,
};
