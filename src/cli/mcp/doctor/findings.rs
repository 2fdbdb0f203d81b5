//! What may be wrong, by stable words, each with the next step.

use serde::Serialize;

/// What is wrong; in JSON by its name in snake case, which stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Code {
    /// A setting of this environment cannot be used.
    SettingRefused,
    /// A name in this environment looks like a slip.
    SettingIgnored,
    /// The daemon does not answer.
    DaemonAway,
    /// The daemon runs with another setting than this environment has.
    DaemonDiffers,
    /// Nothing answers at the address of `/mcp`.
    EndpointUnreachable,
    /// What answers there does not let clients in.
    EndpointRefuses,
    /// What answers there is set up differently.
    EndpointDiffers,
    /// Clients are not told where they get a token.
    ChallengeMissing,
    /// Clients get in without a token, though one is asked for.
    TokensNotAsked,
    /// The OAuth metadata cannot be had.
    MetadataUnavailable,
    /// The OAuth metadata says something else.
    MetadataDiffers,
    /// The issuer's own metadata cannot be had, so that clients do not find where to get a token.
    IssuerMetadataUnavailable,
    /// The issuer's own metadata names another issuer, or other keys.
    IssuerMetadataDiffers,
    /// The issuer does not say that it takes PKCE with S256, without which clients of MCP do not go on.
    IssuerPkceMissing,
    /// The keys of the issuer cannot be had.
    KeysUnavailable,
    /// None of them can be used.
    KeysUnusable,
    /// Clocks disagree.
    ClockSkew,
    /// A proxy does not say whose requests it passes on.
    ForwardingMissing,
    /// A proxy passes requests on, which are refused.
    ForwardingRefused,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) code: Code,
    /// What it is, in a sentence.
    pub(super) message: String,
    /// What to do next.
    pub(super) next: String,
}

impl Finding {
    pub(super) fn new(code: Code, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { code, message: message.into(), next: next.into() }
    }
}
