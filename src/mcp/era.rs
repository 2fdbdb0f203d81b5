//! Which era a message belongs to, decided from what it claims and from nothing else: no session is looked up, and
//! nothing is made, before this is known.
//!
//! See `docs/decisions/44-mcp-era-routing.md`.

use serde_json::{Value, json};

use crate::json::Object;
use crate::mcp::revision::{self, Legacy, MODERN};
use crate::mcp::rpc::{Code, Error, Incoming, Message};

/// Members of `_meta` that make a message a modern one; the first two are required.
const ENVELOPE: [&str; 4] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/logLevel",
];
/// Longest version that is repeated to the client that claims it, in bytes.
const VERSION_BYTES_MAX: usize = 64;

/// A header, as far as it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header<'a> {
    /// There is none.
    Absent,
    /// There is one, with this value.
    Is(&'a str),
    /// It is empty, there are several, or it is not visible ASCII.
    Unreadable,
}

/// What `_meta` claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meta {
    /// Nothing: no member of the modern envelope is there.
    Absent,
    /// A version, in an envelope that has what it must have.
    Version(String),
    /// A version, in an envelope that lacks the capabilities of the client.
    Incomplete(String),
    /// Members of the envelope, but repeated, or without a version that is text.
    Malformed,
}

/// What kind of message it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `initialize`, with the version that its parameters name.
    Initialize(Option<String>),
    /// Any other request.
    Request,
    Notification,
    /// An answer to a request of the server.
    Response,
    /// Several messages.
    Batch,
}

/// What a message claims.
#[derive(Clone, Debug)]
pub struct EraClaim<'a> {
    /// `MCP-Protocol-Version`; nothing where there are no headers.
    pub header: Option<Header<'a>>,
    /// The envelope.
    pub meta: Meta,
    /// The message.
    pub kind: Kind,
}

words! {
    /// Where a message goes.
    Era {
        /// To the sessions.
        Legacy => "legacy",
        /// To the handler of requests that stand for themselves.
        Modern => "modern",
    }
}

/// Why a message goes nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The answer.
    pub error: Error,
    /// The HTTP status is 404 instead of 400.
    pub is_not_found: bool,
}

impl<'a> EraClaim<'a> {
    /// Reads what a message claims.
    #[must_use]
    pub fn of(incoming: &Incoming<'_>, header: Option<Header<'a>>) -> Self {
        let (kind, meta) = match incoming {
            Incoming::One(message) => (Kind::of(message), Meta::of(message)),
            Incoming::Batch(batch) => {
                // One modern message makes the batch a claim that is malformed in any case.
                let metas = batch.iter().flatten().map(Meta::of);
                let claim = metas.into_iter().find(|meta| *meta != Meta::Absent);
                (Kind::Batch, claim.unwrap_or(Meta::Absent))
            }
        };
        Self { header, meta, kind }
    }

    /// Returns the version that the message itself names, if it names one.
    #[must_use]
    pub fn requested(&self) -> Option<&str> {
        match &self.kind {
            Kind::Initialize(version) => self.meta.version().or(version.as_deref()),
            Kind::Request | Kind::Notification | Kind::Response | Kind::Batch => {
                self.meta.version()
            }
        }
    }
}

impl Kind {
    fn of(message: &Message<'_>) -> Self {
        match message {
            Message::Request(request) if request.method == "initialize" => {
                let params = request.params.and_then(|it| {
                    Object::read_members(it.get().as_bytes(), &["protocolVersion"]).ok()
                });
                Self::Initialize(params.and_then(|it| it.member("protocolVersion")))
            }
            Message::Request(_) => Self::Request,
            Message::Notification(_) => Self::Notification,
            Message::Response(_) => Self::Response,
        }
    }
}

impl Meta {
    fn of(message: &Message<'_>) -> Self {
        let Some(params) = message.params() else { return Self::Absent };
        // What is repeated may be a claim, and is never taken for none.
        let Ok(params) = Object::read_members(params.get().as_bytes(), &["_meta"]) else {
            return Self::Malformed;
        };
        let Some(meta) = params.raw("_meta").filter(|meta| meta.get().starts_with('{')) else {
            return Self::Absent;
        };
        let Ok(meta) = Object::read_members(meta.get().as_bytes(), &ENVELOPE) else {
            return Self::Malformed;
        };
        // Legacy clients send `_meta` too, for progress tokens.
        if !ENVELOPE.iter().any(|name| meta.has(name)) {
            return Self::Absent;
        }
        let [version, capabilities, ..] = ENVELOPE;
        let is_complete = meta.raw(capabilities).is_some_and(|it| it.get().starts_with('{'));
        match meta.member::<String>(version) {
            Some(version) if is_complete => Self::Version(version),
            Some(version) => Self::Incomplete(version),
            None => Self::Malformed,
        }
    }

    fn version(&self) -> Option<&str> {
        match self {
            Self::Version(version) | Self::Incomplete(version) => Some(version),
            Self::Absent | Self::Malformed => None,
        }
    }
}

/// Decides where a message goes. `modern` says whether the modern era is served.
///
/// # Errors
/// The rejection of a claim that is not served, unsupported or malformed.
pub fn decide(claim: &EraClaim<'_>, modern: bool) -> Result<Era, Rejection> {
    let of_header = claim.header.and_then(version_of_header);
    let requested = claim.meta.version().or(of_header);
    let is_modern = !(claim.meta == Meta::Absent && is_legacy_header(claim.header));
    if is_modern && !modern {
        let message = "this server supports only the legacy era of the protocol; start with \
        initialize and a supported version";
        // Not -32022, which some clients take as the end (docs/decisions/43-mcp-eras.md).
        return Err(reject(Code::InvalidParams, message, requested, false));
    }
    if !is_modern {
        return legacy(claim, modern);
    }
    let claims_modern = claim.meta.version() == Some(MODERN) || of_header == Some(MODERN);
    if matches!(claim.kind, Kind::Initialize(_)) && claims_modern {
        // See `docs/decisions/45-mcp-initialize.md`.
        let message = "this version has no initialize; send requests directly";
        let rejection = reject(Code::MethodNotFound, message, Some(MODERN), true);
        return Err(Rejection { is_not_found: true, ..rejection });
    }
    if matches!(claim.kind, Kind::Batch | Kind::Response) {
        let message = "in this version a message is one request or one notification";
        return Err(reject(Code::InvalidRequest, message, requested, true));
    }
    check_agreement(claim)?;
    match &claim.meta {
        // A notification needs no envelope.
        Meta::Absent if claim.kind == Kind::Notification && of_header == Some(MODERN) => {
            Ok(Era::Modern)
        }
        Meta::Absent | Meta::Malformed | Meta::Incomplete(_) => {
            let message = "params._meta needs io.modelcontextprotocol/protocolVersion, a string, and \
                           io.modelcontextprotocol/clientCapabilities, an object";
            Err(reject(Code::InvalidParams, message, requested, true))
        }
        Meta::Version(version) if version != MODERN => {
            let message = "this version of the protocol is not supported with such requests";
            Err(reject(Code::UnsupportedVersion, message, requested, true))
        }
        Meta::Version(_) => Ok(Era::Modern),
    }
}

/// Checks what claims nothing modern.
fn legacy(claim: &EraClaim<'_>, modern: bool) -> Result<Era, Rejection> {
    if let Some(Header::Is(version)) = claim.header
        && Legacy::from_word(version).is_none()
    {
        let message = "MCP-Protocol-Version is not supported";
        return Err(reject_legacy(message, Some(version), modern));
    }
    match &claim.kind {
        Kind::Initialize(Some(version)) if version == MODERN => {
            let message = "initialize does not begin a session of this version";
            Err(reject_legacy(message, Some(version), modern))
        }
        Kind::Initialize(None) => {
            let message = "initialize needs protocolVersion, a string";
            Err(reject_legacy(message, None, modern))
        }
        _ => Ok(Era::Legacy),
    }
}

/// Checks that the header and the envelope name the same version.
fn check_agreement(claim: &EraClaim<'_>) -> Result<(), Rejection> {
    let requested = claim.meta.version();
    let refuse = |message| Err(reject(Code::HeaderMismatch, message, requested, true));
    match claim.header {
        None => Ok(()),
        Some(Header::Absent) => refuse("the header MCP-Protocol-Version is missing"),
        Some(Header::Unreadable) => {
            refuse("the header MCP-Protocol-Version is empty, repeated, or not visible ASCII")
        }
        Some(Header::Is(version)) if requested.is_some_and(|it| it != version) => {
            refuse("the header MCP-Protocol-Version and params._meta name different versions")
        }
        Some(Header::Is(_)) => Ok(()),
    }
}

/// Says whether a header may be that of a legacy client. An earlier date is a revision that never was; anything else
/// claims what came later.
fn is_legacy_header(header: Option<Header<'_>>) -> bool {
    match header {
        None | Some(Header::Absent) => true,
        Some(Header::Unreadable) => false,
        // As texts, dates of this form are in the order of time.
        Some(Header::Is(version)) => revision::is_date(version) && version < MODERN,
    }
}

/// Says whether a header claims the modern era.
#[must_use]
pub fn is_modern_header(header: Header<'_>) -> bool {
    !is_legacy_header(Some(header))
}

const fn version_of_header(header: Header<'_>) -> Option<&str> {
    match header {
        Header::Is(version) => Some(version),
        Header::Absent | Header::Unreadable => None,
    }
}

/// Rejects a claim of the modern era. Where that is not served, what is offered instead is the legacy one.
#[must_use]
pub fn reject(
    code: Code,
    message: &'static str,
    requested: Option<&str>,
    modern: bool,
) -> Rejection {
    let supported = if modern { vec![MODERN] } else { legacy_versions() };
    rejection(code, message, requested, (supported, modern))
}

/// Rejects what claims a version of the legacy era.
fn reject_legacy(message: &'static str, requested: Option<&str>, modern: bool) -> Rejection {
    rejection(Code::InvalidParams, message, requested, (legacy_versions(), modern))
}

fn rejection(
    code: Code,
    message: &'static str,
    requested: Option<&str>,
    (supported, modern): (Vec<&str>, bool),
) -> Rejection {
    let error = Error::new(code, message).with(data(&supported, requested, modern));
    Rejection { error, is_not_found: false }
}

/// Returns an error in a request of the modern era, with what its client may try instead.
pub(super) fn modern_error(error: Error) -> Error {
    error.with(data(&[MODERN], Some(MODERN), true))
}

/// Returns what every rejection tells: the versions that are supported, the one that was asked for, and all eras.
fn data(supported: &[&str], requested: Option<&str>, modern: bool) -> Value {
    let mut data = json!({ "supported": supported, "eras": eras(modern) });
    if let (Some(requested), Some(data)) = (requested, data.as_object_mut()) {
        data.insert("requested".to_owned(), repeated(requested).into());
    }
    data
}

/// Returns a version as it is repeated to the client that claims it: not at any length.
pub(super) fn repeated(version: &str) -> &str {
    version.get(..version.floor_char_boundary(VERSION_BYTES_MAX)).unwrap_or_default()
}

/// Returns the eras that are served, each with its versions, newest first.
#[must_use]
pub fn eras(modern: bool) -> Value {
    if modern {
        json!({ "legacy": legacy_versions(), "modern": [MODERN] })
    } else {
        json!({ "legacy": legacy_versions() })
    }
}

fn legacy_versions() -> Vec<&'static str> {
    Legacy::offered().map(Legacy::as_str).collect()
}
