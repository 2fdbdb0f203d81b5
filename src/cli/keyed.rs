//! Requests under an idempotency key: the key is shown before anything is sent, so that whatever happens to this process
//! or the connection, the same request can be made again and happens at most once.

use std::time::Duration;

use crate::api::{AppliedBody, CloseBody};
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output};
use crate::cli::value_parser::between;
use crate::cli::{Global, installations, retry};
use crate::domain::operation::OperationId;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;
use crate::runtime::random::{Ids, SystemEntropy};

/// What every command understands that makes such a request.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Keyed {
    /// Idempotency key of an earlier request, to repeat that request [default: a new key]
    #[arg(long, value_name = "KEY", value_parser = operation)]
    idempotency_key: Option<OperationId>,

    /// Maximum number of retries if svcd is busy or the connection is lost
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = between(0_u32, 20))]
    retries: u32,
}

impl Keyed {
    /// Makes the request and prints the answer. `again` is the command that was given, without the key.
    pub(crate) fn run(
        &self,
        client: &Client,
        path: &str,
        body: Option<&CloseBody>,
        again: NextCommand,
        (global, output): (&Global, Output),
    ) -> Result<(), Error> {
        let (applied, _) = self.request(client, path, body, again, (global, output))?;
        print(&applied, output)
    }

    /// Makes the request; returns the answer, and the key.
    pub(crate) fn request(
        &self,
        client: &Client,
        path: &str,
        body: Option<&CloseBody>,
        again: NextCommand,
        (global, output): (&Global, Output),
    ) -> Result<(AppliedBody, OperationId), Error> {
        let key = self.idempotency_key.clone().unwrap_or_else(new_key);
        // A key that cannot be shown could not be used again, so nothing is sent then.
        output.announce("idempotency-key", key.as_str())?;
        let body = body.map(serde_json::to_vec).transpose().expect("text always serializes");
        match self.send(client, path, body.as_deref(), &key, output) {
            Ok(applied) => Ok((applied, key)),
            Err(failure) if is_decided(&failure) => {
                Err(installations::item_failure(failure, client, global))
            }
            Err(undecided) => {
                let again = again.with("--idempotency-key", key.as_str()).into_line();
                let hint = format!("to retry later with the same key: {again}");
                Err(Error::from(undecided).hint(hint))
            }
        }
    }

    fn send(
        &self,
        client: &Client,
        path: &str,
        body: Option<&[u8]>,
        key: &OperationId,
        output: Output,
    ) -> Result<AppliedBody, Failure> {
        let mut failures = 0;
        loop {
            let failure = match client.post(path, key.as_str(), body) {
                Ok(applied) => return Ok(applied),
                Err(failure) => failure,
            };
            failures += 1;
            let wait =
                failure.setback().and_then(|setback| retry::wait(setback, failures, self.retries));
            let Some(wait) = wait else { return Err(failure) };
            remark(wait, &failure, output);
            // Only the signal that ends the process interrupts this wait.
            let _over = Notify::new().pause(wait);
        }
    }
}

fn remark(wait: Duration, failure: &Failure, output: Output) {
    let why = match failure {
        Failure::Unreachable { .. } => "svcd cannot be reached",
        Failure::Lost { .. } => "the connection was lost",
        Failure::Refused { .. } | Failure::NotOurs { .. } | Failure::Malformed { .. } => {
            "svcd is busy"
        }
    };
    let text = format!("{why}; retrying with the same key in {} ms", wait.as_millis());
    output.remark("note", &text);
}

fn is_decided(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused { .. }) && failure.setback().is_none()
}

/// Prints the answer.
pub(crate) fn print(applied: &AppliedBody, output: Output) -> Result<(), Error> {
    match output.format() {
        Format::Table => {
            let (outcome, event) = (&applied.outcome, &applied.audit_event_id);
            output.facts(vec![
                ("outcome", outcome.to_string()),
                ("audit event", event.to_string()),
            ])?;
        }
        Format::Json | Format::Ndjson => output.json(applied)?,
    }
    Ok(())
}

fn new_key() -> OperationId {
    let key = Ids::new(Box::new(SystemEntropy::new())).uuid(SystemClock::new().now());
    OperationId::new(&key.to_string()).expect("a UUID is visible ASCII")
}

fn operation(text: &str) -> Result<OperationId, &'static str> {
    OperationId::new(text).ok_or("1 to 128 visible ASCII characters without spaces")
}
