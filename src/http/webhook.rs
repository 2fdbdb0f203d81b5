//! Webhook intake: headers and raw body to the intention, its outcome to a status.

use std::borrow::Cow;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderName, StatusCode};

use crate::api;
use crate::app::{App, Intake, Webhook};
use crate::http::error;
use crate::http::message::{Request, Response};
use crate::http::routes::json;

const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
const DELIVERY: HeaderName = HeaderName::from_static("x-github-delivery");
const EVENT: HeaderName = HeaderName::from_static("x-github-event");

pub(super) fn receive(app: &App, request: &Request) -> Response {
    let head = &request.head;
    let media_type = head.single(&CONTENT_TYPE).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let taken = app.receive(&Webhook {
        signature: head.single(&SIGNATURE),
        delivery_id: head.single(&DELIVERY),
        event: head.single(&EVENT),
        is_json: essence.eq_ignore_ascii_case("application/json")
            && !head.headers.contains_key(CONTENT_ENCODING),
        body: &request.body,
    });
    match taken {
        Ok(intake) => {
            let status = match intake {
                Intake::Accepted => StatusCode::ACCEPTED,
                Intake::Ignored | Intake::Duplicate => StatusCode::OK,
            };
            json(status, &api::Intake { outcome: Cow::Borrowed(intake.as_str()) })
        }
        Err(why) => error::of_app(&why),
    }
}
