//! Answers in JSON.

use http::StatusCode;
use serde::Serialize;

use crate::http::message::Response;

/// The media type of JSON.
pub(super) const MEDIA_TYPE: &str = "application/json";

/// Returns an answer with a JSON body.
pub(super) fn answer(status: StatusCode, body: &impl Serialize) -> Response {
    let bytes = serde_json::to_vec(body).expect("our shapes always serialize");
    Response::new(status, MEDIA_TYPE, bytes)
}
