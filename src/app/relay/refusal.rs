//! The refusals of a caller's request, as sentences with the next step.

use std::borrow::Cow;

use super::connection::not_done;
use crate::api::relay::RelayRefusal;
use crate::domain::relay::proposal;
use crate::store;

impl From<store::Error> for RelayRefusal {
    fn from(error: store::Error) -> Self {
        not_done(&error);
        refusal("unavailable", "the service cannot do this now; try again later")
    }
}

/// Returns a refusal.
pub(super) fn refusal(code: &'static str, message: &str) -> RelayRefusal {
    RelayRefusal {
        code: Cow::Borrowed(code),
        message: message.to_owned(),
        sessions: Vec::new(),
        retry_after_seconds: None,
    }
}

/// Returns the refusal for an invocation that is not the caller's.
pub(super) fn no_such_invocation() -> RelayRefusal {
    refusal("no_such_invocation", "there is no such invocation of this account")
}

/// Says why nothing can be proposed, with the next step.
pub(super) fn refused(why: proposal::Refusal, waiting: u32) -> RelayRefusal {
    let message = match why {
        proposal::Refusal::NoSuchSession => {
            "there is no such session of this account; list_design_sessions lists those that exist".to_owned()
        }
        proposal::Refusal::SessionAway => {
            "the design file is not open, or its plugin is not connected: ask the person to open it".to_owned()
        }
        proposal::Refusal::SessionSuspended => {
            "the browser has frozen the tab of the design file: ask the person to bring it to the front".to_owned()
        }
        proposal::Refusal::CoolingOff => {
            "the person has denied several proposals of this client, which must now wait for some \
            minutes. Ask the person what they want before you propose again"
                .to_owned()
        }
        proposal::Refusal::Busy => format!(
            "{waiting} proposals already wait for a decision: let the person decide first, or cancel some with \
             cancel_invocation"
        ),
    };
    refusal(why.as_str(), &message)
}
