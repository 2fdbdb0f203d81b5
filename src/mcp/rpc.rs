//! JSON-RPC 2.0 as the protocol uses it: messages read strictly, answers written.
//!
//! A message is read once. Ids and parameters stay the text that the client wrote, so that an id is echoed as it
//! came, and parameters are read by the code that knows what they mean.
//!
//! Why these types are our own: `docs/decisions/46-mcp-wire-types.md`.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::{self, Object};

/// How deep a message may be nested.
const DEPTH_MAX: usize = 32;
/// Longest id, in bytes as it is written.
const ID_BYTES_MAX: usize = 1_024;
/// Longest name of a method, in bytes.
const METHOD_BYTES_MAX: usize = 128;
/// Most messages of a batch.
const BATCH_MAX: usize = 50;

/// The id of a request: a string or an integer, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(Box<str>);

/// What a client sent.
#[derive(Debug)]
pub enum Incoming<'a> {
    One(Message<'a>),
    /// An array of messages. One that is none has its own answer.
    Batch(Vec<Result<Message<'a>, Error>>),
}

#[derive(Debug)]
pub enum Message<'a> {
    /// It is answered once.
    Request(Request<'a>),
    /// It is never answered.
    Notification(Notification<'a>),
    /// It answers a request of the server.
    Response(Response<'a>),
}

#[derive(Debug)]
pub struct Request<'a> {
    pub id: Id,
    /// What is asked for.
    pub method: Cow<'a, str>,
    /// An object, if there is anything.
    pub params: Option<&'a RawValue>,
}

#[derive(Debug)]
pub struct Notification<'a> {
    /// What it is about.
    pub method: Cow<'a, str>,
    /// An object, if there is anything.
    pub params: Option<&'a RawValue>,
}

/// A client's answer to a request of the server.
#[derive(Debug)]
pub struct Response<'a> {
    /// The id of the request.
    pub id: Id,
    /// The result, or the error.
    pub outcome: Result<&'a RawValue, &'a RawValue>,
}

words! {
    /// What an error is, by its code.
    Code {
        /// The message is no JSON.
        Parse => "parse_error",
        /// It is no message, or none that may come here.
        InvalidRequest => "invalid_request",
        /// There is no such method.
        MethodNotFound => "method_not_found",
        /// The parameters are not those of the method.
        InvalidParams => "invalid_params",
        /// The server failed.
        Internal => "internal_error",
        /// Headers and message of the modern era disagree, or a header cannot be read.
        HeaderMismatch => "header_mismatch",
        /// The client does not declare what the request needs.
        MissingCapability => "missing_capability",
        /// A version that is not served.
        UnsupportedVersion => "unsupported_version",
    }
}

impl Code {
    /// Returns the number that stands for it in a message.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::Parse => -32_700,
            Self::InvalidRequest => -32_600,
            Self::MethodNotFound => -32_601,
            Self::InvalidParams => -32_602,
            Self::Internal => -32_603,
            Self::HeaderMismatch => -32_020,
            Self::MissingCapability => -32_021,
            Self::UnsupportedVersion => -32_022,
        }
    }
}

/// Why a message has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What it is.
    pub code: Code,
    /// The same in a sentence, with the next step where there is one.
    pub message: Cow<'static, str>,
    /// What programs may want to know.
    pub data: Option<Value>,
    /// The request it answers, as far as that could be read.
    pub id: Option<Id>,
}

impl Error {
    /// Returns an error that answers no request yet.
    #[must_use]
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None, id: None }
    }

    /// Returns it with what programs may want to know.
    #[must_use]
    pub fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Returns it as the answer to a request.
    #[must_use]
    pub fn of(self, id: &Id) -> Self {
        Self { id: Some(id.clone()), ..self }
    }

    /// Returns it as a value, without the request that it answers.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut members = Map::from_iter([
            ("code".to_owned(), self.code.number().into()),
            ("message".to_owned(), self.message.as_ref().into()),
        ]);
        members.extend(self.data.iter().map(|data| ("data".to_owned(), data.clone())));
        members.into()
    }

    /// Returns it as a message. Without an id that could be read, there is no member for it.
    #[must_use]
    pub fn to_message(&self) -> String {
        let id = self.id.as_ref().map_or(String::new(), |id| format!(",\"id\":{}", id.0));
        let data = self.data.as_ref().map_or(String::new(), |data| format!(",\"data\":{data}"));
        let message = Value::from(self.message.as_ref());
        let code = self.code.number();
        format!(
            "{{\"jsonrpc\":\"2.0\"{id},\"error\":{{\"code\":{code},\"message\":{message}{data}}}}}"
        )
    }
}

impl Id {
    /// Reads an id: a string, or an integer that JSON readers agree on.
    #[must_use]
    pub fn read(raw: &RawValue) -> Option<Self> {
        let written = raw.get();
        // Readers of JSON differ about `-0`: an integer to some, a fraction to others.
        let is_integer = written.parse::<i64>().is_ok() && !written.starts_with("-0");
        // Half of a surrogate pair is JSON, and no text that could be echoed.
        let is_id = written.len() <= ID_BYTES_MAX && (is_integer || text(raw).is_some());
        is_id.then(|| Self(written.into()))
    }

    /// Returns the id in what is no message that could be answered otherwise, if it has one.
    #[must_use]
    pub fn find(json: &[u8]) -> Option<Self> {
        Object::read_members(json, &["id"]).ok()?.raw("id").and_then(Self::read)
    }

    /// Returns the id of a request that the server makes.
    #[must_use]
    pub fn number(number: u64) -> Self {
        Self(number.to_string().into())
    }

    /// Returns it as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Returns it as a value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl Notification<'_> {
    /// Returns the id of the request that it cancels, if it cancels any.
    #[must_use]
    pub fn cancelled_request(&self) -> Option<Id> {
        let params = self.params.filter(|_| self.method == "notifications/cancelled")?;
        let params = Object::read_members(params.get().as_bytes(), &["requestId"]).ok()?;
        Id::read(params.raw("requestId")?)
    }
}

/// Returns a result as a message. `result` is an object, as JSON.
#[must_use]
pub fn result(id: &Id, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", id.0)
}

/// Returns a notification as a message.
#[must_use]
pub fn notification(method: &str, params: &Value) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}")
}

/// Returns a request of the server as a message.
#[must_use]
pub fn request(id: &Id, method: &str, params: &Value) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{method}\",\"params\":{params}}}", id.0)
}

impl<'a> Incoming<'a> {
    /// Reads what a client sent.
    ///
    /// # Errors
    /// When it is no message; with its id, if it has a good one.
    pub fn read(json: &'a [u8]) -> Result<Self, Error> {
        if json::depth(json) > DEPTH_MAX {
            let message = "the message is nested too deeply; 32 levels are allowed";
            let error = Error::new(Code::InvalidRequest, message);
            return Err(Error { id: Id::find(json), ..error });
        }
        if json.trim_ascii_start().first() != Some(&b'[') {
            return Message::read(json).map(Self::One);
        }
        let batch: Vec<&RawValue> = serde_json::from_slice(json).map_err(|_| not_json())?;
        if batch.is_empty() || batch.len() > BATCH_MAX {
            let message = "a batch must have 1 to 50 messages";
            return Err(Error::new(Code::InvalidRequest, message));
        }
        Ok(Self::Batch(batch.iter().map(|one| Message::read(one.get().as_bytes())).collect()))
    }
}

impl<'a> Message<'a> {
    fn read(json: &'a [u8]) -> Result<Self, Error> {
        let object = Object::read(json).map_err(|fault| match fault {
            // Text that is no JSON at all has a code of its own.
            json::Fault::Malformed if serde_json::from_slice::<&RawValue>(json).is_err() => {
                not_json()
            }
            json::Fault::Malformed => {
                Error::new(Code::InvalidRequest, "a message must be a JSON object")
            }
            json::Fault::Duplicate | json::Fault::TooMany => {
                let message = "the message repeats a member, or has too many";
                Error { id: Id::find(json), ..Error::new(Code::InvalidRequest, message) }
            }
        })?;
        let id = object.raw("id").and_then(Id::read);
        let message = Self::of(&object, id.clone());
        message.map_err(|error| Error { id, ..error })
    }

    fn of(object: &Object<'a>, id: Option<Id>) -> Result<Self, Error> {
        let invalid = |message: &'static str| Error::new(Code::InvalidRequest, message);
        if !object.is("jsonrpc", "2.0") {
            return Err(invalid("the member jsonrpc must be \"2.0\""));
        }
        // JSON-RPC allows null here; MCP does not.
        if object.has("id") && id.is_none() {
            return Err(invalid("the id must be a string of up to 1 KiB or a 64-bit integer"));
        }
        if !object.has("method") {
            let outcome = match (object.raw("result"), object.raw("error")) {
                (Some(result), None) => Ok(result),
                (None, Some(error)) => Err(error),
                _ => return Err(invalid("a message must have a method, a result or an error")),
            };
            let id = id.ok_or_else(|| invalid("a response must have the id of its request"))?;
            return Ok(Self::Response(Response { id, outcome }));
        }
        if object.has("result") || object.has("error") {
            return Err(invalid("a message must have a method, a result or an error"));
        }
        let method = object.raw("method").and_then(text).filter(|it| it.len() <= METHOD_BYTES_MAX);
        let method = method.ok_or_else(|| invalid("the method must be a short string"))?;
        let params = object.raw("params");
        // JSON-RPC allows an array here; MCP does not.
        if params.is_some_and(|params| !params.get().starts_with('{')) {
            return Err(Error::new(Code::InvalidParams, "the parameters must be an object"));
        }
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification(Notification { method, params }),
        })
    }

    /// Returns the parameters, of what has any.
    #[must_use]
    pub const fn params(&self) -> Option<&'a RawValue> {
        match self {
            Self::Request(request) => request.params,
            Self::Notification(notification) => notification.params,
            Self::Response(_) => None,
        }
    }

    /// Returns the id of a request.
    #[must_use]
    pub const fn request_id(&self) -> Option<&Id> {
        match self {
            Self::Request(request) => Some(&request.id),
            Self::Notification(_) | Self::Response(_) => None,
        }
    }
}

/// Returns a string without a copy, unless it has escapes.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    struct Text<'t>(#[serde(borrow)] Cow<'t, str>);
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

fn not_json() -> Error {
    Error::new(Code::Parse, "the message is not JSON")
}
