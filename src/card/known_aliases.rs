//! What cards of other kinds have in the same place: the properties only the other variant has, and
//! the official A2A card of its versions 0.2 to 1.x, each with what to write instead.

use super::finding::Change;
use super::shape::{Shape, Variant};

/// A property that is known, but not here.
#[derive(Debug)]
pub(super) struct Relative {
    /// Title of the shape it is found in; `scheme` stands for all of them.
    shape: &'static str,
    pub(super) name: &'static str,
    /// Required properties that it stands for, which are then not missing as well.
    pub(super) instead: &'static [&'static str],
    pub(super) mend: Mend,
}

/// What to do about such a property.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mend {
    /// It has this name here.
    Rename(&'static str),
    /// It has this name here, and its string is an array.
    Listed(&'static str),
    /// It has this name here, and its array is one string.
    Single(&'static str),
    /// The author has to decide something.
    Advice(Change, &'static str),
}

const fn relative(
    shape: &'static str,
    name: &'static str,
    instead: &'static [&'static str],
    change: Change,
    advice: &'static str,
) -> Relative {
    Relative { shape, name, instead, mend: Mend::Advice(change, advice) }
}

/// A property that is the same under another name.
const fn alias(
    shape: &'static str,
    name: &'static str,
    instead: &'static [&'static str; 1],
) -> Relative {
    let [to] = instead;
    Relative { shape, name, instead, mend: Mend::Rename(to) }
}

/// A property that has another name and another form.
const fn reshaped(shape: &'static str, name: &'static str, mend: Mend) -> Relative {
    Relative { shape, name, instead: &[], mend }
}

use Change::{Remove, Reshape};

/// Properties of the official A2A card.
static OFFICIAL: [Relative; 20] = [
    relative(
        "card",
        "preferredTransport",
        &[],
        Reshape,
        "describe the endpoint in supportedInterfaces, or name it in protocolBinding",
    ),
    relative(
        "card",
        "additionalInterfaces",
        &[],
        Reshape,
        "write supportedInterfaces, each with url, protocolBinding and protocolVersion",
    ),
    relative(
        "card",
        "securityRequirements",
        &[],
        Reshape,
        "write security: an array of objects from scheme names to arrays of scopes",
    ),
    alias("provider", "organization", &["name"]),
    relative(
        "capabilities",
        "extensions",
        &[],
        Reshape,
        "move it to extensions of the card itself, each with uri, required and version",
    ),
    relative(
        "extension",
        "description",
        &[],
        Remove,
        "this format has no such property: remove it",
    ),
    relative("extension", "params", &[], Remove, "this format has no such property: remove it"),
    alias("interface", "transport", &["protocolBinding"]),
    relative("interface", "tenant", &[], Remove, "this format has no such property: remove it"),
    relative(
        "skill",
        "security",
        &[],
        Remove,
        "security is a property of the whole card: omit it here",
    ),
    relative(
        "skill",
        "securityRequirements",
        &[],
        Remove,
        "security is a property of the whole card: omit it here",
    ),
    relative(
        "signature",
        "protected",
        &["algorithm", "keyId"],
        Reshape,
        "sign the card again: a signature in this format has algorithm, keyId and jws",
    ),
    relative(
        "signature",
        "signature",
        &["jws"],
        Reshape,
        "sign the card again: a signature in this format has algorithm, keyId and jws",
    ),
    relative("signature", "header", &[], Remove, "this format has no such property: remove it"),
    relative(
        "scheme",
        "apiKeySecurityScheme",
        &["type"],
        Reshape,
        "write its content here, with \"type\": \"apiKey\", an id, and in for location",
    ),
    relative(
        "scheme",
        "httpAuthSecurityScheme",
        &["type"],
        Reshape,
        "write its content here, with \"type\": \"http\" and an id",
    ),
    relative(
        "scheme",
        "openIdConnectSecurityScheme",
        &["type"],
        Reshape,
        "write its content here, with \"type\": \"openIdConnect\" and an id",
    ),
    relative(
        "scheme",
        "oauth2SecurityScheme",
        &["type"],
        Remove,
        "OAuth 2 is not supported by this format: describe the token as http with scheme bearer",
    ),
    relative(
        "scheme",
        "mtlsSecurityScheme",
        &["type"],
        Remove,
        "mutual TLS is not supported by this format: omit it",
    ),
    alias("scheme", "location", &["in"]),
];

/// Properties of one variant in a card of the other.
static OTHER_VARIANT: [Relative; 15] = [
    alias("current", "authentication", &["securitySchemes"]),
    reshaped("current", "defaultInputMode", Mend::Listed("defaultInputModes")),
    reshaped("current", "defaultOutputMode", Mend::Listed("defaultOutputModes")),
    relative(
        "current",
        "supportsAuthenticatedExtendedCard",
        &[],
        Reshape,
        "write capabilities.extendedAgentCard",
    ),
    reshaped("legacy", "defaultInputModes", Mend::Single("defaultInputMode")),
    reshaped("legacy", "defaultOutputModes", Mend::Single("defaultOutputMode")),
    alias("legacy", "securitySchemes", &["authentication"]),
    relative("legacy", "documentationUrl", &[], Remove, ONLY_CURRENT),
    relative("legacy", "extensions", &[], Remove, ONLY_CURRENT),
    relative("legacy", "modelHints", &[], Remove, ONLY_CURRENT),
    relative("legacy", "protocolBinding", &[], Remove, ONLY_CURRENT),
    relative("legacy", "security", &[], Remove, ONLY_CURRENT),
    relative("legacy", "signatures", &[], Remove, ONLY_CURRENT),
    relative("legacy", "signedAt", &[], Remove, ONLY_CURRENT),
    relative("legacy", "supportedInterfaces", &[], Remove, ONLY_CURRENT),
];

const ONLY_CURRENT: &str = "omit it, or make the card current: \"protocolVersion\": \"1.0\"";

/// Returns what the official card means by a property that this shape does not have.
pub(super) fn official(shape: &Shape, name: &str) -> Option<&'static Relative> {
    let is_here = |title: &str| {
        shape.title == title || (title == "scheme" && shape.title.ends_with("scheme"))
    };
    OFFICIAL.iter().find(|relative| relative.name == name && is_here(relative.shape))
}

/// Returns what to do about a property of the other variant.
pub(super) fn of_other_variant(variant: Variant, name: &str) -> Option<Mend> {
    variant.other().shape().find(name.as_bytes())?;
    let known =
        OTHER_VARIANT.iter().find(|known| known.name == name && known.shape == variant.as_str());
    Some(known.map_or(Mend::Advice(Remove, ONLY_CURRENT), |known| known.mend))
}

/// Values of official cards, or of the wider world, that is not supported by this format.
static VALUES: [(&str, &str, &str); 6] = [
    (
        "protocolBinding",
        "JSONRPC",
        "JSON-RPC is used in official A2A cards and is not supported by this format",
    ),
    ("type", "oauth2", "describe the token as \"type\": \"http\", \"scheme\": \"bearer\""),
    ("type", "mutualTLS", "mutual TLS is not supported by this format: omit the scheme"),
    ("in", "cookie", "a key in a cookie is not supported by this format"),
    ("scheme", "basic", "basic authentication is not supported by this format"),
    ("scheme", "digest", "digest authentication is not supported by this format"),
];

/// Returns what to do about a value that is known, but not here.
pub(super) fn value(name: &str, value: &str) -> Option<&'static str> {
    let known = VALUES.iter().find(|known| known.0 == name && known.1.eq_ignore_ascii_case(value));
    known.map(|known| known.2)
}
