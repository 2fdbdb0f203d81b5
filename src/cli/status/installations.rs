//! The state of each installation, for those who have the operator token.

use serde::Serialize;

use crate::api::{DeadLetter, DeadLetterSummary, Installation, PageAfter};
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::output::{Output, or_dash, relative};
use crate::cli::pages;
use crate::domain::time::Timestamp;

/// Most installations that are asked for: each is a request of its own.
const INSTALLATIONS_MAX: u32 = 20;

pub(super) const HEADER: [&str; 7] =
    ["INSTALLATION", "ACCOUNT", "STATE", "PAUSE ENDS", "DEAD", "SAFE", "OLDEST"];

/// One installation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstallationStatus {
    #[serde(flatten)]
    installation: Installation,
    dead_letters: DeadLetterSummary,
}

/// Asks for the installations; `None` where that is not allowed, with a note why.
pub(super) fn ask(global: &Global, output: Output) -> Option<Vec<InstallationStatus>> {
    let Ok(client) = Client::operator(global) else {
        output.remark("note", "without the operator token, only sums are shown");
        return None;
    };
    match first(&client) {
        Ok((installations, has_more)) => {
            if has_more {
                let text = format!(
                    "these are {INSTALLATIONS_MAX} of the installations; see svcctl dead-letters summary -A"
                );
                output.remark("note", &text);
            }
            Some(installations)
        }
        Err(failure) => {
            let why = Error::from(failure).chain();
            output.remark("note", &format!("only sums are shown: {why}"));
            None
        }
    }
}

fn first(client: &Client) -> Result<(Vec<InstallationStatus>, bool), Failure> {
    let path = format!("/api/v1/operator/installations?limit={INSTALLATIONS_MAX}");
    let page: PageAfter<Installation> = client.get(&path)?;
    let has_more = page.next_after.is_some();
    let statuses = page.items.into_iter().map(|installation| {
        let path = pages::path::<DeadLetter>(installation.installation_id);
        let dead_letters = client.get(&format!("{path}/summary"))?;
        Ok(InstallationStatus { installation, dead_letters })
    });
    Ok((statuses.collect::<Result<_, Failure>>()?, has_more))
}

pub(super) fn rows(installations: &[InstallationStatus], now: Timestamp) -> Vec<Vec<String>> {
    let row = |one: &InstallationStatus| {
        let (installation, dead) = (&one.installation, &one.dead_letters);
        vec![
            installation.installation_id.to_string(),
            or_dash(installation.account.as_deref()),
            installation.state.to_string(),
            or_dash(installation.paused_until.map(|until| relative(now, until))),
            dead.count.to_string(),
            dead.replay_safe_count.to_string(),
            or_dash(dead.oldest_failed_at.map(|at| relative(now, at))),
        ]
    };
    installations.iter().map(row).collect()
}
