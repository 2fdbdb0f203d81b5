//! The parts of official A2A cards that are written otherwise here: schemes by name, endpoints,
//! requirements.

use crate::card::json_writer::JsonOutput;
use crate::card::node::{Member, Node, Type};

pub(super) const NO_BINDING: &str = "its binding is not supported by this format";

/// The beginning of a scheme of ours.
pub(super) struct Scheme<'a> {
    /// The word of its type.
    pub(super) kind: &'static str,
    pub(super) members: Vec<(&'a str, JsonOutput<'a>)>,
    /// What stands in it, in their words.
    pub(super) fields: Vec<Member<'a>>,
}

/// Wrappers of official cards from 1.0 on, and the types they stand for.
const WRAPPERS: [(&str, &str); 3] = [
    ("apiKeySecurityScheme", "apiKey"),
    ("httpAuthSecurityScheme", "http"),
    ("openIdConnectSecurityScheme", "openIdConnect"),
];

/// Returns the beginning of a scheme that has its name from outside, or why there is none.
pub(super) fn scheme<'a>(named: Member<'a>) -> Result<Scheme<'a>, &'static str> {
    let wrapped =
        WRAPPERS.iter().find_map(|(wrapper, kind)| Some((*kind, named.value.get(wrapper)?)));
    let (kind, content) = match wrapped {
        Some(found) => found,
        None => {
            // Before 1.0 the type is in the scheme itself.
            let word = named.value.get("type").and_then(Node::text);
            let known = WRAPPERS.iter().find(|(_, kind)| word.as_deref() == Some(*kind));
            (known.ok_or("such a scheme is not supported by this format")?.1, named.value)
        }
    };
    let has = |name: &str, word: &str| {
        let text = content.get(name).and_then(Node::text);
        text.is_some_and(|text| text.eq_ignore_ascii_case(word))
    };
    if kind == "http" && !has("scheme", "bearer") {
        return Err("only bearer tokens are supported by this format");
    }
    if kind == "apiKey" && (has("in", "cookie") || has("location", "cookie")) {
        return Err("a key in a cookie is not supported by this format");
    }
    let members =
        vec![("type", JsonOutput::Own(format!("\"{kind}\""))), ("id", JsonOutput::Kept(named.key))];
    Ok(Scheme { kind, members, fields: content.members().collect() })
}

/// Returns our name of a property of a scheme.
pub(super) fn field_name(name: &str) -> &str {
    if name == "location" { "in" } else { name }
}

/// Writes a property of a scheme; the word of the token is in lower case here.
pub(super) fn field<'a>(name: &str, value: Node<'a>) -> JsonOutput<'a> {
    if name == "scheme" {
        JsonOutput::Own("\"bearer\"".to_owned())
    } else {
        JsonOutput::Kept(value)
    }
}

/// Writes an endpoint; nothing when its binding cannot be said.
pub(super) fn interface(value: Node<'_>) -> Option<JsonOutput<'_>> {
    let binding = value.get("protocolBinding").or_else(|| value.get("transport"))?;
    let word = match binding.text()?.as_ref() {
        "HTTP+JSON" => "\"HTTP+JSON\"",
        "GRPC" | "gRPC" => "\"gRPC\"",
        "WebSocket" => "\"WebSocket\"",
        _ => return None,
    };
    let version = value.get("protocolVersion").and_then(Node::text);
    let version = match version.as_deref() {
        Some("0.3" | "0.3.0") => "\"0.3\"",
        Some("1.2") => "\"1.2\"",
        Some(_) => "\"1.0\"",
        // Before 1.0 interfaces had no version of their own.
        None => "\"0.3\"",
    };
    Some(JsonOutput::Object(vec![
        ("url", JsonOutput::Kept(value.get("url")?)),
        ("protocolBinding", JsonOutput::Own(word.to_owned())),
        ("protocolVersion", JsonOutput::Own(version.to_owned())),
    ]))
}

/// Writes requirements without the wrappers of official cards from 1.0 on.
pub(super) fn requirements(value: Node<'_>) -> JsonOutput<'_> {
    if value.kind() != Type::Array {
        return JsonOutput::Kept(value);
    }
    let unwrapped = value.items().map(|item| match item.get("schemes") {
        Some(schemes) => {
            let scopes = schemes.members().map(|scope| {
                let list = scope
                    .value
                    .get("list")
                    .map_or_else(|| "[]".to_owned(), |list| list.raw().to_owned());
                format!("{}: {list}", scope.key.raw())
            });
            JsonOutput::Own(format!("{{{}}}", scopes.collect::<Vec<_>>().join(", ")))
        }
        None => JsonOutput::Kept(item),
    });
    JsonOutput::List(unwrapped.collect())
}
