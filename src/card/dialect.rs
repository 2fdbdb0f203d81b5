//! Which kind of card a text is, whether valid or not, and by what it can be told. All signs are weighed;
//! the version is one of them: cards that call themselves 1.0 are of several kinds.
//!
//! The weights, and when a card is a mixture: `docs/decisions/102-card-evidence.md`.

use std::cmp::Ordering;

use super::convert::{field, present};
use super::node::Node;
use super::position::{Position, Reader};
use super::shape::Variant;
use super::{diagnose, spelling, syntax};

mod signs;

use signs::{CARD_MIN, CURRENT, LEGACY, OF_CARDS, SIGNS, STRONG, Sign, V1, V02, V03};

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
    /// Returns whether it is a kind of official A2A card.
    #[must_use]
    pub const fn is_official(self) -> bool {
        matches!(self, Self::Official02 | Self::Official03 | Self::Official1 | Self::Hybrid)
    }

    /// Returns what a person calls it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Current => "a card of the current variant",
            Self::Legacy => "a card of the legacy variant",
            Self::Official02 => "an official A2A card of version 0.2",
            Self::Official03 => "an official A2A card of version 0.3",
            Self::Official1 => "an official A2A card of version 1.x",
            Self::Hybrid => "a mixture of official A2A cards of two versions",
            Self::NoCard => "not an agent card",
        }
    }
}

/// Something that speaks for or against a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// JSON Pointer of what it is.
    pub pointer: &'static str,
    /// Where it stands.
    pub place: Position,
    /// What it says.
    pub says: &'static str,
    /// It speaks for the kind of the card, and not only for others.
    pub supports: bool,
}

/// A sign that was found: the kinds that it speaks for, and how much.
struct Found {
    kinds: u8,
    weight: u32,
    evidence: Evidence,
}

/// Returns the kind of a text and what speaks for and against it; `None` when it is no JSON object.
#[must_use]
pub fn dialect(bytes: &[u8]) -> Option<(Dialect, Vec<Evidence>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let root = syntax::object(text)?;
    let mut found: Vec<Found> = SIGNS.iter().filter_map(|sign| look(root, sign)).collect();
    found.extend(missing(root));
    found.sort_by_key(|found| found.evidence.place.offset);
    let dialect = decide(root, &found);
    let kinds = match dialect {
        Dialect::Current => CURRENT,
        Dialect::Legacy => LEGACY,
        Dialect::Official02 => V02,
        Dialect::Official03 => V03,
        Dialect::Official1 => V1,
        Dialect::Hybrid => V02 | V03 | V1,
        Dialect::NoCard => 0,
    };
    let mut reader = Reader::new(text);
    let evidence = found.into_iter().map(|found| Evidence {
        place: reader.place(found.evidence.place.offset),
        supports: found.kinds & kinds != 0,
        ..found.evidence
    });
    Some((dialect, evidence.collect()))
}

fn look(root: Node<'_>, sign: &Sign) -> Option<Found> {
    let node = at(root, sign.pointer).filter(|node| (sign.is_it)(*node))?;
    Some(found_at(node, sign.pointer, sign.kinds, sign.weight, sign.says))
}

fn found_at(
    node: Node<'_>,
    pointer: &'static str,
    kinds: u8,
    weight: u32,
    says: &'static str,
) -> Found {
    // Lines are counted later: once the places are sorted, one walk over the text is enough.
    let place = Position { line: 1, column: 1, offset: node.begin() };
    Found { kinds, weight, evidence: Evidence { pointer, place, says, supports: false } }
}

/// Returns what the absence of a property says, placed at what shows that it would be there.
fn missing(root: Node<'_>) -> Vec<Found> {
    let has = |name: &str| field(root, name).is_some();
    let mut found = Vec::new();
    if let Some(list) = field(root, "supportedInterfaces") {
        if !has("url") {
            found.push(found_at(
                list,
                "/url",
                V1,
                3,
                "official cards from 1.0 on have no url here",
            ));
        }
        if !has("protocolVersion") {
            let says = "official cards from 1.0 on have no protocolVersion here";
            found.push(found_at(list, "/protocolVersion", V1, 2, says));
        }
    }
    // These are required in official cards alone, so their authors always write them.
    let required = ["url", "capabilities", "skills", "defaultInputModes"];
    if !has("protocolVersion") && required.into_iter().all(has) {
        let says = "official cards before 0.2.6 have no protocolVersion";
        found.push(found_at(root, "/protocolVersion", V02, 2, says));
    }
    found
}

/// Properties that decide whether an object is a card; no card has so many.
const PROPERTIES_MAX: usize = 1_000;

/// Says whether an object has so much of a card that it must be meant as one.
pub(super) fn resembles_card(node: Node<'_>) -> bool {
    // One walk over the members, because many objects may be asked.
    let mut seen = [false; OF_CARDS.len()];
    for member in present(node).take(PROPERTIES_MAX) {
        let name = member.name();
        let known = OF_CARDS.iter().position(|(known, _)| spelling::is_same(&name, known));
        if let Some(seen) = known.and_then(|known| seen.get_mut(known)) {
            *seen = true;
        }
    }
    let weights = OF_CARDS.iter().zip(seen).filter(|(_, seen)| *seen);
    weights.map(|((_, weight), _)| weight).sum::<u32>() >= CARD_MIN
}

fn decide(root: Node<'_>, found: &[Found]) -> Dialect {
    if !resembles_card(root) {
        return Dialect::NoCard;
    }
    let has = |name: &str| field(root, name).is_some();
    let sum = |is_meant: &dyn Fn(u8) -> bool| -> u32 {
        found.iter().filter(|found| is_meant(found.kinds)).map(|found| found.weight).sum()
    };
    let score = |kind: u8| sum(&|kinds| kinds & kind != 0);
    let ours = score(CURRENT).max(score(LEGACY));
    let older = score(V02).max(score(V03));
    if ours >= older.max(score(V1)) {
        let is_legacy = match score(LEGACY).cmp(&score(CURRENT)) {
            Ordering::Equal => diagnose::meant(root) == Variant::Legacy,
            order => order == Ordering::Greater,
        };
        return if is_legacy { Dialect::Legacy } else { Dialect::Current };
    }
    let only = |kind: u8| sum(&|kinds| kinds & !kind == 0);
    // One strong sign of each, because one mistake of an author makes no second generation.
    let is_newer = only(V1) >= STRONG || has("supportedInterfaces");
    if only(V02 | V03) >= STRONG && is_newer {
        Dialect::Hybrid
    } else if score(V1) >= older {
        Dialect::Official1
    } else if score(V03) > score(V02) {
        Dialect::Official03
    } else {
        Dialect::Official02
    }
}

fn at<'a>(root: Node<'a>, pointer: &str) -> Option<Node<'a>> {
    pointer.split('/').skip(1).try_fold(root, |node, step| match step {
        "*" => node.items().next().or_else(|| present(node).next().map(|member| member.value)),
        name => field(node, name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_signs_are_weighed() {
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
            // Plain cards of 1.x have what older ones have as well.
            (
                r#","supportedInterfaces":[{"url":"a:b","protocolBinding":"JSONRPC"}],
                "provider":{"organization":"o"},"capabilities":{"extensions":[]},
                "securitySchemes":{"k":{"apiKeySecurityScheme":{}}},"signatures":[{"protected":""}]"#,
                Dialect::Official1,
            ),
            // One slip makes no other card of ours.
            (
                r#","protocolVersion":"1.0","url":"a:b","provider":{"organization":"o"}"#,
                Dialect::Current,
            ),
            (
                r#","protocolVersion":"1.0","url":"a:b","signedAt":"","preferredTransport":"GRPC""#,
                Dialect::Current,
            ),
            // As pydantic writes it.
            (
                r#","protocol_version":"0.3.0","url":"a:b","preferred_transport":"JSONRPC",
                "provider":null,"security_schemes":null,"supports_authenticated_extended_card":null"#,
                Dialect::Official03,
            ),
            (
                r#","url":"a:b","capabilities":{},"skills":[],"defaultInputModes":[]"#,
                Dialect::Official02,
            ),
        ] {
            let text = format!("{{{BASE}{rest}}}");
            assert_eq!(dialect(text.as_bytes()).unwrap().0, expected, "{text}");
        }
        for (text, expected) in [
            (r#"{"dependencies":{}}"#, Dialect::NoCard),
            (r#"{"name":"n","version":"1","description":"d","capabilities":{}}"#, Dialect::NoCard),
            (r#"{"protocolVersion":"1.0","capabilities":{},"serverInfo":{}}"#, Dialect::NoCard),
            (r#"{"name":"n","authentication":[],"defaultInputMode":"m"}"#, Dialect::Legacy),
            (r#"{"name":"n","url":"a:b","authentication":[]}"#, Dialect::Legacy),
        ] {
            assert_eq!(dialect(text.as_bytes()).unwrap().0, expected, "{text}");
        }
        assert_eq!(dialect(b"[]"), None);
    }

    #[test]
    fn what_speaks_against_it_is_shown_as_well() {
        let text = br#"{"protocolVersion":"1.0","url":"a:b","name":"n","signedAt":"",
            "provider":{"organization":"o"}}"#;
        let (_, evidence) = dialect(text).unwrap();
        let shown: Vec<_> = evidence.iter().map(|sign| (sign.pointer, sign.supports)).collect();
        assert_eq!(
            shown,
            [
                ("/protocolVersion", true),
                ("/url", true),
                ("/signedAt", true),
                ("/provider/organization", false),
            ]
        );
    }
}
