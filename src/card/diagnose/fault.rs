//! The words of each fault: what is wrong, what was found, what is allowed, what was probably meant.

use std::fmt::Write as _;

use super::{
    Change, Code, Field, FindingBuilder, Kind, Member, Node, Shape, Type, Variant, Walker,
    known_aliases, quoted, shortened, spelling,
};
use crate::card::{date_time, uri};

impl Walker {
    /// Returns a finding about a value.
    fn about(&self, code: Code, node: Node<'_>) -> FindingBuilder {
        let raw = node.raw();
        FindingBuilder::new(code, node.begin(), raw.len())
            .pointer(self.pointer.clone())
            .found(shortened(raw))
    }

    /// Returns what a person calls the value: `skills[0].name`.
    fn label(&self) -> String {
        let mut label = String::new();
        for step in self.pointer.split('/').skip(1) {
            if step.bytes().all(|byte| byte.is_ascii_digit()) && !step.is_empty() {
                label.push_str(&format_step(step));
            } else {
                label.push_str(if label.is_empty() { "" } else { "." });
                label.push_str(&step.replace("~1", "/").replace("~0", "~"));
            }
        }
        label
    }

    /// Returns the last name of the pointer.
    fn name(&self) -> &str {
        self.pointer.rsplit('/').next().unwrap_or_default()
    }

    pub(super) fn wrong_type(&mut self, node: Node<'_>, expected: &str) {
        let label = self.label();
        if node.kind() == Type::Null {
            let builder = self
                .about(Code::Null, node)
                .message(format!("{label} is null"))
                .allowed(expected)
                .suggestion(format!("write {expected}, or leave it out if it is optional"));
            return self.builders.push(builder);
        }
        let mut builder = self
            .about(Code::WrongType, node)
            .message(format!("{label} must be {expected}, not {}", node.kind().name()))
            .allowed(expected);
        if let Some(meant) = meant(node, expected) {
            builder = builder.suggestion(format!("write {meant}"));
        }
        self.builders.push(builder);
    }

    pub(super) fn missing_field(&mut self, node: Node<'_>, shape: &Shape, field: &Field) {
        let is_version = self.pointer.is_empty() && field.name == "protocolVersion";
        let code = if is_version { Code::MissingVersion } else { Code::MissingProperty };
        let mut builder = FindingBuilder::new(code, node.begin(), 1)
            .pointer(format!("{}/{}", self.pointer, field.name))
            .message(format!("the {} has no {}, which is required", shape.title, field.name))
            .allowed(if is_version { versions() } else { described(field.kind) })
            .change(Change::Add);
        if is_version {
            let version = self.variant.versions().first().copied().unwrap_or_default();
            builder = builder.suggestion(format!("add \"protocolVersion\": \"{version}\""));
        }
        self.builders.push(builder);
    }

    /// Tells of a property that does not belong, and where it does if that is known.
    pub(super) fn unknown(&mut self, member: Member<'_>, shape: &'static Shape) {
        let (name, key) = (member.name(), shortened(member.key.raw()));
        let builder =
            FindingBuilder::new(Code::UnknownProperty, member.key.begin(), member.key.raw().len())
                .pointer(self.pointer.clone())
                .found(key.clone());
        // Shapes are statics, so the address tells them apart; the title does not, both variants are a "card".
        let is_root = std::ptr::eq(shape, self.variant.shape());
        let other = is_root.then(|| known_aliases::of_other_variant(self.variant, &name)).flatten();
        self.builders.push(if let Some((advice, change)) = other {
            let (theirs, ours) = (self.variant.other().as_str(), self.variant.as_str());
            let message = format!("{key} belongs to the {theirs} variant, and this card is {ours}");
            builder.code_of(Code::OtherVariant).message(message).suggestion(advice).change(change)
        } else if let Some(relative) = known_aliases::official(shape, &name) {
            let message = format!("{key} is of official A2A cards; the {} has none", shape.title);
            let builder = builder.code_of(Code::OfficialShape).message(message);
            builder.suggestion(relative.advice).change(relative.change)
        } else {
            let builder = builder
                .message(format!("the {} has no property {key}", shape.title))
                .allowed(quoted(shape.names()));
            match spelling::nearest(&name, shape.names()) {
                Some(meant) => {
                    builder.suggestion(format!("write \"{meant}\"")).change(Change::Rename)
                }
                None => builder.change(Change::Remove),
            }
        });
    }

    pub(super) fn word(&mut self, node: Node<'_>, words: &'static [&'static str]) {
        let is_version = self.pointer == "/protocolVersion";
        let Some(text) = node.text() else {
            let builder_at = self.builders.len();
            self.wrong_type(node, "a string");
            if let Some(builder) = self.builders.get_mut(builder_at) {
                builder.set_allowed(if is_version {
                    versions()
                } else {
                    quoted(words.iter().copied())
                });
            }
            return;
        };
        if words.contains(&text.as_ref()) {
            return;
        }
        let code = if is_version { Code::UnknownVersion } else { Code::UnknownValue };
        let allowed = if is_version { versions() } else { quoted(words.iter().copied()) };
        let label = self.label();
        let found = shortened(node.raw());
        let mut builder = self.about(code, node).allowed(allowed);
        builder = builder.message(match words {
            [only] if !is_version => format!("{label} must be \"{only}\", not {found}"),
            _ => format!("{label} is {found}, which is none of those allowed"),
        });
        if let Some(advice) = self.word_meant(&text, words, is_version) {
            builder = builder.suggestion(advice);
        }
        self.builders.push(builder);
    }

    fn word_meant(&self, text: &str, words: &[&'static str], is_version: bool) -> Option<String> {
        if let Some(advice) = known_aliases::value(self.name(), text) {
            return Some(advice.to_owned());
        }
        // A misspelt version may be meant as one of either variant.
        let every = Variant::ALL.iter().copied().flat_map(Variant::versions).copied();
        let known: Vec<&'static str> = if is_version { every.collect() } else { words.to_vec() };
        let meant = spelling::version(text, known.iter().copied());
        let meant = meant.or_else(|| spelling::nearest(text.trim(), known.iter().copied()))?;
        Some(format!("write \"{meant}\""))
    }

    /// Tells that schemes are written as official cards write them, by name.
    pub(super) fn map_of_schemes(&mut self, node: Node<'_>) {
        let builder = self
            .about(Code::OfficialShape, node)
            .message(format!(
                "{} is an object from names to schemes, as in official A2A cards",
                self.label()
            ))
            .found("an object")
            .allowed("an array of security schemes")
            .suggestion("write an array, each scheme with its name as id")
            .change(Change::Reshape);
        self.builders.push(builder);
    }

    pub(super) fn uri(&mut self, node: Node<'_>) {
        let Some(text) = self.text(node) else { return };
        let Err(fault) = uri::check(text.as_bytes()) else { return };
        let label = self.label();
        let builder = self
            .about(Code::NotAUri, node)
            .message(format!("{label} is not a URI: {}", uri_reason(fault, &text)))
            .allowed("a URI with a scheme, such as https://agent.example/");
        let meant = uri_meant(fault, &text);
        self.builders.push(match meant {
            Some(meant) => builder.suggestion(format!("write {meant}")),
            None => builder,
        });
    }

    pub(super) fn date_time(&mut self, node: Node<'_>) {
        let Some(text) = self.text(node) else { return };
        let Err(fault) = date_time::check(text.as_bytes()) else { return };
        let label = self.label();
        let builder = self
            .about(Code::NotADateTime, node)
            .message(format!("{label} is not an instant: {}", fault.reason()))
            .allowed("an instant with an offset, such as 2026-11-21T09:00:00Z");
        self.builders.push(builder);
    }
}

fn format_step(step: &str) -> String {
    format!("[{step}]")
}

fn versions() -> String {
    let words = |variant: Variant| quoted(variant.versions().iter().copied());
    format!("{} (current), {} (legacy)", words(Variant::Current), words(Variant::Legacy))
}

/// Returns what a property may hold, for a person.
fn described(kind: Kind) -> String {
    match kind {
        Kind::Text => "a string".to_owned(),
        Kind::Uri => "a URI".to_owned(),
        Kind::DateTime => "an instant".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Word(words) => quoted(words.iter().copied()),
        Kind::Texts => "an array of strings".to_owned(),
        Kind::TextOrTexts => "a string or an array of strings".to_owned(),
        Kind::Object(_) => "an object".to_owned(),
        Kind::Objects(_) | Kind::Schemes | Kind::Scopes => "an array of objects".to_owned(),
    }
}

/// Returns what a value of the wrong type was meant to be.
fn meant(node: Node<'_>, expected: &str) -> Option<String> {
    let raw = node.raw();
    match (node.kind(), expected) {
        (Type::String, "true or false") => {
            let word = node.text()?.trim().to_ascii_lowercase();
            matches!(word.as_str(), "true" | "false").then_some(word)
        }
        (Type::Number, "true or false") if raw == "1" => Some("true".to_owned()),
        (Type::Number, "true or false") if raw == "0" => Some("false".to_owned()),
        (Type::Number | Type::Boolean, "a string") => Some(format!("\"{}\"", shortened(raw))),
        (Type::Array, "a string") => {
            let mut items = node.items();
            let only = items.next().filter(|item| item.kind() == Type::String)?;
            items.next().is_none().then(|| shortened(only.raw()))
        }
        (Type::String, "an array of strings") => Some(format!("[{}]", shortened(raw))),
        _ => None,
    }
}

fn uri_reason(fault: uri::Fault, text: &str) -> String {
    // People count characters, and `at` is a byte.
    let number = |at: usize| text.get(..at).unwrap_or_default().chars().count() + 1;
    match fault {
        uri::Fault::Empty => "it is empty".to_owned(),
        uri::Fault::Scheme => "it does not begin with a scheme such as https:".to_owned(),
        uri::Fault::Character(at) => {
            let odd = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
            format!(
                "character {} is '{}', which may not stand there",
                number(at),
                odd.escape_debug()
            )
        }
        uri::Fault::Percent(at) => {
            format!("two hexadecimal digits must follow the % that is character {}", number(at))
        }
        uri::Fault::Port => "its port is not a number".to_owned(),
        uri::Fault::Brackets => "its brackets hold no IPv6 address".to_owned(),
    }
}

/// Returns the URI with what may not stand in it escaped, or with a scheme, if that makes one.
fn uri_meant(fault: uri::Fault, text: &str) -> Option<String> {
    let trimmed = text.trim();
    let candidate = match fault {
        uri::Fault::Scheme if trimmed.starts_with("//") => format!("https:{trimmed}"),
        uri::Fault::Scheme
            // A dot suggests a host; a relative reference begins with one of these.
            if trimmed.contains('.') && !trimmed.starts_with(['/', '.', '?', '#']) =>
        {
            format!("https://{trimmed}")
        }
        uri::Fault::Character(_) => escaped(trimmed),
        _ => return None,
    };
    // A suggestion must not be refused when the author follows it.
    uri::check(candidate.as_bytes()).ok()?;
    Some(format!("\"{}\"", shortened(&candidate)))
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
        if char.is_ascii_graphic() && !"<>\"{}|\\^`[]".contains(char) {
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
