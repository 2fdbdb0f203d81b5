//! Webhook intake: headers and raw body to the use case, its outcome to a status.

use std::borrow::Cow;

use http::{HeaderName, StatusCode};

use crate::api;
use crate::app::{self, App};
use crate::http::message::{Request, Response};
use crate::http::{error, json};

const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
const DELIVERY: HeaderName = HeaderName::from_static("x-github-delivery");
const EVENT: HeaderName = HeaderName::from_static("x-github-event");

pub(super) fn receive(app: &App, request: &Request) -> Response {
    let head = &request.head;
    let taken = app.receive(&app::Webhook {
        signature: head.single(&SIGNATURE),
        delivery_id: head.single(&DELIVERY),
        event: head.single(&EVENT),
        is_json: head.is_of_type("application/json"),
        body: &request.body,
    });
    match taken {
        Ok(intake) => {
            let status = match intake {
                app::Intake::Accepted => StatusCode::ACCEPTED,
                app::Intake::Ignored | app::Intake::Duplicate => StatusCode::OK,
            };
            json::answer(status, &api::Intake { outcome: Cow::Borrowed(intake.as_str()) })
        }
        Err(why) => error::of_app(&why),
    }
}
