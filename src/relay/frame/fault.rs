//! What is wrong with a frame, and the codes with which a socket closes.

use std::fmt;

use super::from_daemon::CloseNotice;
use super::text::Line;
use crate::json;
use crate::json::schema::Mismatch;

/// Longest message of a `problem`, in characters.
const MESSAGE_MAX: usize = 300;

/// Why a frame of a plugin is refused. It holds nothing of the frame but names that are in the published schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not one JSON object.
    Malformed,
    /// It has a name twice in one object.
    Repeated,
    /// It consists of more values than any frame.
    TooManyValues,
    /// Its `type` is missing, or is none that a plugin sends.
    UnknownType,
    /// It is not as the schema of its type asks.
    Mismatch(Mismatch),
    /// It may not come now.
    OutOfOrder,
    /// It is larger than frames may be now.
    TooLarge,
}

impl Fault {
    /// Returns the code with which the socket closes.
    #[must_use]
    pub const fn close(&self) -> Close {
        match self {
            Self::TooLarge => Close::TooLarge,
            _ => Close::BadFrame,
        }
    }

    /// Returns its stable word: for `problem`, counters and the log.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Repeated => "repeated_member",
            Self::TooManyValues => "too_many_values",
            Self::UnknownType => "unknown_type",
            Self::Mismatch(_) => "schema_mismatch",
            Self::OutOfOrder => "out_of_order",
            Self::TooLarge => "too_large",
        }
    }

    /// Returns what the plugin is told before its socket closes.
    #[must_use]
    pub fn problem(&self) -> CloseNotice {
        CloseNotice::new(self.code(), &self.to_string())
    }
}

impl From<json::Fault> for Fault {
    fn from(fault: json::Fault) -> Self {
        match fault {
            json::Fault::Malformed => Self::Malformed,
            json::Fault::Duplicate => Self::Repeated,
            json::Fault::TooMany => Self::TooManyValues,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "a frame must be one JSON object in a text message",
            Self::Repeated => "a frame must not repeat a member",
            Self::TooManyValues => "a frame must have at most 30,000 values",
            Self::UnknownType => "a plugin must not send frames of this type",
            Self::Mismatch(mismatch) => return mismatch.fmt(f),
            Self::OutOfOrder => "a frame of this type is not allowed now",
            Self::TooLarge => "the frame is larger than is allowed now",
        })
    }
}

impl CloseNotice {
    /// Returns a problem with a stable word and a message, of which 300 characters are kept.
    #[must_use]
    pub fn new(code: &'static str, message: &str) -> Self {
        Self { code, message: Line::limited(message, MESSAGE_MAX) }
    }
}

/// Why the daemon closes a socket, by the code that the plugin sees. Codes below 4000 belong to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// A frame that is none, or may not come now.
    BadFrame,
    /// The device was revoked.
    Revoked,
    /// The origin, host or proof is refused.
    Refused,
    /// There is no such session, or it has ended.
    NoSuchSession,
    /// `hello` or `proof` did not come in time.
    TooLate,
    /// Another page of this device and file has taken over.
    TakenOver,
    /// The code was not used in time.
    PairingExpired,
    /// A frame was too large.
    TooLarge,
    /// Another version of the protocol is needed.
    Version,
    /// Too many sockets, pairings or frames.
    TooMany,
}

impl Close {
    /// Every code, in rising order.
    pub const ALL: [Self; 10] = [
        Self::BadFrame,
        Self::Revoked,
        Self::Refused,
        Self::NoSuchSession,
        Self::TooLate,
        Self::TakenOver,
        Self::PairingExpired,
        Self::TooLarge,
        Self::Version,
        Self::TooMany,
    ];

    /// Returns the close code of the socket.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::BadFrame => 4400,
            Self::Revoked => 4401,
            Self::Refused => 4403,
            Self::NoSuchSession => 4404,
            Self::TooLate => 4408,
            Self::TakenOver => 4409,
            Self::PairingExpired => 4410,
            Self::TooLarge => 4413,
            Self::Version => 4426,
            Self::TooMany => 4429,
        }
    }

    /// Returns the reason that stands beside the code, a stable word.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::BadFrame => "bad_frame",
            Self::Revoked => "revoked",
            Self::Refused => "refused",
            Self::NoSuchSession => "no_such_session",
            Self::TooLate => "too_late",
            Self::TakenOver => "taken_over",
            Self::PairingExpired => "pairing_expired",
            Self::TooLarge => "too_large",
            Self::Version => "version",
            Self::TooMany => "too_many",
        }
    }

    /// Says whether the plugin may connect again without a person: the others would only be closed again.
    #[must_use]
    pub const fn may_come_again(self) -> bool {
        matches!(self, Self::TooLate | Self::TooMany)
    }
}
