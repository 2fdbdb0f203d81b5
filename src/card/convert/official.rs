//! The parts of official A2A cards that are written otherwise here: schemes by name, endpoints,
//! requirements.

use super::members::{Members, field, present};
use super::{CONFLICT, NO_PLACE, Writer, under};
use crate::card::json_writer::JsonOutput;
use crate::card::node::{Member, Node, Type};
use crate::card::shape::{SCHEMES, Shape, Variant};
use crate::card::spelling;

const NO_BINDING: &str = "its binding is not supported by this format";
const NO_VERSION: &str = "its protocol version is not supported by this format";
const NO_SCHEME: &str = "such a scheme is not supported by this format";
const NOT_BEARER: &str = "only bearer tokens are supported by this format";
const COOKIE: &str = "a key in a cookie is not supported by this format";

/// Wrappers of official cards from 1.0 on, and the types they stand for.
const WRAPPERS: [(&str, &str); 3] = [
    ("apiKeySecurityScheme", "apiKey"),
    ("httpAuthSecurityScheme", "http"),
    ("openIdConnectSecurityScheme", "openIdConnect"),
];

/// Properties that only official cards have.
const OFFICIAL: [&str; 4] =
    ["preferredTransport", "additionalInterfaces", "supportedInterfaces", "securityRequirements"];

/// Returns the property of a card that is meant by a name, of either variant or of official cards.
pub(super) fn card_name(name: &str) -> Option<&'static str> {
    let ours = Variant::ALL.iter().copied().flat_map(|variant| variant.shape().names());
    ours.chain(OFFICIAL).find(|known| spelling::is_same(name, known))
}

/// Writes the value of a property; the word of a bearer token is in lower case here.
pub(super) fn value<'a>(shape: &Shape, name: &str, value: Node<'a>) -> JsonOutput<'a> {
    let is_scheme = shape.title == "http scheme" && name == "scheme";
    if is_scheme && is_word(value, "bearer") {
        return JsonOutput::Own("\"bearer\"".to_owned());
    }
    JsonOutput::Kept(value)
}

fn is_word(value: Node<'_>, word: &str) -> bool {
    value.text().is_some_and(|text| text.eq_ignore_ascii_case(word))
}

impl Writer {
    /// Writes schemes as a list. Those that cannot be said are left out.
    pub(super) fn schemes<'a>(&mut self, value: Node<'a>, pointer: &str) -> JsonOutput<'a> {
        match value.kind() {
            Type::Object => {
                let mut list = Vec::new();
                for scheme in present(value) {
                    list.extend(self.named_scheme(scheme, &under(pointer, scheme)));
                }
                JsonOutput::List(list)
            }
            Type::Array => {
                let items = value.items().enumerate().map(|(number, item)| {
                    let word = field(item, "type").and_then(Node::text);
                    let is_its = |known: &&(&str, Shape)| word.as_deref() == Some(known.0);
                    match SCHEMES.iter().find(is_its) {
                        Some((_, shape)) => {
                            self.only_known(item, shape, &format!("{pointer}/{number}"))
                        }
                        None => JsonOutput::Kept(item),
                    }
                });
                JsonOutput::List(items.collect())
            }
            _ => JsonOutput::Kept(value),
        }
    }

    /// Writes a scheme that has its name from outside; `None` when it cannot be said.
    fn named_scheme<'a>(&mut self, scheme: Member<'a>, pointer: &str) -> Option<JsonOutput<'a>> {
        let wrapper = present(scheme.value).find_map(|member| {
            let is_its = |known: &&(&str, &str)| spelling::is_same(&member.name(), known.0);
            Some((member, WRAPPERS.iter().find(is_its)?.1))
        });
        let (kind, content) = match wrapper {
            Some((member, kind)) => (kind, member.value),
            // Before 1.0 the type is in the scheme itself.
            None => {
                let word = field(scheme.value, "type").and_then(Node::text);
                let known = WRAPPERS.iter().find(|(_, kind)| word.as_deref() == Some(*kind));
                (known.map_or("", |(_, kind)| kind), scheme.value)
            }
        };
        let has =
            |name: &str, word: &str| field(content, name).is_some_and(|text| is_word(text, word));
        let shape = SCHEMES.iter().find(|(word, _)| *word == kind).map(|(_, shape)| shape);
        let refused = match (kind, shape) {
            ("http", _) if !has("scheme", "bearer") => Some(NOT_BEARER),
            ("apiKey", _) if has("in", "cookie") || has("location", "cookie") => Some(COOKIE),
            (_, Some(_)) if content.kind() == Type::Object => None,
            _ => Some(NO_SCHEME),
        };
        if let Some(why) = refused {
            self.lose(pointer, why);
            return None;
        }
        let shape = shape?;
        let mut members = Members::default();
        members.put("type", JsonOutput::Own(format!("\"{kind}\"")));
        members.put("id", JsonOutput::Kept(scheme.key));
        let Some((wrapper, _)) = wrapper else {
            for member in present(content) {
                self.known(member, shape, under(pointer, member), &mut members);
            }
            return Some(members.into());
        };
        for member in present(scheme.value) {
            let pointer = under(pointer, member);
            if member.key.begin() != wrapper.key.begin() {
                self.lose(pointer, NO_PLACE);
                continue;
            }
            for member in present(content) {
                self.known(member, shape, under(&pointer, member), &mut members);
            }
        }
        Some(members.into())
    }

    /// Writes the endpoints that can be said. Before 1.0 they have the version of the whole card.
    pub(super) fn interfaces<'a>(
        &mut self,
        list: Node<'a>,
        pointer: &str,
        version: Option<Node<'a>>,
    ) -> Vec<JsonOutput<'a>> {
        let mut written = Vec::new();
        for (number, item) in list.items().enumerate() {
            let pointer = format!("{pointer}/{number}");
            let losses = self.losses.len();
            match self.interface(item, &pointer, version) {
                Ok(interface) => written.push(interface),
                Err(why) => {
                    // What is lost of it is lost with it.
                    self.losses.truncate(losses);
                    self.lose(pointer, why);
                }
            }
        }
        written
    }

    fn interface<'a>(
        &mut self,
        value: Node<'a>,
        pointer: &str,
        card_version: Option<Node<'a>>,
    ) -> Result<JsonOutput<'a>, &'static str> {
        if value.kind() != Type::Object {
            return Ok(JsonOutput::Kept(value));
        }
        let mut members = Members::default();
        for member in present(value) {
            let name = member.name();
            let pointer = under(pointer, member);
            let is = |known: &str| spelling::is_same(&name, known);
            let (name, value) = if is("url") {
                ("url", JsonOutput::Kept(member.value))
            } else if is("protocolBinding") || is("transport") {
                ("protocolBinding", binding(member.value).ok_or(NO_BINDING)?)
            } else if is("protocolVersion") {
                ("protocolVersion", version(member.value).ok_or(NO_VERSION)?)
            } else {
                self.lose(pointer, NO_PLACE);
                continue;
            };
            self.put(&mut members, name, value, pointer);
        }
        if field(value, "transport").is_some() && !members.has("protocolVersion") {
            let version = match card_version {
                Some(node) => version(node).ok_or(NO_VERSION)?,
                None => JsonOutput::Own("\"0.3\"".to_owned()),
            };
            members.put("protocolVersion", version);
        }
        Ok(members.into())
    }

    /// Writes requirements without the wrappers of official cards from 1.0 on.
    pub(super) fn requirements<'a>(&mut self, value: Node<'a>, pointer: &str) -> JsonOutput<'a> {
        if value.kind() != Type::Array {
            return JsonOutput::Kept(value);
        }
        let items = value.items().enumerate().map(|(number, item)| {
            let pointer = format!("{pointer}/{number}");
            match field(item, "schemes") {
                Some(schemes) if schemes.kind() == Type::Object => {
                    self.requirement(item, schemes, &pointer)
                }
                _ => JsonOutput::Kept(item),
            }
        });
        JsonOutput::List(items.collect())
    }

    fn requirement<'a>(
        &mut self,
        item: Node<'a>,
        schemes: Node<'a>,
        pointer: &str,
    ) -> JsonOutput<'a> {
        let mut members = Vec::new();
        for member in present(item) {
            let pointer = under(pointer, member);
            if member.value.begin() != schemes.begin() {
                self.lose(pointer, NO_PLACE);
                continue;
            }
            // All of them, also one that is null: without it, fewer would be required of callers.
            for scheme in schemes.members() {
                let pointer = under(&pointer, scheme);
                let raw = scheme.key.raw();
                // Without its quotes, and with its escapes, because it is written as it is.
                let name = raw.get(1..raw.len() - 1).unwrap_or_default();
                members.push((name, self.scopes(scheme.value, &pointer)));
            }
        }
        JsonOutput::Object(members)
    }

    fn scopes<'a>(&mut self, value: Node<'a>, pointer: &str) -> JsonOutput<'a> {
        if value.kind() != Type::Object {
            return JsonOutput::Kept(value);
        }
        let mut list = None;
        for member in present(value) {
            if !spelling::is_same(&member.name(), "list") {
                self.lose(under(pointer, member), NO_PLACE);
            } else if list.is_some() {
                self.lose(under(pointer, member), CONFLICT);
            } else {
                list = Some(member.value);
            }
        }
        list.map_or_else(|| JsonOutput::List(Vec::new()), JsonOutput::Kept)
    }
}

/// Returns our word for the binding of an endpoint.
fn binding(value: Node<'_>) -> Option<JsonOutput<'_>> {
    let word = match value.text()?.as_ref() {
        "HTTP+JSON" => "\"HTTP+JSON\"",
        "GRPC" | "gRPC" => "\"gRPC\"",
        "WebSocket" => "\"WebSocket\"",
        _ => return None,
    };
    Some(JsonOutput::Own(word.to_owned()))
}

/// Returns the version of a protocol without its patch number, which changes nothing on the wire.
fn version(value: Node<'_>) -> Option<JsonOutput<'_>> {
    let text = value.text()?;
    let is_its = |known: &&str| {
        let patch = text.strip_prefix(*known);
        patch.is_some_and(|patch| {
            patch.is_empty()
                || patch.strip_prefix('.').is_some_and(|number| {
                    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
                })
        })
    };
    let known = ["0.3", "1.0", "1.2"].into_iter().find(is_its)?;
    Some(JsonOutput::Own(format!("\"{known}\"")))
}
