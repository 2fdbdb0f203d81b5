//! The reload of secrets, on the control socket alone.

use http::StatusCode;

use crate::app::{self, App};
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, query};

pub(super) fn reload(app: &App, request: &Request, _: &Path<'_>) -> Result<Response, app::Error> {
    query::none(request)?;
    Ok(json::answer(StatusCode::OK, &app.reload()?))
}
