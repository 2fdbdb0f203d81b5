//! How a request fails, and what a person is told about it.

use std::error::Error as StdError;
use std::io::ErrorKind;
use std::time::Duration;

use crate::api::Problem;
use crate::cli::endpoint::Endpoint;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::replay::advice;
use crate::cli::retry::Setback;

/// Why a request has no good answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No connection came about: nothing was sent.
    Unreachable { endpoint: Endpoint, cause: ureq::Error },
    /// The connection broke or the time was over: whether the request took effect is not known.
    Lost { endpoint: Endpoint, cause: ureq::Error },
    /// The service said no. The hints are those for a refused token.
    Refused { problem: Box<Problem>, retry_after: Option<Duration>, token_hints: Vec<String> },
    /// An HTTP error, but not one of the service.
    NotOurs { status: u16 },
    /// Something could not be understood.
    Malformed { what: &'static str, cause: Box<dyn StdError + Send + Sync> },
}

impl Failure {
    pub(crate) fn malformed(
        what: &'static str,
        cause: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self::Malformed { what, cause: cause.into() }
    }

    pub(super) fn of_transport(endpoint: &Endpoint, cause: ureq::Error) -> Self {
        let endpoint = endpoint.clone();
        if never_connected(&cause) {
            Self::Unreachable { endpoint, cause }
        } else if matches!(cause, ureq::Error::Io(_) | ureq::Error::Timeout(_)) {
            Self::Lost { endpoint, cause }
        } else {
            Self::malformed("the response from svcd", cause)
        }
    }

    /// Says whether the service answered that there is no such item.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { problem, .. } if exit_of(problem) == Exit::NotFound)
    }

    /// Returns how a try failed, when another may go better.
    pub(crate) fn setback(&self) -> Option<Setback> {
        match self {
            Self::Unreachable { .. } => Some(Setback::Unreachable),
            Self::Lost { .. } => Some(Setback::Lost),
            Self::Refused { problem, retry_after, .. } => (exit_of(problem) == Exit::Temporary)
                .then_some(Setback::Busy { retry_after: *retry_after }),
            Self::NotOurs { .. } | Self::Malformed { .. } => None,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unreachable { endpoint, cause } => unreachable(&endpoint, cause),
            Failure::Lost { endpoint, cause } => {
                Self::new(Exit::Temporary, format!("lost the connection to {endpoint}"))
                    .caused_by(cause.into_io())
            }
            Failure::Refused { problem, retry_after, token_hints } => {
                refused(problem, retry_after, token_hints)
            }
            Failure::NotOurs { status } => {
                let message = format!("HTTP {status}, which is not a response from svcd");
                Self::new(Exit::Malformed, message)
                    .hint("check that --url is the control socket or the operator address")
            }
            Failure::Malformed { what, cause } => {
                Self::new(Exit::Malformed, format!("cannot understand {what}"))
                    .caused_by(cause)
                    .hint("compare the versions: svcctl --version; svcd --version")
            }
        }
    }
}

/// Says whether the failure came before anything could be sent.
fn never_connected(cause: &ureq::Error) -> bool {
    matches!(
        io_kind(cause),
        Some(
            ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::AddrNotAvailable
                | ErrorKind::InvalidInput
        )
    ) || matches!(
        cause,
        ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Tls(_)
            | ureq::Error::Rustls(_)
            | ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect)
    )
}

fn io_kind(cause: &ureq::Error) -> Option<ErrorKind> {
    if let ureq::Error::Io(error) = cause { Some(error.kind()) } else { None }
}

fn unreachable(endpoint: &Endpoint, cause: ureq::Error) -> Error {
    let denied = io_kind(&cause) == Some(ErrorKind::PermissionDenied);
    let hint = match endpoint {
        Endpoint::Unix(path) if denied => {
            format!("your account must be in the group of the socket: ls -l {}", path.display())
        }
        Endpoint::Unix(_) => "check that svcd is running: systemctl status svcd".to_owned(),
        Endpoint::Url(_) => "check --url (or SVC_URL), and that svcd is running".to_owned(),
    };
    Error::new(Exit::Unreachable, format!("cannot reach {endpoint}"))
        .caused_by(cause.into_io())
        .hint(hint)
}

fn refused(
    problem: Box<Problem>,
    retry_after: Option<Duration>,
    token_hints: Vec<String>,
) -> Error {
    let exit = exit_of(&problem);
    let text = problem.detail.as_deref().unwrap_or(&problem.title);
    let error = Error::new(exit, format!("{text} ({}, HTTP {})", problem.outcome, problem.status));
    let error = match exit {
        Exit::Unauthenticated => token_hints.into_iter().fold(error, Error::hint),
        Exit::NotFound => error
            .hint("list the items, with the same --url, --token-file and --installation: svcctl dead-letters list, or svcctl releases list")
            .hint("the item may be of the other type (job or outbox), or belong to another installation: svcctl installations list"),
        Exit::Conflict => error.hint("omit --idempotency-key to get a new key"),
        Exit::Temporary => error.hint(match retry_after {
            Some(wait) => format!("retry after {} s", wait.as_secs()),
            None => "check what is wrong: svcctl status".to_owned(),
        }),
        Exit::NotReplayable => {
            let advice = advice::of(problem.replay_class.as_deref().unwrap_or_default());
            error.hint(advice.why).hint(advice.next)
        }
        Exit::Done
        | Exit::Failed
        | Exit::NotReady
        | Exit::SignalFiring
        | Exit::PreconditionFailed
        | Exit::NotOpen
        | Exit::DiedAgain
        | Exit::Held
        | Exit::TimedOut
        | Exit::NotSucceeded
        | Exit::ItemsSkipped
        | Exit::ItemsDiedAgain
        | Exit::Usage
        | Exit::Malformed
        | Exit::Unreachable
        | Exit::LocalFile
        | Exit::Interrupted => error,
    };
    error.problem(problem)
}

fn exit_of(problem: &Problem) -> Exit {
    match problem.outcome.as_ref() {
        "unauthenticated" => Exit::Unauthenticated,
        "not_found" => Exit::NotFound,
        "not_replayable" => Exit::NotReplayable,
        "not_open" => Exit::NotOpen,
        "operation_conflict" => Exit::Conflict,
        "precondition_failed" => Exit::PreconditionFailed,
        "unavailable" | "rate_limited" | "too_many_requests" => Exit::Temporary,
        _ => Exit::Failed,
    }
}
