//! Answers, with what their HTTP statuses say.

use crate::auth::access_token::Scope;
use crate::mcp::rpc::{Code, Error, Id};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What an HTTP status says.
    pub status: Status,
    /// The message; nothing where there is nothing to say.
    pub message: Option<String>,
    /// The session that has begun with it.
    pub session: Option<String>,
    /// The scope that the token lacks, of an answer that is [`Status::Forbidden`].
    pub scope: Option<Scope>,
}

words! {
    /// What an HTTP status says.
    Status {
        /// 200
        Ok => "ok",
        /// 202: a notification or a response was taken in.
        Accepted => "accepted",
        /// 204: a session has ended.
        Ended => "ended",
        /// 400
        BadRequest => "bad_request",
        /// 403: the token lacks a scope.
        Forbidden => "forbidden",
        /// 404: no such session, or no such method.
        NotFound => "not_found",
        /// 405: the era has only POST.
        MethodNotAllowed => "method_not_allowed",
        /// 406: the client takes no form in which an answer could be sent.
        NotAcceptable => "not_acceptable",
        /// 415: the message is not sent as JSON.
        UnsupportedMediaType => "unsupported_media_type",
        /// 503: no room for another session or stream.
        Unavailable => "unavailable",
    }
}

impl Answer {
    pub(super) fn message(status: Status, message: String) -> Self {
        Self { message: Some(message), ..Self::empty(status) }
    }

    pub(super) fn empty(status: Status) -> Self {
        Self { status, message: None, session: None, scope: None }
    }

    pub(super) fn error(status: Status, error: &Error) -> Self {
        Self::message(status, error.to_message())
    }

    /// Refuses a request for what its token does not allow. Several requests together have no `id`.
    pub(super) fn forbidden(id: Option<Id>, scope: Scope) -> Self {
        let message = format!(
            "the token lacks the scope {scope}, which this tool needs; get one that has it"
        );
        let error = Error { id, ..Error::new(Code::InvalidRequest, message) };
        Self { scope: Some(scope), ..Self::error(Status::Forbidden, &error) }
    }
}
