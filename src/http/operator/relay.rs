//! The relay, for operators: its lists, and what they may end.

use std::str::FromStr;

use http::StatusCode;

use crate::api::{ListRequest, NoFilter};
use crate::app::{self, App, RelayList};
use crate::auth::operator::Principal;
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, paging, query};

pub(in crate::http) fn status(
    app: &App,
    principal: &Principal,
    request: &Request,
    _: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    Ok(json::answer(StatusCode::OK, &app.relay_status(principal)?))
}

pub(in crate::http) fn list<R: RelayList<Filter = NoFilter>>(
    app: &App,
    principal: &Principal,
    request: &Request,
    _: &Path<'_>,
) -> Result<Response, app::Error> {
    let mut parameters = query::parameters(request, &["limit", "before"])?;
    let before = paging::cursor(parameters.take("before"), R::read_cursor, "before", R::CURSOR)?;
    let limit = paging::page_size(parameters.take("limit"))?;
    let wanted = ListRequest { filter: NoFilter {}, before, limit };
    let page = app.relay_list::<R>(principal, &wanted)?;
    Ok(json::answer(StatusCode::OK, &paging::page(page)))
}

pub(in crate::http) fn show<R: RelayList>(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let id = R::read_cursor(path.text("id")).ok_or(app::Error::NoSuchItem)?;
    Ok(json::answer(StatusCode::OK, &app.relay_item::<R>(principal, id)?))
}

pub(in crate::http) fn end_session(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    app.end_relay_session(principal, id(path)?)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

pub(in crate::http) fn revoke_device(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    app.revoke_relay_device(principal, id(path)?)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

pub(in crate::http) fn deny(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let denied = app.deny_relay_invocation(principal, id(path)?)?;
    Ok(json::answer(StatusCode::OK, &denied))
}

pub(in crate::http) fn verify_audit(
    app: &App,
    principal: &Principal,
    request: &Request,
    _: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    Ok(json::answer(StatusCode::OK, &app.verify_relay_audit(principal)?))
}

/// Reads the id. A malformed one names nothing, so it is as absent as an unknown one.
fn id<T: FromStr>(path: &Path<'_>) -> Result<T, app::Error> {
    path.text("id").parse().map_err(|_| app::Error::NoSuchItem)
}
