//! Registered agent cards: whoever reaches the surface may read, operators write. What is served is
//! byte for byte what was sent.

use std::str::FromStr as _;

use http::header::{ETAG, HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};

use super::JSON;
use super::conditions::{self, Read};
use crate::api;
use crate::app::{App, Error, Put};
use crate::auth::operator::Principal;
use crate::domain::agent_card::{AgentCard, CardName};
use crate::domain::digest::Digest;
use crate::http::message::{Request, Response};
use crate::http::operator::{page_size, query, shown_page_after};
use crate::http::routes::{Variables, json};

pub(in crate::http) fn list(
    app: &App,
    request: &Request,
    _: &Variables<'_>,
) -> Result<Response, Error> {
    let [limit, after] = query(request, ["limit", "after"])?;
    let after: Option<CardName> = after
        .map(|text| text.parse())
        .transpose()
        .map_err(|_| Error::InvalidRequest("after must be a name, as nextAfter gives it".into()))?;
    let page = app.agent_cards(after.as_ref(), page_size(limit)?)?;
    Ok(json(StatusCode::OK, &shown_page_after(&page, shown)))
}

pub(in crate::http) fn show(
    app: &App,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let [] = query(request, [])?;
    let name = name(variables).map_err(|_| Error::NoSuchCard)?;
    let (bytes, digest) = app.agent_card(&name)?;
    match conditions::of_read(&request.head, digest)? {
        Read::Show => {
            Ok(Response::new(StatusCode::OK, "application/json", bytes).with(ETAG, tag(digest)))
        }
        Read::NotModified => {
            let headers = HeaderMap::from_iter([(ETAG, tag(digest))]);
            Ok(Response { status: StatusCode::NOT_MODIFIED, headers, body: Vec::new() })
        }
        Read::PreconditionFailed => Err(Error::PreconditionFailed),
    }
}

pub(in crate::http) fn put(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let [] = query(request, [])?;
    let name = name(variables)?;
    if !request.head.is_of_type(JSON) {
        return Err(Error::UnsupportedMediaType);
    }
    let condition = conditions::of_write(&request.head)?;
    let (put, card) = app.put_agent_card(principal, name, &request.body, condition)?;
    let status = if put == Put::Created { StatusCode::CREATED } else { StatusCode::OK };
    let response = json(status, &shown(&card)).with(ETAG, tag(card.digest));
    Ok(if put == Put::Created { response.with(LOCATION, location(&card.name)) } else { response })
}

pub(in crate::http) fn remove(
    app: &App,
    principal: &Principal,
    request: &Request,
    variables: &Variables<'_>,
) -> Result<Response, Error> {
    let [] = query(request, [])?;
    let name = name(variables).map_err(|_| Error::NoSuchCard)?;
    app.remove_agent_card(principal, name, conditions::of_removal(&request.head)?)?;
    Ok(Response { status: StatusCode::NO_CONTENT, headers: HeaderMap::new(), body: Vec::new() })
}

fn name(variables: &Variables<'_>) -> Result<CardName, Error> {
    let text = variables.first().copied().unwrap_or_default();
    CardName::from_str(text).map_err(|why| Error::InvalidRequest(why.to_string().into()))
}

fn tag(digest: Digest) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{digest}\"")).expect("a digest is hexadecimal digits")
}

fn location(name: &CardName) -> HeaderValue {
    HeaderValue::from_str(&format!("/api/v1/agent-cards/{name}")).expect("a name is plain ASCII")
}

fn shown(card: &AgentCard) -> api::AgentCard {
    api::AgentCard {
        name: card.name.to_string(),
        variant: card.variant.clone(),
        protocol_version: card.protocol_version.clone(),
        digest: card.digest.to_string(),
        size: card.size,
        revision: card.revision,
        created_at: card.created_at.to_string(),
        updated_at: card.updated_at.to_string(),
        updated_by: card.updated_by.clone(),
    }
}
