//! Results of releases: headers, path and raw body to the use case, its outcome to a status.

use std::borrow::Cow;

use http::header::AUTHORIZATION;
use http::{HeaderName, StatusCode};

use crate::api;
use crate::app::{App, Callback};
use crate::auth::shared_secret::SignedHeaders;
use crate::http::message::{Head, Request, Response};
use crate::http::path::Path;
use crate::http::{error, json};

const SIGNATURE: HeaderName = HeaderName::from_static("x-svc-result-signature");
const TIMESTAMP: HeaderName = HeaderName::from_static("x-svc-result-timestamp");
const RUN_ID: HeaderName = HeaderName::from_static("x-svc-result-run-id");
const RUN_ATTEMPT: HeaderName = HeaderName::from_static("x-svc-result-run-attempt");
/// What stands before the digits of a signature.
const PREFIX: &str = "sha256=";

pub(super) fn receive(app: &App, request: &Request, path: &Path<'_>) -> Response {
    let head = &request.head;
    let (release_run, attempt) = (path.text("releaseRunId"), path.text("attemptId"));
    let taken = app.take_result(&Callback {
        release_run,
        attempt,
        // Two kinds of credentials at once are none.
        authorization: head
            .single(&AUTHORIZATION)
            .filter(|_| !head.headers.contains_key(SIGNATURE)),
        signed: signed(head).filter(|_| !head.headers.contains_key(AUTHORIZATION)),
        peer: head.peer,
        is_json: head.is_of_type("application/json"),
        body: &request.body,
    });
    match taken {
        Ok(taken) => json::answer(
            StatusCode::OK,
            &api::ResultReceipt {
                outcome: Cow::Borrowed(taken.as_str()),
                release_run_id: release_run.to_owned(),
                attempt_id: attempt.to_owned(),
            },
        ),
        Err(why) => error::of_app(&why),
    }
}

fn signed(head: &Head) -> Option<SignedHeaders<'_>> {
    Some(SignedHeaders {
        mac: head.single(&SIGNATURE)?.strip_prefix(PREFIX)?,
        timestamp: head.single(&TIMESTAMP)?,
        workflow_run: head.single(&RUN_ID)?,
        run_attempt: head.single(&RUN_ATTEMPT)?,
    })
}
