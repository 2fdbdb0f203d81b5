//! Cards written anew in another variant: from the other one of ours, and from official A2A cards.
//! What has no place there is told, property by property; the caller decides whether that is much.
//! Whatever comes out is checked like any other card.

use super::finding::push_step;
use super::json_writer::JsonOutput;
use super::node::{Member, Node, Type};
use super::shape::{SCHEMES, Shape, Variant};
use super::{Dialect, ValidationReport, check, dialect};

mod official;

/// A card in another variant.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The card, laid out anew.
    pub text: String,
    /// What it does not hold any more, in the order it stood.
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

/// Writes a card in a variant; nothing when it is no JSON object.
#[must_use]
pub fn convert(bytes: &[u8], to: Variant) -> Option<Conversion> {
    let (dialect, _) = dialect(bytes)?;
    let root = Node::root(std::str::from_utf8(bytes).ok()?, 0);
    let is_ours = matches!(dialect, Dialect::Current | Dialect::Legacy);
    let mut writer = Writer { to, losses: Vec::new(), is_official: !is_ours };
    let text = writer.card(root).write();
    let report = check(text.as_bytes());
    Some(Conversion { text, losses: writer.losses, report })
}

struct Writer {
    to: Variant,
    losses: Vec<Loss>,
    is_official: bool,
}

const NO_PLACE: &str = "the new card has no equivalent";
const SIGN_ANEW: &str = "a signature is valid only for the unchanged card: sign the new card";
const ONE_MODE: &str = "the legacy variant has one mode";

impl Writer {
    fn lose(&mut self, pointer: impl Into<String>, why: &'static str) {
        self.losses.push(Loss { pointer: pointer.into(), why });
    }

    fn card<'a>(&mut self, root: Node<'a>) -> JsonOutput<'a> {
        let was = root.get("protocolVersion").and_then(Node::text);
        let keeps = was.as_deref().is_some_and(|version| self.to.versions().contains(&version));
        let first = self.to.versions().first().copied().unwrap_or_default();
        let version = match root.get("protocolVersion") {
            Some(node) if keeps => JsonOutput::Kept(node),
            _ => JsonOutput::Own(format!("\"{first}\"")),
        };
        let mut members = vec![("protocolVersion", version)];
        let mut interfaces = Vec::new();
        for member in root.members() {
            let name = member.name();
            match name.as_ref() {
                "protocolVersion" => {}
                // The list has had two names in official cards, and a hybrid has both.
                "supportedInterfaces" | "additionalInterfaces" if self.to == Variant::Current => {
                    interfaces.extend(self.interfaces(member));
                }
                name => members.extend(self.member(name, member, keeps)),
            }
        }
        self.add_url(root, &mut members);
        self.add_extended(root, &mut members);
        if !interfaces.is_empty() {
            members.push(("supportedInterfaces", JsonOutput::List(interfaces)));
        }
        JsonOutput::Object(members)
    }

    /// Returns what becomes of one property of the card.
    fn member<'a>(
        &mut self,
        name: &str,
        member: Member<'a>,
        same: bool,
    ) -> Option<(&'static str, JsonOutput<'a>)> {
        let value = member.value;
        let legacy = self.to == Variant::Legacy;
        match name {
            // Signatures are over the canonical form, which a new layout keeps and a new version does not.
            "signatures" | "signedAt" if !same || self.is_official => {
                self.lose(format!("/{name}"), SIGN_ANEW);
                None
            }
            "capabilities" => Some(("capabilities", self.capabilities(value))),
            "provider" => Some(("provider", provider(value))),
            "skills" => Some(("skills", self.skills(value))),
            "authentication" | "securitySchemes" => {
                let name = if legacy { "authentication" } else { "securitySchemes" };
                Some((name, self.schemes(member)))
            }
            "defaultInputMode" if !legacy => Some(("defaultInputModes", list_of(value))),
            "defaultOutputMode" if !legacy => Some(("defaultOutputModes", list_of(value))),
            "defaultInputModes" if legacy => self.one_mode("defaultInputMode", member),
            "defaultOutputModes" if legacy => self.one_mode("defaultOutputMode", member),
            // Told where the capabilities are.
            "supportsAuthenticatedExtendedCard" if !legacy => None,
            "securityRequirements" if !legacy => Some(("security", official::requirements(value))),
            "security" if !legacy => Some(("security", JsonOutput::Kept(value))),
            _ => match self.to.shape().find(name.as_bytes()) {
                Some((_, field)) => Some((field.name, JsonOutput::Kept(value))),
                None => {
                    let mut pointer = String::new();
                    push_step(&mut pointer, name);
                    self.lose(pointer, NO_PLACE);
                    None
                }
            },
        }
    }

    /// Official cards from 1.0 on have the address only in their first interface.
    fn add_url<'a>(&self, root: Node<'a>, members: &mut Vec<(&'a str, JsonOutput<'a>)>) {
        let first = root.get("supportedInterfaces").and_then(|list| list.items().next());
        let url = first.and_then(|interface| interface.get("url"));
        if let Some(url) = url.filter(|_| self.is_official && root.get("url").is_none()) {
            members.push(("url", JsonOutput::Kept(url)));
        }
    }

    /// The flag of the extended card stands among the capabilities of a current card, and by itself in
    /// a legacy one, which may have it in both places.
    fn add_extended<'a>(&self, root: Node<'a>, members: &mut Vec<(&'a str, JsonOutput<'a>)>) {
        let Some(flag) = root.get("supportsAuthenticatedExtendedCard") else { return };
        if self.to == Variant::Legacy {
            return;
        }
        let own = ("extendedAgentCard", JsonOutput::Kept(flag));
        match members.iter_mut().find(|(name, _)| *name == "capabilities") {
            Some((_, JsonOutput::Object(capabilities))) => {
                if !capabilities.iter().any(|(name, _)| *name == own.0) {
                    capabilities.push(own);
                }
            }
            // Something else than an object: it stays, and the check of the new card reports it.
            Some(_) => {}
            None => members.push(("capabilities", JsonOutput::Object(vec![own]))),
        }
    }

    fn capabilities<'a>(&mut self, value: Node<'a>) -> JsonOutput<'a> {
        if value.kind() != Type::Object {
            return JsonOutput::Kept(value);
        }
        let found = self.to.shape().find(b"capabilities");
        let Some(super::shape::Kind::Object(shape)) = found.map(|(_, field)| field.kind) else {
            return JsonOutput::Kept(value);
        };
        self.only_known(value, shape, "/capabilities")
    }

    /// Keeps the properties a shape has, and tells of the others.
    fn only_known<'a>(&mut self, value: Node<'a>, shape: &Shape, pointer: &str) -> JsonOutput<'a> {
        let mut members = Vec::new();
        for member in value.members() {
            let name = member.name();
            match shape.find(name.as_bytes()) {
                Some((_, field)) => members.push((field.name, JsonOutput::Kept(member.value))),
                None => {
                    let mut pointer = pointer.to_owned();
                    push_step(&mut pointer, &name);
                    self.lose(pointer, NO_PLACE);
                }
            }
        }
        JsonOutput::Object(members)
    }

    fn skills<'a>(&mut self, value: Node<'a>) -> JsonOutput<'a> {
        let found = self.to.shape().find(b"skills").map(|(_, field)| field.kind);
        let Some(super::shape::Kind::Objects(shape)) = found else {
            return JsonOutput::Kept(value);
        };
        if value.kind() != Type::Array {
            return JsonOutput::Kept(value);
        }
        let items = value.items().enumerate().map(|(number, item)| match item.kind() {
            Type::Object => self.only_known(item, shape, &format!("/skills/{number}")),
            _ => JsonOutput::Kept(item),
        });
        JsonOutput::List(items.collect())
    }

    fn one_mode<'a>(
        &mut self,
        name: &'static str,
        member: Member<'a>,
    ) -> Option<(&'static str, JsonOutput<'a>)> {
        let mut modes = member.value.items();
        let first = modes.next();
        for (number, _) in modes.enumerate() {
            self.lose(format!("/{}/{}", member.name(), number + 1), ONE_MODE);
        }
        first.map(|first| (name, JsonOutput::Kept(first)))
    }

    /// Writes schemes as a list. Those that cannot be said are left out.
    fn schemes<'a>(&mut self, member: Member<'a>) -> JsonOutput<'a> {
        if member.value.kind() != Type::Object {
            return JsonOutput::Kept(member.value);
        }
        let mut list = Vec::new();
        for scheme in member.value.members() {
            let mut pointer = format!("/{}", member.name());
            push_step(&mut pointer, &scheme.name());
            match official::scheme(scheme) {
                Ok(found) => list.push(self.scheme(found, &pointer)),
                Err(why) => self.lose(pointer, why),
            }
        }
        JsonOutput::List(list)
    }

    /// Adds to the beginning of a scheme what its type knows of its own properties.
    fn scheme<'a>(&mut self, begun: official::Scheme<'a>, pointer: &str) -> JsonOutput<'a> {
        let (mut members, shape) =
            (begun.members, SCHEMES.iter().find(|(word, _)| *word == begun.kind));
        for field in begun.fields {
            let name = field.name();
            let known =
                shape.and_then(|(_, shape)| shape.find(official::field_name(&name).as_bytes()));
            match known {
                Some((_, known)) if members.iter().all(|(own, _)| *own != known.name) => {
                    members.push((known.name, official::field(known.name, field.value)));
                }
                // `type` and `id` are written already, from the wrapper and the name.
                Some(_) => {}
                None => {
                    let mut pointer = pointer.to_owned();
                    push_step(&mut pointer, &name);
                    self.lose(pointer, NO_PLACE);
                }
            }
        }
        JsonOutput::Object(members)
    }

    /// Writes the endpoints that can be said.
    fn interfaces<'a>(&mut self, member: Member<'a>) -> Vec<JsonOutput<'a>> {
        if !self.is_official {
            return member.value.items().map(JsonOutput::Kept).collect();
        }
        let name = member.name();
        let items = member.value.items().enumerate();
        let mut list = Vec::new();
        for (number, item) in items {
            match official::interface(item) {
                Some(interface) => list.push(interface),
                None => self.lose(format!("/{name}/{number}"), official::NO_BINDING),
            }
            for lost in ["tenant", "extensions"].into_iter().filter(|lost| item.get(lost).is_some())
            {
                self.lose(format!("/{name}/{number}/{lost}"), NO_PLACE);
            }
        }
        list
    }
}

/// Writes the name of a provider as we do.
fn provider(value: Node<'_>) -> JsonOutput<'_> {
    if value.kind() != Type::Object || value.get("name").is_some() {
        return JsonOutput::Kept(value);
    }
    let named = [("name", "organization"), ("url", "url")];
    let members = named
        .into_iter()
        .filter_map(|(name, theirs)| Some((name, JsonOutput::Kept(value.get(theirs)?))));
    JsonOutput::Object(members.collect())
}

fn list_of(value: Node<'_>) -> JsonOutput<'_> {
    JsonOutput::List(vec![JsonOutput::Kept(value)])
}
