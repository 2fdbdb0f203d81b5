//! Ids as a person types them: whole, by their beginning, or, of a release run, by its tag.

use std::fmt;

use uuid::Uuid;

use crate::api::MatchingIds;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::{Global, installations};
use crate::domain::dead_letter::ItemType;
use crate::domain::id::{IdKind, IdPrefix, InstallationId};

/// What was typed for the id of an item.
#[derive(Clone, Debug)]
pub(crate) struct IdArg(String);

impl IdArg {
    /// Reads an id or its beginning.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.to_ascii_lowercase();
        match IdPrefix::new(&text) {
            Some(_) => Ok(Self(text)),
            None => Err("neither an ID nor the beginning of one"),
        }
    }

    /// Reads the same, or a tag.
    pub(crate) fn parse_or_tag(text: &str) -> Result<Self, &'static str> {
        let text = text.strip_prefix("refs/tags/").unwrap_or(text);
        if (1..=255).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err("neither a tag nor an ID or the beginning of one")
        }
    }

    /// Says whether it is a whole id, so that nothing is looked up.
    pub(crate) fn is_whole(&self) -> bool {
        self.0.parse::<Uuid>().is_ok()
    }

    /// Returns the id that is meant. Only what is not a whole id is looked up.
    pub(crate) fn resolve(
        &self,
        kind: IdKind,
        client: &Client,
        installation: InstallationId,
        global: &Global,
    ) -> Result<Uuid, Error> {
        if let Ok(id) = self.0.parse() {
            return Ok(id);
        }
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("type", kind.as_str())
            .append_pair("prefix", &self.0)
            .finish();
        let found: MatchingIds =
            client.get(&format!("/api/v1/operator/installations/{installation}/ids?{query}"))?;
        match found.ids.as_slice() {
            [id] => id.parse().map_err(|_| {
                Error::new(Exit::Malformed, "cannot understand the response from svcd")
                    .hint("compare the versions: svcctl --version; svcd --version")
            }),
            [] => Err(self.unknown(kind, client, global)),
            several => Err(self.ambiguous(kind, several, found.has_more)),
        }
    }

    fn unknown(&self, kind: IdKind, client: &Client, global: &Global) -> Error {
        if let Err(error) = installations::ensure_known(client, global) {
            return error;
        }
        let (what, list) = match kind {
            IdKind::Job | IdKind::Outbox => ("dead letter of this type", "dead-letters list"),
            IdKind::ReleaseRun => ("release run", "releases list"),
            IdKind::ReconciliationItem => (
                "reconciliation that was given up",
                "reconcile list --status dead_letter --closed=false",
            ),
        };
        let named = match kind {
            IdKind::ReleaseRun => format!("the tag {self}, or an ID that begins with it"),
            IdKind::Job | IdKind::Outbox | IdKind::ReconciliationItem => {
                format!("an ID that begins with {self}")
            }
        };
        let message = format!("in this installation, no {what} has {named}");
        let list = NextCommand::new(list, global).into_line();
        let error = Error::new(Exit::NotFound, message).hint(format!("list the items: {list}"));
        if matches!(kind, IdKind::ReleaseRun) {
            // The webhook arrived nevertheless: its job is what shows it.
            let died = NextCommand::new("dead-letters list --type job", global).into_line();
            error.hint(format!(
                "no release run exists while the job of its webhook is a dead letter: {died}"
            ))
        } else {
            error
        }
    }

    fn ambiguous(&self, kind: IdKind, ids: &[String], has_more: bool) -> Error {
        let what = match kind {
            IdKind::Job | IdKind::Outbox => "items",
            IdKind::ReleaseRun => "release runs",
            IdKind::ReconciliationItem => "reconciliations",
        };
        let at_least = if has_more { "more than " } else { "" };
        let message = format!("{self} matches {at_least}{} {what}; use a whole ID", ids.len());
        let error = Error::new(Exit::Usage, message);
        ids.iter().fold(error, |error, id| error.hint(id.as_str()))
    }
}

impl fmt::Display for IdArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns what an item's id is looked up as.
pub(crate) const fn kind_of(item_type: ItemType) -> IdKind {
    match item_type {
        ItemType::Job => IdKind::Job,
        ItemType::Outbox => IdKind::Outbox,
    }
}
