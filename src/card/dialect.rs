//! Which kind of card a text is, whether valid or not, and by what it can be told. The shape decides
//! before the version does: cards that call themselves 1.0 are of several kinds.

use super::node::{Node, Type};
use super::position::{Position, Reader};
use super::shape::Variant;
use super::{diagnose, syntax};

words! {
    /// The kinds of cards that are about.
    Dialect {
        /// Ours, the current variant.
        Current => "current",
        /// Ours, the legacy variant.
        Legacy => "legacy",
        /// Official A2A 0.2.
        Official02 => "a2a-0.2",
        /// Official A2A 0.3.
        Official03 => "a2a-0.3",
        /// Official A2A 1.x.
        Official1 => "a2a-1.x",
        /// Official, of two generations at once.
        Hybrid => "hybrid",
        /// Nothing speaks for a card.
        NoCard => "no-card",
    }
}

impl Dialect {
    /// Returns what a person calls it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Current => "a card of the current variant",
            Self::Legacy => "a card of the legacy variant",
            Self::Official02 => "an official A2A card of version 0.2",
            Self::Official03 => "an official A2A card of version 0.3",
            Self::Official1 => "an official A2A card of version 1.x",
            Self::Hybrid => "an official A2A card of two generations at once",
            Self::NoCard => "no agent card",
        }
    }
}

/// Something that speaks for a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// JSON Pointer of what it is.
    pub pointer: &'static str,
    /// Where it stands.
    pub place: Position,
    /// What it says.
    pub says: &'static str,
}

/// What a sign speaks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Official cards before 1.0.
    Older,
    /// Official cards from 1.0 on.
    Newer,
    Current,
    Legacy,
}

/// Where to look, of what type it must be, for whom it speaks, and why.
type Sign = (&'static str, Option<Type>, Side, &'static str);

/// The signs, each with its pointer; `*` stands for the first part there is.
const SIGNS: [Sign; 22] = [
    (
        "/preferredTransport",
        None,
        Side::Older,
        "official cards before 1.0 name their transport here",
    ),
    ("/additionalInterfaces", None, Side::Older, "official cards before 1.0 list endpoints here"),
    ("/provider/organization", None, Side::Older, "official cards name the provider here"),
    (
        "/securitySchemes",
        Some(Type::Object),
        Side::Older,
        "official cards name schemes in an object",
    ),
    ("/securityRequirements", None, Side::Newer, "official cards from 1.0 on require schemes here"),
    ("/supportedInterfaces/*/tenant", None, Side::Newer, "official cards from 1.0 on have tenants"),
    ("/securitySchemes/*/apiKeySecurityScheme", None, Side::Newer, WRAPPED),
    ("/securitySchemes/*/httpAuthSecurityScheme", None, Side::Newer, WRAPPED),
    ("/securitySchemes/*/oauth2SecurityScheme", None, Side::Newer, WRAPPED),
    ("/securitySchemes/*/openIdConnectSecurityScheme", None, Side::Newer, WRAPPED),
    ("/capabilities/extensions", None, Side::Older, "official cards have extensions there"),
    ("/signatures/*/protected", None, Side::Older, "official signatures are detached JWS"),
    ("/transport", None, Side::Current, "only the current variant has it"),
    ("/modelHints", None, Side::Current, "only the current variant has it"),
    ("/signedAt", None, Side::Current, "only the current variant has it"),
    ("/extensions", None, Side::Current, "only the current variant has it"),
    ("/securitySchemes", Some(Type::Array), Side::Current, "the current variant lists schemes"),
    ("/signatures/*/jws", None, Side::Current, "signatures of the current variant are compact JWS"),
    ("/authentication", Some(Type::Array), Side::Legacy, "the legacy variant lists schemes there"),
    ("/defaultInputMode", None, Side::Legacy, "only the legacy variant has it"),
    ("/defaultOutputMode", None, Side::Legacy, "only the legacy variant has it"),
    ("/capabilities/mcpCompatible", None, Side::Current, "official cards do not have it"),
];

const WRAPPED: &str = "official cards from 1.0 on wrap schemes like this";

/// Names that speak for a card at all.
const OF_CARDS: [&str; 6] =
    ["url", "skills", "capabilities", "version", "supportedInterfaces", "description"];

/// Returns the kind of a text and what speaks for it; nothing when it is no JSON object.
#[must_use]
pub fn dialect(bytes: &[u8]) -> Option<(Dialect, Vec<Evidence>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_object = syntax::read(text, 0).is_json && Node::root(text, 0).kind() == Type::Object;
    let root = is_object.then(|| Node::root(text, 0))?;
    let mut found: Vec<(Side, usize, Evidence)> = SIGNS
        .iter()
        .filter_map(|(pointer, kind, side, says)| {
            let node =
                at(root, pointer).filter(|node| kind.is_none_or(|kind| node.kind() == kind))?;
            // Lines are counted below: once the places are sorted, one walk over the text is enough.
            let place = Position { line: 1, column: 1, offset: node.begin() };
            Some((*side, node.begin(), Evidence { pointer, place, says }))
        })
        .collect();
    found.sort_by_key(|(_, begin, _)| *begin);
    let dialect = decide(root, &found);
    let mut reader = Reader::new(text);
    let evidence = found
        .into_iter()
        .map(|(_, begin, evidence)| Evidence { place: reader.place(begin), ..evidence });
    Some((dialect, evidence.collect()))
}

fn decide(root: Node<'_>, found: &[(Side, usize, Evidence)]) -> Dialect {
    let version = root.get("protocolVersion").and_then(Node::text);
    let version = version.as_deref();
    let has = |side: Side| found.iter().any(|(other, _, _)| *other == side);
    let has_interfaces = root.get("supportedInterfaces").is_some();
    // From 1.0 on, official cards have version and address in their interfaces alone.
    let newer =
        has(Side::Newer) || (has_interfaces && version.is_none() && root.get("url").is_none());
    let named = Variant::ALL
        .iter()
        .copied()
        .find(|variant| version.is_some_and(|version| variant.versions().contains(&version)));
    // Many other documents have one of these names.
    if OF_CARDS.iter().filter(|name| root.get(name).is_some()).count() < 2 {
        return Dialect::NoCard;
    }
    match (has(Side::Older), newer) {
        (true, true) => Dialect::Hybrid,
        (false, true) => Dialect::Official1,
        (true, false) if has_interfaces => Dialect::Hybrid,
        (true, false) if version.is_some_and(|version| version.starts_with("0.3")) => {
            Dialect::Official03
        }
        (true, false) => Dialect::Official02,
        (false, false) if version.is_some_and(is_official) && !has(Side::Current) => {
            let is_third = version.is_some_and(|version| version.starts_with("0.3"));
            if is_third { Dialect::Official03 } else { Dialect::Official02 }
        }
        (false, false) => match named.unwrap_or_else(|| diagnose::meant(root)) {
            Variant::Current => Dialect::Current,
            Variant::Legacy => Dialect::Legacy,
        },
    }
}

/// Says whether a version is one of official cards before 1.0, such as `0.2.5`.
fn is_official(version: &str) -> bool {
    version.starts_with("0.") && version.matches('.').count() == 2
}

fn at<'a>(root: Node<'a>, pointer: &str) -> Option<Node<'a>> {
    pointer.split('/').skip(1).try_fold(root, |node, step| match step {
        "*" => node.items().next().or_else(|| node.members().next().map(|member| member.value)),
        name => node.get(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_decides_before_the_version() {
        const BASE: &str = r#""name":"n","description":"d","version":"1""#;
        for (rest, expected) in [
            (r#","protocolVersion":"1.0","url":"a:b""#, Dialect::Current),
            (r#","protocolVersion":"0.3","url":"a:b""#, Dialect::Legacy),
            (r#","url":"a:b","authentication":[]"#, Dialect::Legacy),
            (r#","protocolVersion":"0.2.6","url":"a:b""#, Dialect::Official02),
            (r#","url":"a:b","provider":{"organization":"o"}"#, Dialect::Official02),
            (
                r#","protocolVersion":"0.3.0","url":"a:b","preferredTransport":"GRPC""#,
                Dialect::Official03,
            ),
            (r#","supportedInterfaces":[{}]"#, Dialect::Official1),
            (r#","protocolVersion":"1.0","securityRequirements":[]"#, Dialect::Official1),
            (r#","supportedInterfaces":[],"preferredTransport":"x""#, Dialect::Hybrid),
        ] {
            let text = format!("{{{BASE}{rest}}}");
            assert_eq!(dialect(text.as_bytes()).unwrap().0, expected, "{text}");
        }
        assert_eq!(dialect(b"{\"dependencies\":{}}").unwrap().0, Dialect::NoCard);
        assert_eq!(dialect(b"[]"), None);
    }
}
