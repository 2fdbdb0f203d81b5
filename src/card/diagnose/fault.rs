//! The words of each fault: what is wrong, what was found, what is allowed, and what to write instead.

use super::{
    Change, Field, FindingBuilder, FindingCode, Kind, Member, Node, Shape, Type, Variant, Walker,
    known_aliases, meant, quoted, shortened, spelling,
};
use crate::card::known_aliases::Mend;
use crate::card::{date_time, uri};

impl Walker {
    /// Returns a finding about a value.
    fn about(&self, code: FindingCode, node: Node<'_>) -> FindingBuilder {
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
        let builder = self.of_wrong_type(node, expected, meant::value(node, expected));
        self.builders.push(builder);
    }

    /// Tells that what must be a certain string is none. Most numbers would not be right in quotes either, so that
    /// only a known word is suggested.
    fn not_a_string(&mut self, node: Node<'_>, allowed: impl Into<String>, word: Option<&str>) {
        let meant = match node.kind() {
            Type::Number | Type::Boolean => word.map(|word| format!("\"{word}\"")),
            _ => meant::value(node, "a string"),
        };
        let builder = self.of_wrong_type(node, "a string", meant).allowed(allowed);
        self.builders.push(builder);
    }

    fn of_wrong_type(
        &self,
        node: Node<'_>,
        expected: &str,
        meant: Option<String>,
    ) -> FindingBuilder {
        let label = self.label();
        if node.kind() == Type::Null {
            return self
                .about(FindingCode::Null, node)
                .message(format!("{label} is null"))
                .allowed(expected)
                .suggestion(format!("write {expected}, or omit it if it is optional"));
        }
        let builder = self
            .about(FindingCode::WrongType, node)
            .message(format!("{label} must be {expected}, not {}", node.kind().name()))
            .allowed(expected);
        match meant {
            Some(meant) => builder.write(node.range(), meant),
            None => builder,
        }
    }

    pub(super) fn missing_field(&mut self, node: Node<'_>, shape: &Shape, field: &Field) {
        let is_version = self.pointer.is_empty() && field.name == "protocolVersion";
        let code =
            if is_version { FindingCode::MissingVersion } else { FindingCode::MissingProperty };
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

    /// Tells of a property that does not belong, and where it does if that is known. Returns the name that an
    /// edit would give it.
    pub(super) fn unknown(
        &mut self,
        member: Member<'_>,
        shape: &'static Shape,
    ) -> Option<&'static str> {
        let (name, key) = (member.name(), shortened(member.key.raw()));
        let builder = FindingBuilder::new(
            FindingCode::UnknownProperty,
            member.key.begin(),
            member.key.raw().len(),
        )
        .pointer(self.pointer.clone())
        .found(key.clone());
        // Shapes are statics, so the address tells them apart; the title does not, both variants are a "card".
        let is_root = std::ptr::eq(shape, self.variant.shape());
        let other = is_root.then(|| known_aliases::of_other_variant(self.variant, &name)).flatten();
        let (builder, mend) = if let Some(mend) = other {
            let (theirs, ours) = (self.variant.other().as_str(), self.variant.as_str());
            let message = format!("{key} belongs to the {theirs} variant, but this card is {ours}");
            (builder.code_of(FindingCode::OtherVariant).message(message), Some(mend))
        } else if let Some(relative) = known_aliases::official(shape, &name) {
            let message = format!(
                "{key} belongs to official A2A cards; the {} has no such \
            property",
                shape.title
            );
            (builder.code_of(FindingCode::OfficialShape).message(message), Some(relative.mend))
        } else {
            let builder = builder
                .message(format!("the {} has an unknown property, {key}", shape.title))
                .allowed(quoted(shape.names()));
            let mend = spelling::nearest(&name, shape.names()).map(Mend::Rename);
            let advice = if mend.is_none() { meant::similar_names(&name, shape) } else { None };
            let builder = match advice {
                Some(advice) => builder.suggestion(advice),
                None => builder,
            };
            (builder, mend)
        };
        let (builder, renamed) = mended(builder, member, mend);
        self.builders.push(builder);
        renamed
    }

    pub(super) fn word(&mut self, node: Node<'_>, words: &'static [&'static str]) {
        let text = node.text();
        if text.as_deref().is_some_and(|text| words.contains(&text)) {
            return;
        }
        let is_version = self.pointer == "/protocolVersion";
        let allowed = if is_version { versions() } else { quoted(words.iter().copied()) };
        // Only a version of the variant that the rest was compared with: another one would make that rest wrong.
        let known = if is_version { self.variant.versions() } else { words };
        let Some(text) = text else {
            return self.not_a_string(node, allowed, meant::same_word(node.raw(), known));
        };
        let code = if is_version { FindingCode::UnknownVersion } else { FindingCode::UnknownValue };
        let label = self.label();
        let found = shortened(node.raw());
        let builder = self.about(code, node).allowed(allowed).message(match words {
            [only] if !is_version => format!("{label} must be \"{only}\", not {found}"),
            _ => format!("{label} is {found}, which is not one of those allowed"),
        });
        self.builders.push(if let Some(advice) = known_aliases::value(self.name(), &text) {
            builder.suggestion(advice)
        } else if let Some(word) = meant::same_word(&text, known) {
            builder.write(node.range(), format!("\"{word}\""))
        } else if let Some(word) = meant::similar_word(&text, known, is_version) {
            builder.suggestion(format!("write \"{word}\""))
        } else {
            builder
        });
    }

    /// Tells that schemes are written as official cards write them, by name.
    pub(super) fn map_of_schemes(&mut self, node: Node<'_>) {
        let builder = self
            .about(FindingCode::OfficialShape, node)
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

    /// Tells that a signature is one of an official card, as a whole: none of its parts can be kept
    /// (`docs/decisions/114-card-detached-signatures.md`).
    pub(super) fn detached_signature(&mut self, node: Node<'_>) {
        let builder = self
            .about(FindingCode::OfficialShape, node)
            .message(format!("{} is a detached JWS, as in official A2A cards", self.label()))
            .allowed("an object with algorithm, keyId and jws")
            .suggestion("remove it, and sign the card again: svcctl cards sign")
            .change(Change::Reshape);
        self.builders.push(builder);
    }

    pub(super) fn uri(&mut self, node: Node<'_>) {
        let allowed = "a URI with a scheme, such as https://agent.example/";
        let Some(text) = node.text() else { return self.not_a_string(node, allowed, None) };
        let Err(fault) = uri::check(text.as_bytes()) else { return };
        let label = self.label();
        let builder = self
            .about(FindingCode::NotAUri, node)
            .message(format!("{label} is not a URI: {}", uri_reason(fault, &text)))
            .allowed(allowed);
        self.builders.push(match meant::uri(fault, &text) {
            Some((meant, true)) => builder.write(node.range(), meant),
            Some((meant, false)) => builder.suggestion(format!("write {}", shortened(&meant))),
            None => builder,
        });
    }

    pub(super) fn date_time(&mut self, node: Node<'_>) {
        let allowed = "a timestamp with an offset, such as 2026-11-21T09:00:00Z";
        let Some(text) = node.text() else { return self.not_a_string(node, allowed, None) };
        let Err(fault) = date_time::check(text.as_bytes()) else { return };
        let label = self.label();
        let builder = self
            .about(FindingCode::NotADateTime, node)
            .message(format!("{label} is not a timestamp: {}", fault.reason()))
            .allowed(allowed);
        self.builders.push(builder);
    }
}

/// Says whether a signature has the form of official cards: a JWS without the payload, which is the card itself.
pub(super) fn is_detached(signature: Node<'_>) -> bool {
    let has = |name| signature.get(name).is_some();
    has("protected") && has("signature") && !has("payload") && !has("jws")
}

/// Says what to do about a property, and the name that an edit would give it.
fn mended(
    builder: FindingBuilder,
    member: Member<'_>,
    mend: Option<Mend>,
) -> (FindingBuilder, Option<&'static str>) {
    let (name, form, expected) = match mend {
        None => return (builder.change(Change::Remove), None),
        Some(Mend::Advice(change, advice)) => {
            return (builder.suggestion(advice).change(change), None);
        }
        Some(Mend::Rename(name)) => {
            let builder = builder.write(member.key.range(), format!("\"{name}\""));
            return (builder.change(Change::Rename), Some(name));
        }
        Some(Mend::Listed(name)) => (name, "an array", "an array of strings"),
        Some(Mend::Single(name)) => (name, "one string", "a string"),
    };
    let builder = builder.change(Change::Reshape);
    // A number, which would become a string as well, is not what this property held in the other variant.
    let has_form = matches!(member.value.kind(), Type::String | Type::Array);
    match meant::value(member.value, expected).filter(|_| has_form) {
        Some(value) => {
            let text = format!("\"{name}\"{}{value}", member.colon());
            (builder.write(member.key.begin()..member.value.end(), text), Some(name))
        }
        None => (builder.suggestion(format!("write {name}, {form}")), None),
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
        Kind::DateTime => "a timestamp".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Word(words) => quoted(words.iter().copied()),
        Kind::Texts => "an array of strings".to_owned(),
        Kind::TextOrTexts => "a string or an array of strings".to_owned(),
        Kind::Object(_) => "an object".to_owned(),
        Kind::Objects(_) | Kind::Schemes | Kind::Scopes => "an array of objects".to_owned(),
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
                "character {} is '{}', which is not allowed there",
                number(at),
                odd.escape_debug()
            )
        }
        uri::Fault::Percent(at) => {
            format!("two hexadecimal digits must follow the % at character {}", number(at))
        }
        uri::Fault::Port => "its port is not a number".to_owned(),
        uri::Fault::Brackets => "its brackets do not contain an IPv6 address".to_owned(),
    }
}
