//! Agent cards: one checked as JSON or a batch as NDJSON, and the verdict whatever it is, without a
//! token, because nothing is kept; `registry` has those that are.

pub(super) mod registry;

use http::StatusCode;

use crate::api::CardReport;
use crate::app::{self, App};
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{error, json, query};

/// Reports that are longer together end a batch; one alone may be.
/// Why this has a bound: `docs/decisions/62-card-check-over-http.md`.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) fn validate(app: &App, request: &Request, _: &Path<'_>) -> Result<Response, app::Error> {
    query::none(request)?;
    match &request.head {
        head if head.is_of_type(json::MEDIA_TYPE) => one(app, &request.body),
        head if head.is_of_type("application/x-ndjson") => lines(app, &request.body),
        _ => Err(app::Error::NotCards),
    }
}

fn one(app: &App, card: &[u8]) -> Result<Response, app::Error> {
    let report = app.check_card(card)?;
    let is_json = report.is_json();
    let told = CardReport::new(report, None);
    Ok(if is_json { json::answer(StatusCode::OK, &told) } else { error::unreadable_card(told) })
}

fn lines(app: &App, lines: &[u8]) -> Result<Response, app::Error> {
    let mut answer = Vec::new();
    app.check_cards(lines, |number, report| {
        let told = CardReport::new(report, Some(number));
        serde_json::to_writer(&mut answer, &told).expect("our shapes always serialize");
        answer.push(b'\n');
        if answer.len() > ANSWER_BYTES_MAX { Err(app::Error::TooMuchToSay) } else { Ok(()) }
    })?;
    Ok(Response::new(StatusCode::OK, "application/x-ndjson", answer))
}
