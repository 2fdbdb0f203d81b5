//! Registered agent cards: every client of the surface may read, operators write. What is served is
//! byte for byte what was sent.

use std::str::FromStr as _;

use http::StatusCode;
use http::header::{ETAG, HeaderValue, LOCATION};

use crate::app::{self, App, Put};
use crate::auth::operator::Principal;
use crate::domain::agent_card::CardName;
use crate::domain::digest::Digest;
use crate::http::conditions::{self, Read};
use crate::http::message::{Request, Response};
use crate::http::path::Path;
use crate::http::{json, paging, query};

pub(in crate::http) fn list(
    app: &App,
    request: &Request,
    _: &Path<'_>,
) -> Result<Response, app::Error> {
    let (after, limit) =
        paging::after::<CardName>(request, "the name of a card, such as nextAfter")?;
    let page = app.agent_cards(after.as_ref(), limit)?;
    Ok(json::answer(StatusCode::OK, &paging::page_after(page)))
}

pub(in crate::http) fn show(
    app: &App,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    // A name that no card can have is as absent as an unknown one; only a write is told what is wrong with it.
    let name = name(path).map_err(|_| app::Error::NoSuchCard)?;
    let (bytes, digest) = app.agent_card(&name)?;
    match conditions::of_read(&request.head, digest)? {
        Read::Show => {
            Ok(Response::new(StatusCode::OK, json::MEDIA_TYPE, bytes).with(ETAG, tag(digest)))
        }
        // RFC 9110, section 15.4.5: a 304 has the tag that a 200 would have.
        Read::NotModified => Ok(Response::empty(StatusCode::NOT_MODIFIED).with(ETAG, tag(digest))),
        Read::PreconditionFailed => Err(app::Error::PreconditionFailed),
    }
}

pub(in crate::http) fn put(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let name = name(path)?;
    if !request.head.is_of_type(json::MEDIA_TYPE) {
        return Err(app::Error::UnsupportedMediaType);
    }
    let condition = conditions::of_write(&request.head)?;
    let (put, card) = app.put_agent_card(principal, name, &request.body, condition)?;
    let status = if put == Put::Created { StatusCode::CREATED } else { StatusCode::OK };
    let response = json::answer(status, &card).with(ETAG, tag(card.digest));
    Ok(if put == Put::Created { response.with(LOCATION, location(&card.name)) } else { response })
}

pub(in crate::http) fn remove(
    app: &App,
    principal: &Principal,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    query::none(request)?;
    let name = name(path).map_err(|_| app::Error::NoSuchCard)?;
    app.remove_agent_card(principal, name, conditions::of_removal(&request.head)?)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

fn name(path: &Path<'_>) -> Result<CardName, app::Error> {
    CardName::from_str(path.text("name"))
        .map_err(|why| app::Error::InvalidRequest(why.to_string().into()))
}

fn tag(digest: Digest) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{digest}\"")).expect("a digest is hexadecimal digits")
}

fn location(name: &CardName) -> HeaderValue {
    HeaderValue::from_str(&format!("/api/v1/agent-cards/{name}")).expect("a name is plain ASCII")
}
