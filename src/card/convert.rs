//! Cards written anew in another variant: from the other one of ours, and from official A2A cards.
//! Every member of the old card is in the new one or among the losses; the caller decides whether that is
//! much. Whatever comes out is checked like any other card.
//!
//! What becomes of each member: `docs/decisions/101-card-conversion.md`.

use super::finding::push_step;
use super::json_writer::JsonOutput;
use super::node::{Member, Node, Type};
use super::shape::{Kind, Shape, Variant};
use super::{ValidationReport, check, spelling, syntax};

mod members;
mod official;

use members::{Members, named};
pub(super) use members::{field, present};

/// A card in another variant.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The card, laid out anew.
    pub text: String,
    /// What it does not hold any more.
    pub losses: Vec<Loss>,
    /// The check of the new card: what was wrong with the old one mostly still is.
    pub report: ValidationReport,
}

/// Something that has no place in the new card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// JSON Pointer in the old card.
    pub pointer: String,
    /// Why it cannot be kept.
    pub why: &'static str,
}

/// Writes a card in a variant; `None` when it is no JSON object.
#[must_use]
pub fn convert(bytes: &[u8], to: Variant) -> Option<Conversion> {
    let text = std::str::from_utf8(bytes).ok()?;
    let root = syntax::object(text)?;
    let mut writer = Writer { to, losses: Vec::new() };
    let report = check(bytes);
    // Only a card that stays the same keeps its signatures: they are over the canonical form, which
    // does not depend on the layout.
    let is_done = report.is_valid() && report.variant == Some(to);
    let new = if is_done { JsonOutput::Kept(root) } else { writer.card(root) };
    let text = new.write();
    let report = check(text.as_bytes());
    Some(Conversion { text, losses: writer.losses, report })
}

struct Writer {
    to: Variant,
    losses: Vec<Loss>,
}

/// Parts of the new card that come from several places of the old one.
#[derive(Default)]
struct Joined<'a> {
    interfaces: Option<Vec<JsonOutput<'a>>>,
    extensions: Option<Vec<JsonOutput<'a>>>,
    extended: Option<Member<'a>>,
}

const NO_PLACE: &str = "the new card has no equivalent";
const SIGN_ANEW: &str = "a signature is valid only for the unchanged card: sign the new card";
const ONE_MODE: &str = "the legacy variant has one mode";
const CONFLICT: &str = "another member of the card is written there, with another value";

impl Writer {
    fn lose(&mut self, pointer: impl Into<String>, why: &'static str) {
        self.losses.push(Loss { pointer: pointer.into(), why });
    }

    /// Adds a member to an object, or tells that its place is taken.
    fn put<'a>(
        &mut self,
        members: &mut Members<'a>,
        name: &'a str,
        value: JsonOutput<'a>,
        pointer: String,
    ) {
        if !members.put(name, value) {
            self.lose(pointer, CONFLICT);
        }
    }

    fn card<'a>(&mut self, root: Node<'a>) -> JsonOutput<'a> {
        let (mut card, mut joined) = (Members::default(), Joined::default());
        card.put("protocolVersion", self.version(root));
        for member in present(root) {
            let name = member.name();
            let name = official::card_name(&name).unwrap_or(&name);
            if name == "capabilities" {
                let pointer = under("", member);
                let value = self.capabilities(member.value, &pointer, &mut joined);
                self.put(&mut card, "capabilities", value, pointer);
            } else if !self.joined(name, member, root, &mut joined) {
                self.member(name, member, &mut card);
            }
        }
        // Official cards from 1.0 on have the address only in their first interface.
        let first = field(root, "supportedInterfaces").and_then(|list| list.items().next());
        if let Some(url) = first.and_then(|interface| field(interface, "url"))
            && !card.has("url")
        {
            card.put("url", JsonOutput::Kept(url));
        }
        self.add_extended(joined.extended, &mut card);
        let lists = [("supportedInterfaces", joined.interfaces), ("extensions", joined.extensions)];
        for (name, list) in lists {
            // Nothing else writes these two, so their places are free.
            if let Some(list) = list {
                card.put(name, JsonOutput::List(list));
            }
        }
        card.into()
    }

    /// Keeps the version of the card if the new variant has it.
    fn version<'a>(&self, root: Node<'a>) -> JsonOutput<'a> {
        let known = self.to.versions();
        let is_known = |node: &Node<'_>| node.text().is_some_and(|text| known.contains(&&*text));
        let first = known.first().copied().unwrap_or_default();
        let own = || JsonOutput::Own(format!("\"{first}\""));
        field(root, "protocolVersion").filter(is_known).map_or_else(own, JsonOutput::Kept)
    }

    /// A version is replaced, because the variant decides it; anything else there is lost.
    fn old_version(&mut self, value: Node<'_>, root: Node<'_>, pointer: String) {
        let is_first =
            field(root, "protocolVersion").is_some_and(|first| first.begin() == value.begin());
        let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let is_version = |text: &str| !text.is_empty() && text.bytes().all(is_digit);
        if !is_first {
            self.lose(pointer, CONFLICT);
        } else if !value.text().is_some_and(|text| is_version(&text)) {
            self.lose(pointer, "this is not a version of the protocol");
        }
    }

    /// Writes one property of the card.
    fn member<'a>(&mut self, name: &str, member: Member<'a>, card: &mut Members<'a>) {
        let value = member.value;
        let pointer = under("", member);
        let (name, new) = match (name, self.to) {
            ("signatures" | "signedAt", _) => return self.lose(pointer, SIGN_ANEW),
            ("provider", _) => (name, self.object(value, "provider", &pointer)),
            ("skills", _) => (name, self.list(value, "skills", &pointer)),
            ("authentication" | "securitySchemes", Variant::Legacy) => {
                ("authentication", self.schemes(value, &pointer))
            }
            ("authentication" | "securitySchemes", Variant::Current) => {
                ("securitySchemes", self.schemes(value, &pointer))
            }
            ("defaultInputMode", Variant::Current) => ("defaultInputModes", list_of(value)),
            ("defaultOutputMode", Variant::Current) => ("defaultOutputModes", list_of(value)),
            ("defaultInputModes" | "defaultOutputModes", Variant::Legacy) => {
                let Some(first) = self.one_mode(value, &pointer) else { return };
                (name.trim_end_matches('s'), JsonOutput::Kept(first))
            }
            ("preferredTransport", Variant::Current) => {
                ("protocolBinding", JsonOutput::Kept(value))
            }
            ("securityRequirements", Variant::Current) => {
                ("security", self.requirements(value, &pointer))
            }
            (name, _) => (name, JsonOutput::Kept(value)),
        };
        match named(self.to.shape(), name) {
            Some(known) => self.put(card, known.name, new, pointer),
            None => self.lose(pointer, NO_PLACE),
        }
    }

    /// Puts a property aside that is not written alone, and says whether it is one.
    fn joined<'a>(
        &mut self,
        name: &str,
        member: Member<'a>,
        root: Node<'a>,
        joined: &mut Joined<'a>,
    ) -> bool {
        let value = member.value;
        let pointer = under("", member);
        let is_list = value.kind() == Type::Array;
        match name {
            "protocolVersion" => self.old_version(value, root, pointer),
            "supportsAuthenticatedExtendedCard" if self.to == Variant::Current => {
                match joined.extended {
                    None => joined.extended = Some(member),
                    Some(_) => self.lose(pointer, CONFLICT),
                }
            }
            // The list has had two names in official cards, and a hybrid has both.
            "supportedInterfaces" | "additionalInterfaces" | "extensions"
                if self.to == Variant::Current && !is_list =>
            {
                self.lose(pointer, "this is not a list");
            }
            "supportedInterfaces" | "additionalInterfaces" if self.to == Variant::Current => {
                let version = field(root, "protocolVersion");
                let list = self.interfaces(value, &pointer, version);
                joined.interfaces.get_or_insert_default().extend(list);
            }
            "extensions" if self.to == Variant::Current => {
                self.extensions(value, &pointer, joined);
            }
            _ => return false,
        }
        true
    }

    /// The flag of the extended card stands among the capabilities of a current card, and by itself in
    /// a legacy one, which may have it in both places.
    fn add_extended<'a>(&mut self, flag: Option<Member<'a>>, card: &mut Members<'a>) {
        let Some(flag) = flag else { return };
        let value = JsonOutput::Kept(flag.value);
        let is_kept = match card.get_mut("capabilities") {
            None => {
                let own = vec![("extendedAgentCard", value)];
                card.put("capabilities", JsonOutput::Object(own))
            }
            Some(JsonOutput::Object(own)) => {
                match own.iter().find(|(name, _)| *name == "extendedAgentCard") {
                    Some((_, other)) => other.write() == value.write(),
                    None => {
                        own.push(("extendedAgentCard", value));
                        true
                    }
                }
            }
            Some(_) => false,
        };
        if !is_kept {
            self.lose(under("", flag), CONFLICT);
        }
    }

    fn capabilities<'a>(
        &mut self,
        value: Node<'a>,
        pointer: &str,
        joined: &mut Joined<'a>,
    ) -> JsonOutput<'a> {
        let Some(Kind::Object(shape)) = self.kind("capabilities") else {
            return JsonOutput::Kept(value);
        };
        if value.kind() != Type::Object {
            return JsonOutput::Kept(value);
        }
        let mut members = Members::default();
        for member in present(value) {
            let pointer = under(pointer, member);
            let is_list = member.value.kind() == Type::Array;
            if self.to == Variant::Current
                && is_list
                && spelling::is_same(&member.name(), "extensions")
            {
                self.extensions(member.value, &pointer, joined);
            } else {
                self.known(member, shape, pointer, &mut members);
            }
        }
        members.into()
    }

    fn extensions<'a>(&mut self, list: Node<'a>, pointer: &str, joined: &mut Joined<'a>) {
        if let JsonOutput::List(items) = self.list(list, "extensions", pointer) {
            joined.extensions.get_or_insert_default().extend(items);
        }
    }

    /// Returns what a property of the new card may hold.
    fn kind(&self, name: &str) -> Option<Kind> {
        self.to.shape().find(name.as_bytes()).map(|(_, field)| field.kind)
    }

    fn object<'a>(&mut self, value: Node<'a>, name: &str, pointer: &str) -> JsonOutput<'a> {
        match self.kind(name) {
            Some(Kind::Object(shape)) => self.only_known(value, shape, pointer),
            _ => JsonOutput::Kept(value),
        }
    }

    fn list<'a>(&mut self, value: Node<'a>, name: &str, pointer: &str) -> JsonOutput<'a> {
        match self.kind(name) {
            Some(Kind::Objects(shape)) if value.kind() == Type::Array => {
                let items = value.items().enumerate();
                let items = items.map(|(number, item)| {
                    self.only_known(item, shape, &format!("{pointer}/{number}"))
                });
                JsonOutput::List(items.collect())
            }
            _ => JsonOutput::Kept(value),
        }
    }

    /// Keeps the properties a shape has, and tells of the others. What is no object stays, and the check
    /// of the new card reports it.
    fn only_known<'a>(&mut self, value: Node<'a>, shape: &Shape, pointer: &str) -> JsonOutput<'a> {
        if value.kind() != Type::Object {
            return JsonOutput::Kept(value);
        }
        let mut members = Members::default();
        for member in present(value) {
            let pointer = under(pointer, member);
            self.known(member, shape, pointer, &mut members);
        }
        members.into()
    }

    /// Writes a property under the name that a shape has for it.
    fn known<'a>(
        &mut self,
        member: Member<'a>,
        shape: &Shape,
        pointer: String,
        members: &mut Members<'a>,
    ) {
        match named(shape, &member.name()) {
            Some(known) => {
                let value = official::value(shape, known.name, member.value);
                self.put(members, known.name, value, pointer);
            }
            None => self.lose(pointer, NO_PLACE),
        }
    }

    /// Returns the one mode of a list; what is no list stays.
    fn one_mode<'a>(&mut self, value: Node<'a>, pointer: &str) -> Option<Node<'a>> {
        if value.kind() != Type::Array {
            return Some(value);
        }
        let mut modes = value.items();
        let first = modes.next();
        if first.is_none() {
            self.lose(pointer, ONE_MODE);
        }
        for (number, _) in modes.enumerate() {
            self.lose(format!("{pointer}/{}", number + 1), ONE_MODE);
        }
        first
    }
}

/// Returns the pointer of a property of the object at a pointer.
fn under(pointer: &str, member: Member<'_>) -> String {
    let mut pointer = pointer.to_owned();
    push_step(&mut pointer, &member.name());
    pointer
}

fn list_of(value: Node<'_>) -> JsonOutput<'_> {
    JsonOutput::List(vec![JsonOutput::Kept(value)])
}
