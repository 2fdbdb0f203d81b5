//! The validator of cards: the service, or the one in this program. They are one validator, so
//! that both say the same; but neither steps in for the other, because their versions may differ.
//!
//! See `docs/decisions/61-card-report.md`.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, StatusCode};

use super::pool;
use crate::api::{CardReport, Problem};
use crate::card;
use crate::cli::client::{self, Client, Failure};
use crate::cli::error::Error;
use crate::cli::retry;
use crate::runtime::notify::Notify;

/// Where the service checks cards.
const PATH: &str = "/api/v1/agent-cards/validate";
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
/// Largest answer that is read: the service ends those of several cards sooner.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Requests at once: no more than the service checks at once.
const REQUESTS_MAX: usize = 2;
/// How often a request is sent again while the service is busy.
const RETRIES_MAX: u32 = 20;

/// A validator.
pub(super) enum Validator {
    /// The validator in this program.
    BuiltIn,
    /// The service.
    Service(Client),
}

impl Validator {
    /// Says how many threads may have something validated at once.
    pub(super) fn threads(&self) -> usize {
        match self {
            Self::BuiltIn => pool::cores(),
            Self::Service(_) => REQUESTS_MAX,
        }
    }

    /// Says how many bytes of a stream are best validated at once: a request costs more than the reading.
    pub(super) fn piece_bytes(&self) -> usize {
        match self {
            Self::BuiltIn => 256 << 10,
            // Measured: at 256 KiB the request itself costs as much as its bytes, and at 1 MiB it no longer matters.
            Self::Service(_) => 1 << 20,
        }
    }

    /// Validates one card.
    pub(super) fn one(&self, card: &[u8]) -> Result<CardReport, Error> {
        match self {
            Self::BuiltIn => Ok(CardReport::new(card::check(card), None)),
            Self::Service(client) => ask_one(client, card).map_err(or_offline),
        }
    }

    /// Validates cards that are lines, with their numbers, and reports each in turn.
    pub(super) fn lines(
        &self,
        lines: &[(u64, &[u8])],
        tell: &mut dyn FnMut(&[u8], CardReport),
    ) -> Result<(), Error> {
        match self {
            Self::BuiltIn => {
                for (number, line) in lines {
                    tell(line, CardReport::new(card::check(line), Some(*number)));
                }
                Ok(())
            }
            Self::Service(client) => lines
                .chunks(card::BATCH_MAX)
                .try_for_each(|batch| ask_many(client, batch, tell))
                .map_err(or_offline),
        }
    }
}

/// Asks the service about one card, once: a service that is busy is a failure.
pub(in crate::cli) fn ask_once(client: &Client, card: &[u8]) -> Result<CardReport, Failure> {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, JSON)]);
    report(&client.send_body(Method::POST, PATH, headers, card, ANSWER_BYTES_MAX)?)
}

fn ask_one(client: &Client, card: &[u8]) -> Result<CardReport, Failure> {
    report(&send(client, JSON, card)?)
}

fn report(answer: &client::Answer) -> Result<CardReport, Failure> {
    if answer.status() == StatusCode::BAD_REQUEST {
        // What is not JSON is refused, and said of it is the same.
        let problem: Option<Problem> = answer.json().ok();
        if let Some(report) = problem.and_then(|problem| problem.report) {
            return Ok(*report);
        }
    }
    answer.expect_ok()
}

/// Asks about several cards in one request; in two when their reports do not fit into one answer.
fn ask_many(
    client: &Client,
    lines: &[(u64, &[u8])],
    tell: &mut dyn FnMut(&[u8], CardReport),
) -> Result<(), Failure> {
    // Here the halving ends: one card is validated by itself.
    if let [(number, line)] = lines {
        tell(line, ask_one(client, line)?.moved_to(*number));
        return Ok(());
    }
    let bytes = lines.iter().map(|(_, line)| line.len() + 2).sum();
    let mut body = Vec::with_capacity(bytes);
    for (_, line) in lines {
        body.extend_from_slice(line);
        // Whole ends, because a line may end with a carriage return of its own.
        body.extend_from_slice(b"\r\n");
    }
    let answer = send(client, NDJSON, &body)?;
    if answer.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let (first, second) = lines.split_at(lines.len() / 2);
        return ask_many(client, first, tell).and_then(|()| ask_many(client, second, tell));
    }
    let reports: Vec<CardReport> = answer.expect_lines()?;
    // A card without a report would count as valid.
    if reports.len() != lines.len() {
        return Err(Failure::malformed("the reports of svcd", "there is not one report per card"));
    }
    for ((number, line), report) in lines.iter().zip(reports) {
        tell(line, report.moved_to(*number));
    }
    Ok(())
}

/// Sends a request, again while the service is busy: checking changes nothing.
fn send(client: &Client, media_type: HeaderValue, body: &[u8]) -> Result<client::Answer, Failure> {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type)]);
    let mut failures = 0;
    loop {
        let answer =
            client.send_body(Method::POST, PATH, headers.clone(), body, ANSWER_BYTES_MAX)?;
        if answer.status() != StatusCode::SERVICE_UNAVAILABLE {
            return Ok(answer);
        }
        failures += 1;
        let refusal = answer.refusal();
        let wait =
            refusal.setback().and_then(|setback| retry::wait(setback, failures, RETRIES_MAX));
        let Some(wait) = wait else { return Err(refusal) };
        // Only the signal that ends the process interrupts this wait.
        let _over = Notify::new().pause(wait);
    }
}

/// Says what can be done without the service. It is for the person to decide.
fn or_offline(failure: Failure) -> Error {
    Error::from(failure).hint("to check with the validator in svcctl, add --offline")
}
