//! Claims a pairing by the code that its plugin shows: for people whose agent does not do it.
//!
//! See `docs/decisions/76-relay-pairing-code.md`.

use std::sync::Arc;

use http::StatusCode;
use http::header::WWW_AUTHENTICATE;

use crate::app;
use crate::app::relay;
use crate::auth::access_token::Scope;
use crate::http::error::invalid;
use crate::http::gate::{Authorized, Challenge};
use crate::http::message::{Answer, Request, Work};
use crate::http::{caller, error, json, query};
use crate::json::Object;
use crate::mcp::relay::who;

/// Largest body, in bytes. A code is shorter, but people may type blanks.
pub(in crate::http) const BODY_BYTES_MAX: usize = 1024;
/// Longest text that may be a code, in bytes.
const CODE_BYTES_MAX: usize = 64;

pub(in crate::http) fn claim(
    relay: &Arc<relay::Relay>,
    authorized: Option<Authorized<'_>>,
    request: &Request,
) -> Work {
    // Before the code is read, so that such a token can try none.
    if let Some(Authorized { caller, rules }) = authorized
        && !caller.scopes.contains(&Scope::Pair)
    {
        let challenge = rules.challenge(Challenge::InsufficientScope(Scope::Pair));
        let refusal = error::forbidden("the token lacks the scope mcp:pair; get one that has it");
        return Work::Done(refusal.with(WWW_AUTHENTICATE, challenge).into());
    }
    let code = match code(request) {
        Ok(code) => code,
        Err(why) => return Work::Done(error::of_app(&why).into()),
    };
    let (relay, caller) = (Arc::clone(relay), caller::of(authorized, request.head.peer));
    // The claim is a transaction, which the async thread must not wait for.
    Work::blocking(move |_| {
        Answer::from(match relay.claim_pairing(who(&caller), caller.peer, &code) {
            Ok(claim) => json::answer(StatusCode::OK, &claim),
            Err(refusal) => error::of_relay(refusal),
        })
    })
}

/// Reads the code. The relay refuses text that is not a code, like a wrong code.
fn code(request: &Request) -> Result<String, app::Error> {
    query::none(request)?;
    if !request.head.is_of_type(json::MEDIA_TYPE) {
        return Err(app::Error::UnsupportedMediaType);
    }
    let body = Object::read(&request.body).ok().filter(|body| body.has_only(&["code"]));
    body.and_then(|body| body.text("code", CODE_BYTES_MAX))
        .ok_or_else(|| invalid("send {\"code\": CODE}, with the code that the plugin shows"))
}
