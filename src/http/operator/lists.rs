//! Lists of an installation: one handler for all of them.

use http::StatusCode;

use crate::api::{Filter as _, ListRequest};
use crate::app::{self, App};
use crate::auth::operator::Principal;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, paging, query};

pub(in crate::http) fn list<R: app::List>(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    let installation = path.get("installationId")?;
    let names = [&["limit", "before"], R::Filter::NAMES].concat();
    let mut parameters = query::parameters(request, &names)?;
    let before = paging::cursor(parameters.take("before"), R::read_cursor, "before", R::CURSOR)?;
    let limit = paging::page_size(parameters.take("limit"))?;
    let mut filter = R::Filter::default();
    for name in R::Filter::NAMES {
        let Some(value) = parameters.take(name) else { continue };
        filter.set(name, &value).map_err(|allowed| {
            app::Error::InvalidRequest(format!("{name} must be {allowed}").into())
        })?;
    }
    if let Some(contradiction) = filter.contradiction() {
        return Err(app::Error::InvalidRequest(contradiction.into()));
    }
    let page = app.list::<R>(principal, installation, &ListRequest { filter, before, limit })?;
    Ok(json::answer(StatusCode::OK, &paging::page(page)))
}
