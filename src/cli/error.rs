//! What went wrong, for a person and for a program: how the run ends, one sentence, the causes, and
//! apart from them the hints, which say what to type next.

use std::error::Error as StdError;
use std::io;

use serde::Serialize;

use crate::api::{CardReport, Problem};
use crate::cli::exit::Exit;

/// Why a command failed.
#[derive(Debug)]
pub struct Error {
    exit: Exit,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
    hints: Vec<String>,
    problem: Option<Box<Problem>>,
}

impl Error {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), source: None, hints: Vec::new(), problem: None }
    }

    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says which of several things the failure is about.
    pub(crate) fn about(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    pub(crate) fn problem(mut self, problem: Box<Problem>) -> Self {
        self.problem = Some(problem);
        self
    }

    /// Returns how the run ends.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Returns the message and its causes on one line.
    pub(crate) fn chain(&self) -> String {
        let mut text = self.message.clone();
        let Some(source) = &self.source else { return text };
        let mut add = |cause: &dyn StdError| {
            text.push_str(": ");
            text.push_str(&cause.to_string());
        };
        add(source.as_ref());
        let mut cause = source.source();
        while let Some(error) = cause {
            add(error);
            cause = error.source();
        }
        text
    }

    /// Returns the failure in the shape of a problem; `status` only when the service sent one.
    pub(crate) fn report(&self) -> Report<'_> {
        let outcome =
            self.problem.as_ref().map_or(self.exit.as_str(), |problem| problem.outcome.as_ref());
        Report {
            kind: format!("urn:svc:problem:{outcome}"),
            title: self.problem.as_ref().map_or(self.exit.title(), |problem| &problem.title),
            status: self.problem.as_ref().map(|problem| problem.status),
            outcome,
            detail: self.chain(),
            report: self.problem.as_ref().and_then(|problem| problem.report.as_deref()),
            replay_class: self.problem.as_ref().and_then(|problem| problem.replay_class.as_deref()),
            hint: (!self.hints.is_empty()).then(|| self.hints.join("\n")),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::LocalFile, "cannot write the output").caused_by(error)
    }
}

/// A failure as one JSON object: a problem of RFC 9457, and the hint.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    outcome: &'a str,
    detail: String,
    #[serde(rename = "replayClass", skip_serializing_if = "Option::is_none")]
    replay_class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a CardReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_shape_of_a_problem() {
        let error = Error::new(Exit::Unreachable, "cannot reach svcd")
            .caused_by(io::Error::other("refused"))
            .hint("systemctl status svcd");
        let report = serde_json::to_value(error.report()).unwrap();
        let expected = serde_json::json!({
            "type": "urn:svc:problem:unreachable",
            "title": "svcd cannot be reached",
            "outcome": "unreachable",
            "detail": "cannot reach svcd: refused",
            "hint": "systemctl status svcd",
        });
        assert_eq!(report, expected);
    }
}
