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
    pub(super) change: Change,
    pub(super) advice: &'static str,
}

const fn relative(
    shape: &'static str,
    name: &'static str,
    instead: &'static [&'static str],
    change: Change,
    advice: &'static str,
) -> Relative {
    Relative { shape, name, instead, change, advice }
}

use Change::{Remove, Rename, Reshape};

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
    relative("provider", "organization", &["name"], Rename, "write name"),
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
    relative("interface", "transport", &["protocolBinding"], Rename, "write protocolBinding"),
    relative("interface", "tenant", &[], Remove, "this format has no such property: remove it"),
    relative(
        "skill",
        "security",
        &[],
        Remove,
        "security is a property of the whole card: leave it out here",
    ),
    relative(
        "skill",
        "securityRequirements",
        &[],
        Remove,
        "security is a property of the whole card: leave it out here",
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
        "mutual TLS is not supported by this format: leave it out",
    ),
    relative("scheme", "location", &["in"], Rename, "write in"),
];

/// Properties of one variant in a card of the other.
static OTHER_VARIANT: [Relative; 15] = [
    relative("current", "authentication", &[], Rename, "write securitySchemes"),
    relative("current", "defaultInputMode", &[], Reshape, "write defaultInputModes, an array"),
    relative("current", "defaultOutputMode", &[], Reshape, "write defaultOutputModes, an array"),
    relative(
        "current",
        "supportsAuthenticatedExtendedCard",
        &[],
        Reshape,
        "write capabilities.extendedAgentCard",
    ),
    relative("legacy", "defaultInputModes", &[], Reshape, "write defaultInputMode, one string"),
    relative("legacy", "defaultOutputModes", &[], Reshape, "write defaultOutputMode, one string"),
    relative("legacy", "securitySchemes", &[], Rename, "write authentication"),
    relative("legacy", "documentationUrl", &[], Remove, ONLY_CURRENT),
    relative("legacy", "extensions", &[], Remove, ONLY_CURRENT),
    relative("legacy", "modelHints", &[], Remove, ONLY_CURRENT),
    relative("legacy", "protocolBinding", &[], Remove, ONLY_CURRENT),
    relative("legacy", "security", &[], Remove, ONLY_CURRENT),
    relative("legacy", "signatures", &[], Remove, ONLY_CURRENT),
    relative("legacy", "signedAt", &[], Remove, ONLY_CURRENT),
    relative("legacy", "supportedInterfaces", &[], Remove, ONLY_CURRENT),
];

const ONLY_CURRENT: &str = "leave it out, or make the card current: \"protocolVersion\": \"1.0\"";

/// Returns what the official card means by a property that this shape does not have.
pub(super) fn official(shape: &Shape, name: &str) -> Option<&'static Relative> {
    let is_here = |title: &str| {
        shape.title == title || (title == "scheme" && shape.title.ends_with("scheme"))
    };
    OFFICIAL.iter().find(|relative| relative.name == name && is_here(relative.shape))
}

/// Returns what to write for a property of the other variant, and how big the change is.
pub(super) fn of_other_variant(variant: Variant, name: &str) -> Option<(&'static str, Change)> {
    variant.other().shape().find(name.as_bytes())?;
    let known =
        OTHER_VARIANT.iter().find(|known| known.name == name && known.shape == variant.as_str());
    Some(known.map_or((ONLY_CURRENT, Remove), |known| (known.advice, known.change)))
}

/// Values of official cards, or of the wider world, that is not supported by this format.
static VALUES: [(&str, &str, &str); 6] = [
    (
        "protocolBinding",
        "JSONRPC",
        "JSON-RPC is used in official A2A cards and is not supported by this format",
    ),
    ("type", "oauth2", "describe the token as \"type\": \"http\", \"scheme\": \"bearer\""),
    ("type", "mutualTLS", "mutual TLS is not supported by this format: leave the scheme out"),
    ("in", "cookie", "a key in a cookie is not supported by this format"),
    ("scheme", "basic", "basic authentication is not supported by this format"),
    ("scheme", "digest", "digest authentication is not supported by this format"),
];

/// Returns what to do about a value that is known, but not here.
pub(super) fn value(name: &str, value: &str) -> Option<&'static str> {
    let known = VALUES.iter().find(|known| known.0 == name && known.1.eq_ignore_ascii_case(value));
    known.map(|known| known.2)
}
