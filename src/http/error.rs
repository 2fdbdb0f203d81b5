//! From an error to a problem body (RFC 9457): the only place that does. Every problem has a stable
//! `outcome`; none echoes the request.

use std::borrow::Cow;
use std::time::Duration;

use http::header::{
    ALLOW, CONNECTION, HeaderValue, RETRY_AFTER, SEC_WEBSOCKET_VERSION, UPGRADE, WWW_AUTHENTICATE,
};
use http::{Method, StatusCode};

use crate::api::relay::RelayRefusal;
use crate::api::{CardReport, Problem};
use crate::app;
use crate::domain::dead_letter::NotReplayable;
use crate::http::message::{Refusal, Response};

/// A stable outcome: its word, its status, its title.
type Outcome = (&'static str, StatusCode, &'static str);

const INVALID_REQUEST: Outcome =
    ("invalid_request", StatusCode::BAD_REQUEST, "The request cannot be understood");
const UNAUTHENTICATED: Outcome =
    ("unauthenticated", StatusCode::UNAUTHORIZED, "Authentication is required");
const NOT_FOUND: Outcome = ("not_found", StatusCode::NOT_FOUND, "Not found");
const TOO_MANY_REQUESTS: Outcome =
    ("too_many_requests", StatusCode::TOO_MANY_REQUESTS, "Too many requests");
const METHOD_NOT_ALLOWED: Outcome =
    ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED, "The method is not allowed here");
const TIMEOUT: Outcome =
    ("request_timeout", StatusCode::REQUEST_TIMEOUT, "The request did not arrive in time");
const LENGTH_REQUIRED: Outcome =
    ("length_required", StatusCode::LENGTH_REQUIRED, "The body needs a Content-Length");
const NOT_REPLAYABLE: Outcome =
    ("not_replayable", StatusCode::CONFLICT, "The item must not be replayed");
const NOT_OPEN: Outcome = ("not_open", StatusCode::CONFLICT, "There is nothing to close");
const PAYLOAD_TOO_LARGE: Outcome =
    ("payload_too_large", StatusCode::PAYLOAD_TOO_LARGE, "The body is too large");
const UNSUPPORTED_MEDIA_TYPE: Outcome = (
    "unsupported_media_type",
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "The media type is not supported",
);
const OPERATION_CONFLICT: Outcome = (
    "operation_conflict",
    StatusCode::UNPROCESSABLE_ENTITY,
    "The idempotency key was used for another request",
);
const TOO_LATE: Outcome = ("too_late", StatusCode::CONFLICT, "The invocation has already begun");
const RESULT_CONFLICT: Outcome =
    ("result_conflict", StatusCode::CONFLICT, "The result cannot be recorded");
const PRECONDITION_FAILED: Outcome =
    ("precondition_failed", StatusCode::PRECONDITION_FAILED, "The condition does not hold");
const INVALID_CARD: Outcome =
    ("invalid_card", StatusCode::UNPROCESSABLE_ENTITY, "The agent card is not valid");
const REGISTRY_FULL: Outcome =
    ("registry_full", StatusCode::CONFLICT, "No more agent cards can be registered");
const RELOAD_REFUSED: Outcome =
    ("reload_refused", StatusCode::CONFLICT, "The configuration cannot be taken");
const MISDIRECTED_REQUEST: Outcome = (
    "misdirected_request",
    StatusCode::MISDIRECTED_REQUEST,
    "The address does not accept that host name",
);
const FORBIDDEN: Outcome = ("forbidden", StatusCode::FORBIDDEN, "The request is forbidden");
const UPGRADE_REQUIRED: Outcome =
    ("upgrade_required", StatusCode::UPGRADE_REQUIRED, "The route is only for WebSockets");
const INTERNAL: Outcome =
    ("internal_error", StatusCode::INTERNAL_SERVER_ERROR, "The service failed");
const UNAVAILABLE: Outcome =
    ("unavailable", StatusCode::SERVICE_UNAVAILABLE, "The service is unavailable");

/// Seconds after which an unavailable service may be asked again.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("5");
/// The same of one that is only busy.
const RETRY_SOON: HeaderValue = HeaderValue::from_static("1");

/// Returns the error of a request that is malformed.
pub(super) const fn invalid(detail: &'static str) -> app::Error {
    app::Error::InvalidRequest(Cow::Borrowed(detail))
}

/// Answers a use case that did not happen.
pub(super) fn of_app(error: &app::Error) -> Response {
    let detail = Some(error.to_string());
    match error {
        app::Error::InvalidRequest(_) => problem(INVALID_REQUEST, detail, None),
        // RFC 9110, section 15.5.2: a 401 carries a challenge.
        app::Error::Unauthenticated => problem(UNAUTHENTICATED, detail, None)
            .with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        app::Error::BadSignature => problem(UNAUTHENTICATED, detail, None)
            .with(WWW_AUTHENTICATE, HeaderValue::from_static("Signature")),
        app::Error::NotFound | app::Error::NoSuchItem | app::Error::NoSuchCard => {
            problem(NOT_FOUND, detail, None)
        }
        app::Error::PreconditionFailed => problem(PRECONDITION_FAILED, detail, None),
        app::Error::RegistryFull => problem(REGISTRY_FULL, detail, None),
        app::Error::ReloadRefused(_) => problem(RELOAD_REFUSED, detail, None),
        app::Error::InvalidCard(report) => {
            let report = CardReport::new((**report).clone(), None);
            about_card(INVALID_CARD, &error.to_string(), report)
        }
        app::Error::NotReplayable(why) => {
            let class = match why {
                NotReplayable::NotDead => "not_dead",
                NotReplayable::Closed => "closed",
                NotReplayable::DiedAgain => "died_again",
                NotReplayable::UnknownClass => "unknown",
                NotReplayable::Class(class) => class.as_str(),
            };
            problem(NOT_REPLAYABLE, detail, Some(class))
        }
        app::Error::NotOpen => problem(NOT_OPEN, detail, None),
        app::Error::OperationConflict => problem(OPERATION_CONFLICT, detail, None),
        app::Error::UnsupportedMediaType | app::Error::NotCards => {
            problem(UNSUPPORTED_MEDIA_TYPE, detail, None)
        }
        app::Error::TooManyCards | app::Error::TooMuchToSay => {
            problem(PAYLOAD_TOO_LARGE, detail, None)
        }
        app::Error::Busy => problem(UNAVAILABLE, detail, None).with(RETRY_AFTER, RETRY_SOON),
        app::Error::KeysUnavailable { retry_after } => {
            problem(UNAVAILABLE, detail, None).with(RETRY_AFTER, seconds(*retry_after))
        }
        app::Error::TooLate => problem(TOO_LATE, detail, None),
        app::Error::ResultConflict(_) => problem(RESULT_CONFLICT, detail, None),
        app::Error::OperatorApiOff
        | app::Error::ForgeOff
        | app::Error::ResultsOff
        | app::Error::Unavailable => {
            problem(UNAVAILABLE, detail, None).with(RETRY_AFTER, RETRY_SECONDS)
        }
    }
}

/// Returns whole seconds, none too few and at least one: zero would ask for the request at once.
pub(super) fn seconds(duration: Duration) -> HeaderValue {
    let up = u64::from(duration.subsec_nanos() > 0);
    HeaderValue::from((duration.as_secs() + up).max(1))
}

/// Answers a card that is not JSON, with what is wrong with it.
pub(super) fn unreadable_card(report: CardReport) -> Response {
    let detail = "the body is not JSON; report shows where parsing stopped";
    about_card(INVALID_REQUEST, detail, report)
}

fn about_card(outcome: Outcome, detail: &str, report: CardReport) -> Response {
    let mut body = described(outcome, Some(detail.to_owned()), None);
    body.report = Some(Box::new(report));
    answer(outcome, &body)
}

/// Answers what a server found wrong by itself.
pub(super) fn of_refusal(refusal: Refusal) -> Response {
    let (outcome, detail) = refused(refusal);
    let answer = problem(outcome, detail.map(str::to_owned), None);
    match refusal {
        // RFC 9110, section 15.5.22, asks for `Upgrade`, which `Connection` has to name; the version is asked for by
        // RFC 6455, section 4.4.
        Refusal::UpgradeRequired => answer
            .with(CONNECTION, HeaderValue::from_static("upgrade"))
            .with(UPGRADE, HeaderValue::from_static("websocket"))
            .with(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")),
        Refusal::Overloaded => answer.with(RETRY_AFTER, RETRY_SECONDS),
        _ => answer,
    }
}

/// Returns an answer that says when to come back.
pub(super) fn retry_later(answer: Response) -> Response {
    answer.with(RETRY_AFTER, RETRY_SECONDS)
}

/// Says in a sentence what a server found wrong by itself.
pub(super) fn sentence(refusal: Refusal) -> &'static str {
    let ((_, _, title), detail) = refused(refusal);
    detail.unwrap_or(title)
}

const fn refused(refusal: Refusal) -> (Outcome, Option<&'static str>) {
    match refusal {
        Refusal::BadRequest => (INVALID_REQUEST, None),
        Refusal::LengthRequired => (
            LENGTH_REQUIRED,
            Some(
                "send Content-Length and no Transfer-Encoding; a proxy in front of this address \
                must read the whole body before it forwards it",
            ),
        ),
        Refusal::Timeout => (TIMEOUT, None),
        Refusal::PayloadTooLarge => (PAYLOAD_TOO_LARGE, None),
        Refusal::UpgradeRequired => (UPGRADE_REQUIRED, None),
        Refusal::Internal => (INTERNAL, None),
        Refusal::Overloaded => (UNAVAILABLE, None),
    }
}

/// Answers a path that is no route of the surface.
pub(super) fn no_route() -> Response {
    problem(NOT_FOUND, None, None)
}

/// Answers a host name this surface does not go by.
pub(super) fn wrong_host() -> Response {
    let detail = "this address does not accept that host name; see SVC_OPERATOR_HOSTS";
    problem(INVALID_REQUEST, Some(detail.to_owned()), None)
}

/// Answers a host name that the routes behind the gate do not go by.
pub(super) fn misdirected() -> Response {
    let detail =
        "this address does not accept that host name; see SVC_PUBLIC_URL and SVC_MCP_HOSTS";
    problem(MISDIRECTED_REQUEST, Some(detail.to_owned()), None)
}

/// Answers a peer that asks too often.
pub(super) fn too_many(retry_after: Duration) -> Response {
    problem(TOO_MANY_REQUESTS, None, None).with(RETRY_AFTER, seconds(retry_after))
}

/// Answers what the relay does not do, in its words.
pub(super) fn of_relay(refusal: RelayRefusal) -> Response {
    let outcome = match refusal.code.as_ref() {
        "not_found" => NOT_FOUND,
        "too_many_codes" => TOO_MANY_REQUESTS,
        _ => UNAVAILABLE,
    };
    let answer = problem(outcome, Some(refusal.message), None);
    match refusal.retry_after_seconds {
        Some(wait) => answer.with(RETRY_AFTER, seconds(Duration::from_secs(wait))),
        None if outcome == UNAVAILABLE => answer.with(RETRY_AFTER, RETRY_SECONDS),
        None => answer,
    }
}

/// Answers who may not do this with the relay.
pub(super) fn forbidden(detail: &'static str) -> Response {
    problem(FORBIDDEN, Some(detail.to_owned()), None)
}

/// Answers a method the path does not have.
pub(super) fn wrong_method(allowed: &[Method]) -> Response {
    let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
    let allow = HeaderValue::from_str(&names.join(", ")).expect("method names are tokens");
    problem(METHOD_NOT_ALLOWED, None, None).with(ALLOW, allow)
}

fn problem(
    outcome: Outcome,
    detail: Option<String>,
    replay_class: Option<&'static str>,
) -> Response {
    answer(outcome, &described(outcome, detail, replay_class))
}

fn described(
    (outcome, status, title): Outcome,
    detail: Option<String>,
    replay_class: Option<&'static str>,
) -> Problem {
    Problem {
        kind: format!("urn:svc:problem:{outcome}"),
        title: Cow::Borrowed(title),
        status: status.as_u16(),
        outcome: Cow::Borrowed(outcome),
        detail,
        replay_class: replay_class.map(Cow::Borrowed),
        report: None,
    }
}

fn answer((_, status, _): Outcome, body: &Problem) -> Response {
    let json = serde_json::to_vec(body).expect("strings and numbers always serialize");
    Response::new(status, "application/problem+json", json)
}
