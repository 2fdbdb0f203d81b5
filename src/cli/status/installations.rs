//! The state of each installation, for those who have the operator token.

use std::time::Duration;

use serde::Serialize;

use crate::api::{DeadLetter, DeadLetterSummary, Installation, PageAfter};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output, or_dash};
use crate::cli::pages;
use crate::domain::id::InstallationId;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Most installations that are asked for: each is a request of its own.
const INSTALLATIONS_MAX: u32 = 20;

/// One installation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstallationStatus {
    #[serde(flatten)]
    installation: Installation,
    /// Null if they could not be counted.
    dead_letters: Option<DeadLetterSummary>,
}

/// Asks for the installations; `None` where that is not allowed, with a note why.
pub(super) fn ask(global: &Global, output: Output) -> Option<Vec<InstallationStatus>> {
    let Ok(client) = Client::operator(global) else {
        output.remark("note", "without the operator token, only totals are shown");
        return None;
    };
    match first(&client, global, output) {
        Ok((installations, has_more)) => {
            if has_more {
                let text = format!(
                    "these are the first {INSTALLATIONS_MAX} installations; for all of them: svcctl dead-letters summary -A"
                );
                output.remark("note", &text);
            }
            Some(installations)
        }
        Err(error) => {
            output.remark("note", &format!("only totals are shown: {}", error.chain()));
            None
        }
    }
}

fn first(
    client: &Client,
    global: &Global,
    output: Output,
) -> Result<(Vec<InstallationStatus>, bool), Error> {
    let path = format!("/api/v1/operator/installations?limit={INSTALLATIONS_MAX}");
    let page: PageAfter<Installation> = client.get(&path)?;
    let has_more = page.next_after.is_some();
    let clock = SystemClock::new();
    let statuses = page.items.into_iter().map(|installation| {
        let id = installation.installation_id;
        let rest = global.request_timeout().saturating_sub(clock.monotonic());
        let dead_letters = match summary(id, rest, global) {
            Ok(summary) => Some(summary),
            Err(error) => {
                let text = format!("dead letters of installation {id}: {}", error.chain());
                output.remark("warning", &text);
                None
            }
        };
        InstallationStatus { installation, dead_letters }
    });
    Ok((statuses.collect(), has_more))
}

/// Asks for the counts of one installation, within what is left of the time for all.
fn summary(
    id: InstallationId,
    rest: Duration,
    global: &Global,
) -> Result<DeadLetterSummary, Error> {
    if rest.is_zero() {
        return Err(Error::new(Exit::Temporary, "the time limit (--timeout) has passed"));
    }
    let client = Client::operator(&Global { timeout: Some(rest), ..global.clone() })?;
    Ok(client.get(&format!("{}/summary", pages::path::<DeadLetter>(id)))?)
}

// Another sign than that for none.
fn known(dead: Option<&DeadLetterSummary>, count: fn(&DeadLetterSummary) -> u32) -> String {
    dead.map_or_else(|| "?".to_owned(), |dead| count(dead).to_string())
}

pub(super) const COLUMNS: &[Column<InstallationStatus>] = &[
    Column::new(0, "INSTALLATION", |it, _| it.installation.installation_id.to_string()),
    Column::new(1, "ACCOUNT", |it, _| or_dash(it.installation.account.as_deref())),
    Column::state(0, "STATE", |it, _| it.installation.state.to_string()),
    Column::new(4, "PAUSE ENDS", |it, times| {
        or_dash(it.installation.paused_until.map(|until| times.relative(until)))
    }),
    Column::new(0, "DEAD LETTERS", |it, _| known(it.dead_letters.as_ref(), |dead| dead.count)),
    Column::new(2, "REPLAY-SAFE", |it, _| {
        known(it.dead_letters.as_ref(), |dead| dead.replay_safe_count)
    }),
    Column::new(3, "OLDEST", |it, times| {
        let oldest = it.dead_letters.as_ref().and_then(|dead| dead.oldest_failed_at);
        or_dash(oldest.map(|at| times.relative(at)))
    }),
];
