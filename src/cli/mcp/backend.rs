//! What tools ask for, from the daemon. It serves four requests at once through its control socket, so none of ours
//! takes long. What requests keep between rounds stays in this process, which has one client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::api::{CardReport, Readiness};
use crate::cli::Global;
use crate::cli::cards::validator;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::status;
use crate::domain::time::Timestamp;
use crate::mcp::backend::{Backend, BackendUnavailable};
use crate::runtime::clock::Clock;
use crate::runtime::mutex::lock;
use crate::runtime::random::{Ids, SystemEntropy};

/// Longest time that one request to the daemon takes.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Most used states that are remembered. Each is forgotten when it expires.
const USED_MAX: usize = 1_024;
/// What can be done without the daemon.
const OFFLINE: &str = "or check the file without svcd: svcctl cards validate --offline FILE";

/// The daemon, as far as tools need it.
pub(super) struct Daemon {
    client: Client,
    /// Seals what requests keep; of this process alone.
    key: [u8; 32],
    ids: Mutex<Ids>,
    used: Mutex<Used>,
    clock: Arc<dyn Clock>,
}

/// Nonces of states that were used, with the instant from which no such state opens any more.
#[derive(Default)]
struct Used(BTreeMap<[u8; 12], Timestamp>);

impl Daemon {
    /// Returns the daemon at the address of the command line.
    pub(super) fn new(global: &Global, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let client = Client::anonymous(&Global { timeout: Some(TIMEOUT), ..global.clone() })?;
        let mut ids = Ids::new(Box::new(SystemEntropy::new()));
        let key = ids.bytes();
        Ok(Self { client, key, ids: Mutex::new(ids), used: Mutex::default(), clock })
    }
}

impl Backend for Daemon {
    fn validate_agent_card(&self, card: &str) -> Result<CardReport, BackendUnavailable> {
        validator::ask_once(&self.client, card.as_bytes())
            .map_err(|failure| unavailable(failure, Some(OFFLINE)))
    }

    fn service_status(&self) -> Result<Readiness, BackendUnavailable> {
        status::ask(&self.client).map_err(|failure| unavailable(failure, None))
    }

    fn request_state_key(&self) -> Result<[u8; 32], BackendUnavailable> {
        Ok(self.key)
    }

    fn nonce(&self) -> [u8; 12] {
        lock(&self.ids).bytes()
    }

    fn use_request_state(
        &self,
        nonce: [u8; 12],
        expires_at: Timestamp,
    ) -> Result<bool, BackendUnavailable> {
        let now = self.clock.now();
        lock(&self.used).insert(nonce, expires_at, now).ok_or_else(|| {
            BackendUnavailable(
                "too many requests needed several rounds; try again later".to_owned(),
            )
        })
    }
}

impl Used {
    /// Notes a nonce, and says whether it was not noted before; `None` without room for it.
    fn insert(&mut self, nonce: [u8; 12], expires_at: Timestamp, now: Timestamp) -> Option<bool> {
        self.0.retain(|_, expires_at| *expires_at > now);
        // A nonce that is known needs no room, so its repetition is detected even when the table is full.
        let has_room = self.0.len() < USED_MAX || self.0.contains_key(&nonce);
        has_room.then(|| self.0.insert(nonce, expires_at).is_none())
    }
}

/// Returns a failure as a sentence for a model and who reads along: what happened, and the next steps.
fn unavailable(failure: Failure, instead: Option<&str>) -> BackendUnavailable {
    let start = match &failure {
        Failure::Unreachable { .. } => Some("start svcd if it is not running"),
        Failure::Lost { .. } => Some("svcd did not answer within a second; try again"),
        Failure::Refused { .. } | Failure::NotOurs { .. } | Failure::Malformed { .. } => None,
    };
    let error = Error::from(failure);
    let hints = error.hints().iter().map(String::as_str);
    let steps: Vec<&str> = hints.chain(start).chain(instead).collect();
    BackendUnavailable(format!("{}; {}", error.chain(), steps.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_used_once_and_few_are_remembered() {
        let (now, end) = (Timestamp::MIN, Timestamp::MIN.plus(Duration::from_secs(1)));
        let nonce = |number: usize| {
            let mut nonce = [0; 12];
            nonce[..8].copy_from_slice(&number.to_be_bytes());
            nonce
        };
        let mut used = Used::default();
        for number in 0..USED_MAX {
            assert_eq!(used.insert(nonce(number), end, now), Some(true));
            assert_eq!(used.insert(nonce(number), end, now), Some(false));
        }
        assert_eq!(used.insert(nonce(USED_MAX), end, now), None, "none is forgotten early");
        assert_eq!(used.insert(nonce(0), end, now), Some(false));
        assert_eq!(used.insert(nonce(USED_MAX), end.plus(Duration::from_secs(1)), end), Some(true));
        assert_eq!(used.0.len(), 1, "what has expired is forgotten");
    }
}
