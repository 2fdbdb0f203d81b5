//! What cards are told by: the signs, each with the kinds that have it and its weight.

use crate::card::node::{Node, Type};

/// A bit for each kind.
pub(super) const CURRENT: u8 = 1;
pub(super) const LEGACY: u8 = 2;
pub(super) const V02: u8 = 4;
pub(super) const V03: u8 = 8;
pub(super) const V1: u8 = 16;
const BEFORE_1: u8 = V02 | V03;
const OFFICIAL: u8 = V02 | V03 | V1;
const OURS: u8 = CURRENT | LEGACY;

/// The weight of what hardly any other kind has.
pub(super) const STRONG: u32 = 3;
/// The weight of what authors of other kinds write by mistake as well.
const PLAIN: u32 = 2;
/// The weight of what several kinds have.
const WEAK: u32 = 1;

/// Something to look for.
pub(super) struct Sign {
    /// Where; `*` stands for the first part there is.
    pub(super) pointer: &'static str,
    pub(super) is_it: fn(Node<'_>) -> bool,
    pub(super) kinds: u8,
    pub(super) weight: u32,
    pub(super) says: &'static str,
}

const fn sign(pointer: &'static str, kinds: u8, weight: u32, says: &'static str) -> Sign {
    Sign { pointer, is_it: |_| true, kinds, weight, says }
}

const fn which(is_it: fn(Node<'_>) -> bool, sign: Sign) -> Sign {
    Sign { is_it, ..sign }
}

const ENDPOINTS: &str = "the current variant and official cards from 1.0 on list endpoints here";
const FLAG: &str = "the legacy variant and official cards before 1.0 have this flag";
const WRAPPED: &str = "official cards from 1.0 on wrap schemes like this";
const ONLY_CURRENT: &str = "only the current variant has it";
const ONLY_LEGACY: &str = "only the legacy variant has it";

pub(super) static SIGNS: [Sign; 42] = [
    which(
        |node| is_text(node, &["1.0", "1.2"]),
        sign("/protocolVersion", CURRENT, PLAIN, "this is a version of the current variant"),
    ),
    which(
        |node| is_text(node, &["0.3"]),
        sign("/protocolVersion", LEGACY, PLAIN, "this is the version of the legacy variant"),
    ),
    which(
        |node| begins(node, "0.3."),
        sign("/protocolVersion", V03, STRONG, "official cards of 0.3 have this version"),
    ),
    which(
        |node| begins(node, "0.2."),
        sign("/protocolVersion", V02, STRONG, "official cards of 0.2 have this version"),
    ),
    sign("/url", OURS | BEFORE_1, WEAK, "all cards have it here, except official ones from 1.0 on"),
    sign(
        "/preferredTransport",
        BEFORE_1,
        STRONG,
        "official cards before 1.0 name their transport here",
    ),
    sign(
        "/additionalInterfaces",
        BEFORE_1,
        STRONG,
        "official cards before 1.0 list endpoints here",
    ),
    sign("/supportedInterfaces", CURRENT | V1, PLAIN, ENDPOINTS),
    sign("/supportedInterfaces/*/tenant", V1, PLAIN, "official cards from 1.0 on have tenants"),
    sign(
        "/supportedInterfaces/*/transport",
        BEFORE_1,
        PLAIN,
        "official cards before 1.0 name bindings so",
    ),
    which(
        |node| is_text(node, &["JSONRPC"]),
        sign(
            "/supportedInterfaces/*/protocolBinding",
            V1,
            STRONG,
            "only official cards have this binding",
        ),
    ),
    which(
        |node| is_text(node, &["WebSocket"]),
        sign(
            "/supportedInterfaces/*/protocolBinding",
            CURRENT,
            STRONG,
            "official cards do not have this binding",
        ),
    ),
    sign("/provider/organization", OFFICIAL, PLAIN, "official cards name the provider here"),
    sign("/provider/name", OURS, PLAIN, "both variants of this format name the provider here"),
    which(
        |node| node.kind() == Type::Object,
        sign("/securitySchemes", OFFICIAL, STRONG, "official cards name schemes in an object"),
    ),
    which(
        |node| node.kind() == Type::Array,
        sign("/securitySchemes", CURRENT, STRONG, "the current variant lists schemes"),
    ),
    sign("/securitySchemes/*/apiKeySecurityScheme", V1, STRONG, WRAPPED),
    sign("/securitySchemes/*/httpAuthSecurityScheme", V1, STRONG, WRAPPED),
    sign("/securitySchemes/*/oauth2SecurityScheme", V1, STRONG, WRAPPED),
    sign("/securitySchemes/*/openIdConnectSecurityScheme", V1, STRONG, WRAPPED),
    sign("/securitySchemes/*/mtlsSecurityScheme", V1, STRONG, WRAPPED),
    which(
        |node| is_text(node, &["mutualTLS"]),
        sign("/securitySchemes/*/type", V03, PLAIN, "official cards of 0.3 have such schemes"),
    ),
    sign("/securityRequirements", V1, STRONG, "official cards from 1.0 on require schemes here"),
    sign(
        "/security",
        CURRENT | BEFORE_1,
        WEAK,
        "official cards from 1.0 on have securityRequirements instead",
    ),
    sign("/capabilities/extensions", OFFICIAL, PLAIN, "official cards have extensions there"),
    sign("/capabilities/mcpCompatible", OURS, PLAIN, "official cards do not have it"),
    sign("/capabilities/backgroundJobs", OURS, PLAIN, "official cards do not have it"),
    sign(
        "/capabilities/extendedAgentCard",
        OURS | V1,
        WEAK,
        "official cards before 1.0 do not have it",
    ),
    sign("/supportsAuthenticatedExtendedCard", LEGACY | BEFORE_1, PLAIN, FLAG),
    sign("/signatures/*/protected", V03 | V1, STRONG, "official signatures are detached JWS"),
    sign("/signatures/*/jws", CURRENT, STRONG, "signatures of the current variant are compact JWS"),
    sign("/skills/*/security", V03, PLAIN, "skills of official cards of 0.3 have it"),
    sign(
        "/skills/*/securityRequirements",
        V1,
        PLAIN,
        "skills of official cards from 1.0 on have it",
    ),
    sign("/transport", CURRENT, STRONG, ONLY_CURRENT),
    sign("/modelHints", CURRENT, STRONG, ONLY_CURRENT),
    sign("/signedAt", CURRENT, STRONG, ONLY_CURRENT),
    sign("/extensions", CURRENT, STRONG, ONLY_CURRENT),
    which(
        |node| node.kind() == Type::Array,
        sign("/authentication", LEGACY, STRONG, "the legacy variant lists schemes there"),
    ),
    sign("/defaultInputMode", LEGACY, STRONG, ONLY_LEGACY),
    sign("/defaultOutputMode", LEGACY, STRONG, ONLY_LEGACY),
    sign("/defaultInputModes", CURRENT | OFFICIAL, WEAK, "the legacy variant does not have it"),
    sign("/defaultOutputModes", CURRENT | OFFICIAL, WEAK, "the legacy variant does not have it"),
];

/// What the properties of a card must weigh, so that a text is taken for one: more than `name`, `version`
/// and `description`, which many other documents have.
pub(super) const CARD_MIN: u32 = 5;

/// Properties of cards, each with its weight.
pub(super) static OF_CARDS: [(&str, u32); 18] = [
    ("name", 1),
    ("description", 1),
    ("version", 1),
    ("url", 2),
    ("protocolVersion", 2),
    ("capabilities", 1),
    ("provider", 1),
    ("skills", 2),
    ("authentication", 2),
    ("securitySchemes", 1),
    ("securityRequirements", 2),
    ("preferredTransport", 3),
    ("additionalInterfaces", 3),
    ("supportedInterfaces", 3),
    ("defaultInputMode", 3),
    ("defaultInputModes", 3),
    ("defaultOutputModes", 3),
    ("supportsAuthenticatedExtendedCard", 3),
];

fn is_text(node: Node<'_>, words: &[&str]) -> bool {
    node.text().is_some_and(|text| words.contains(&text.as_ref()))
}

fn begins(node: Node<'_>, start: &str) -> bool {
    node.text().is_some_and(|text| text.starts_with(start))
}
