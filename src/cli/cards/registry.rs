//! What the commands about registered cards share: names, entity tags, and what a refusal means to the
//! person who typed.

use std::str::FromStr as _;

use http::HeaderMap;
use http::header::{HeaderValue, IF_MATCH, IF_NONE_MATCH};

use crate::api::AgentCard;
use crate::cli::client::Failure;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::domain::agent_card::CardName;
use crate::domain::digest::Digest;

/// Where the service keeps them.
pub(super) const PATH: &str = "/api/v1/agent-cards";

pub(super) fn path(name: &CardName) -> String {
    format!("{PATH}/{name}")
}

/// Reads a name.
pub(super) fn name(text: &str) -> Result<CardName, String> {
    CardName::from_str(text).map_err(|why| why.to_string())
}

/// Reads an entity tag: the digest, as the list shows it, or quoted, as `ETag` does.
pub(super) fn tag(text: &str) -> Result<Digest, String> {
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Digest::from_str(quoted.unwrap_or(text))
        .map_err(|why| format!("{why}; use the digest in the list, or the ETag of the card"))
}

/// Returns the header that makes a write conditional.
pub(super) fn condition(if_match: Option<Digest>, create: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(digest) = if_match {
        let value = HeaderValue::from_str(&format!("\"{digest}\""));
        headers.insert(IF_MATCH, value.expect("a digest is hexadecimal digits"));
    }
    if create {
        headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
    }
    headers
}

/// Returns what is known of a card, for people.
pub(super) fn facts(card: AgentCard) -> Vec<(&'static str, String)> {
    vec![
        ("name", card.name.to_string()),
        ("variant", card.variant),
        ("protocol version", card.protocol_version),
        ("digest", card.digest.to_string()),
        ("bytes", card.size.to_string()),
        ("revision", card.revision.to_string()),
        ("changed", card.updated_at.to_string()),
        ("by", card.updated_by),
    ]
}

/// Says why the service refused something about a card under this condition, and what to do.
pub(super) fn refused(failure: Failure, name: &CardName, condition: &HeaderMap) -> Error {
    let Failure::Refused { problem, .. } = &failure else { return failure.into() };
    let (exit, message, hints) = match problem.outcome.as_ref() {
        "not_found" => (
            Exit::NotFound,
            format!("no card is registered as {name}"),
            vec!["list the registered cards: svcctl cards list".to_owned()],
        ),
        "precondition_failed" if condition.contains_key(IF_NONE_MATCH) => (
            Exit::PreconditionFailed,
            format!("a card is already registered as {name}; nothing was changed"),
            vec![
                format!("show the registered card: svcctl cards show {name}"),
                "to replace it, omit --create".to_owned(),
            ],
        ),
        "precondition_failed" => (
            Exit::PreconditionFailed,
            format!(
                "no card with the digest of --if-match is registered as {name}; nothing was changed"
            ),
            vec![
                format!("show the registered card: svcctl cards show {name}"),
                "to get the current digest for --if-match: svcctl cards list -o wide".to_owned(),
            ],
        ),
        "invalid_card" => (
            Exit::Failed,
            "the card is not valid, so it was not registered".to_owned(),
            vec!["explain a code: svcctl cards codes CODE".to_owned()],
        ),
        "registry_full" => (
            Exit::Failed,
            "the maximum number of cards is registered".to_owned(),
            vec!["delete a card first: svcctl cards list; svcctl cards delete NAME".to_owned()],
        ),
        _ => return failure.into(),
    };
    let message = format!("{message} ({}, HTTP {})", problem.outcome, problem.status);
    hints.into_iter().fold(Error::new(exit, message), Error::hint).problem(problem.clone())
}
