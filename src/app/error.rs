//! Why a use case did not happen, in the caller's terms. Detail of the store stays in the log.

use std::borrow::Cow;
use std::time::Duration;

use crate::card::{BATCH_MAX, ValidationReport};
use crate::domain::agent_card::CARDS_MAX;
use crate::domain::dead_letter::NotReplayable;
use crate::domain::result::ResultRefusal;
use crate::store;

/// A use case did not happen, and changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is not one that can be understood; says what to send instead.
    #[error("{0}")]
    InvalidRequest(Cow<'static, str>),
    /// No credential, or not the right one.
    #[error("the bearer token is missing or not valid")]
    Unauthenticated,
    /// The operator API is not configured.
    #[error(
        "the operator API is off until SVC_OPERATOR_API_TOKEN and SVC_OPERATOR_ACTOR_ID are set"
    )]
    OperatorApiOff,
    /// The forge is not configured.
    #[error(
        "the connection to the forge is off \
        until SVC_WEBHOOK_SECRET, SVC_FORGE_APP_ID and SVC_FORGE_PRIVATE_KEY are set"
    )]
    ForgeOff,
    /// No results are accepted.
    #[error("results are off until SVC_RESULT_ISSUERS or SVC_RESULT_SECRET is set")]
    ResultsOff,
    /// The webhook's signature does not hold.
    #[error("the signature is missing or does not match")]
    BadSignature,
    /// There is no such item in this installation.
    #[error("there is no such item in this installation")]
    NotFound,
    /// There is no such item.
    #[error("there is no such item; see the list")]
    NoSuchItem,
    /// The item must not be replayed.
    #[error("the item must not be replayed")]
    NotReplayable(NotReplayable),
    /// There is nothing to close.
    #[error(
        "there is nothing to close: the item is closed already, or is neither a dead letter nor a reconciliation that was given up"
    )]
    NotOpen,
    /// The key was used for another request.
    #[error("this idempotency key was used for another request")]
    OperationConflict,
    /// What was to be prevented has been begun.
    #[error(
        "the invocation has begun and cannot be denied; later steps that had not begun were cancelled"
    )]
    TooLate,
    /// The result changes nothing.
    #[error("the result cannot be recorded: {}", .0.text())]
    ResultConflict(ResultRefusal),
    /// The media type is not one that is taken.
    #[error("send application/json without a content encoding")]
    UnsupportedMediaType,
    /// The body is declared as neither one card nor several.
    #[error("send application/json or application/x-ndjson without a content encoding")]
    NotCards,
    /// More cards than one request may have.
    #[error("send at most {BATCH_MAX} cards in one request")]
    TooManyCards,
    /// The reports are longer than one answer may be.
    #[error("the reports exceed the maximum size of an answer; send fewer cards in one request")]
    TooMuchToSay,
    /// As many cards are being checked as may be at once.
    #[error("other cards are being checked; retry in a moment")]
    Busy,
    /// No card is registered under this name.
    #[error("no card is registered under this name")]
    NoSuchCard,
    /// Only valid cards are registered.
    #[error("the card is not valid; report lists the findings")]
    InvalidCard(Box<ValidationReport>),
    /// The condition of a request does not hold.
    #[error("the card does not match the condition of the request; read it again before you retry")]
    PreconditionFailed,
    /// As many cards are registered as may be.
    #[error("{CARDS_MAX} cards are registered, which is the maximum; delete one first")]
    RegistryFull,
    /// The store cannot do it now; the same request may be sent again later.
    #[error("the service cannot carry out the request now")]
    Unavailable,
    /// The secrets in use stay; says what is wrong with the configuration.
    #[error("no secret was replaced, because the configuration has problems: {0}")]
    ReloadRefused(String),
    /// The credential's key is not known, and the issuer does not say or may not be asked yet.
    #[error("the issuer's keys are not available now")]
    KeysUnavailable {
        /// How long until the same request may be sent again.
        retry_after: Duration,
    },
}

/// What the store says, as a caller hears it. The class goes to the log here, once.
impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        log::warn!(event = "store.verb_failed", class = error.class(); "a store operation failed");
        Self::Unavailable
    }
}
