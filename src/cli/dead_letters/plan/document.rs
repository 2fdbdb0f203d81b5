//! The file of a plan: one JSON document, written and read an item at a time, so that its length does not matter.
//!
//! What is in it, and why it has a digest: `docs/decisions/123-plans.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read, Write};

use ring::digest::{Context, SHA256};
use serde::de::{self, DeserializeOwned, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::domain::dead_letter::{ItemId, ItemType};
use crate::domain::digest::Digest;
use crate::domain::id::InstallationId;
use crate::domain::operation::{OperationId, OperatorReason};
use crate::domain::time::Timestamp;

/// Version of the format.
pub(crate) const SCHEMA_VERSION: u32 = 1;
/// Most items of one plan.
pub(crate) const ITEMS_MAX: usize = 100_000;
/// Longest file that is read, in bytes: as many items of the greatest length, and more than the rest can have.
const BYTES_MAX: u64 = 64 << 20;

/// What a plan does with its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlanAction {
    Replay,
    Close,
}

impl PlanAction {
    /// Returns the word of the document.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Close => "close",
        }
    }
}

/// What a plan is, apart from its items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PlanHead {
    /// UUID.
    pub(crate) plan_id: String,
    /// When it was made, by the clock of svcctl.
    pub(crate) created_at: Timestamp,
    /// UUID of the database that the items are in.
    pub(crate) store_id: String,
    pub(crate) action: PlanAction,
    /// Why the items are closed, in the operator's own words; null when they are replayed.
    pub(crate) reason: Option<String>,
    /// The installations that were looked at.
    pub(crate) installation_ids: Vec<InstallationId>,
    /// They were all that the service knew.
    pub(crate) all_installations: bool,
    /// The filters of the list, as the service names them.
    pub(crate) filters: BTreeMap<String, String>,
}

/// One item, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PlanItem {
    pub(crate) installation_id: InstallationId,
    /// `job` or `outbox`.
    pub(crate) item_type: String,
    /// UUID.
    pub(crate) item_id: String,
    /// When it died: of an item that has died again since, another death is meant.
    pub(crate) failed_at: Timestamp,
    pub(crate) reason_code: String,
    pub(crate) replay_class: String,
}

/// What is in a plan, counted, and what is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PlanSummary {
    pub(crate) items: usize,
    pub(crate) installations: BTreeMap<String, usize>,
    pub(crate) reasons: BTreeMap<String, usize>,
    pub(crate) replay_classes: BTreeMap<String, usize>,
    pub(crate) left_out: Vec<LeftOut>,
    /// More dead letters fit the filters than one plan can have.
    pub(crate) truncated: bool,
}

/// Dead letters that fit the filters, and cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LeftOut {
    pub(crate) replay_class: String,
    pub(crate) count: usize,
    /// What the class means.
    pub(crate) why: String,
}

impl PlanSummary {
    fn count(&mut self, item: &PlanItem) {
        self.items += 1;
        *self.installations.entry(item.installation_id.to_string()).or_default() += 1;
        *self.reasons.entry(item.reason_code.clone()).or_default() += 1;
        *self.replay_classes.entry(item.replay_class.clone()).or_default() += 1;
    }

    /// Counts a dead letter that is left out.
    pub(crate) fn leave_out(&mut self, class: &str, why: &str) {
        match self.left_out.iter_mut().find(|left| left.replay_class == class) {
            Some(left) => left.count += 1,
            None => self.left_out.push(LeftOut {
                replay_class: class.to_owned(),
                count: 1,
                why: why.to_owned(),
            }),
        }
    }

    fn has_counts_of(&self, other: &Self) -> bool {
        self.items == other.items
            && self.installations == other.installations
            && self.reasons == other.reasons
            && self.replay_classes == other.replay_classes
    }
}

/// Writes a plan, one item a line.
pub(crate) struct PlanWriter<W> {
    out: W,
    head: PlanHead,
    pub(crate) summary: PlanSummary,
    items: Context,
}

impl<W: Write> PlanWriter<W> {
    pub(crate) fn begin(mut out: W, head: PlanHead) -> io::Result<Self> {
        write!(out, "{{\n\"schemaVersion\": {SCHEMA_VERSION},\n\"plan\": ")?;
        serde_json::to_writer_pretty(&mut out, &head)?;
        out.write_all(b",\n\"items\": [")?;
        Ok(Self { out, head, summary: PlanSummary::default(), items: Context::new(&SHA256) })
    }

    pub(crate) fn item(&mut self, item: &PlanItem) -> io::Result<()> {
        let line = serde_json::to_vec(item)?;
        self.out.write_all(if self.summary.items == 0 { b"\n" } else { b",\n" })?;
        self.out.write_all(&line)?;
        self.items.update(&line);
        self.summary.count(item);
        Ok(())
    }

    /// Ends the document; returns what is in it.
    pub(crate) fn end(mut self) -> io::Result<(PlanHead, PlanSummary)> {
        let digest = digest(&self.head, &self.summary, self.items);
        self.out.write_all(b"\n],\n\"summary\": ")?;
        serde_json::to_writer_pretty(&mut self.out, &self.summary)?;
        writeln!(self.out, ",\n\"sha256\": \"{digest}\"\n}}")?;
        self.out.flush()?;
        Ok((self.head, self.summary))
    }
}

/// Returns the digest of what a plan says. How the file is laid out is not part of it.
fn digest(head: &PlanHead, summary: &PlanSummary, items: Context) -> Digest {
    let mut whole = Context::new(&SHA256);
    for part in [serde_json::to_vec(head), serde_json::to_vec(summary)] {
        whole.update(&part.expect("text and counts always serialize"));
        whole.update(b"\n");
    }
    whole.update(items.finish().as_ref());
    let mut bytes = [0; 32];
    bytes.copy_from_slice(whole.finish().as_ref());
    bytes.into()
}

/// One item as it is kept while a plan is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedItem {
    pub(crate) installation: InstallationId,
    pub(crate) item: ItemId,
    pub(crate) failed_at: Timestamp,
    /// Which of the reasons of the plan: a number of its own for each.
    pub(crate) reason: u32,
}

/// What is to be done with each item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlannedAction {
    Replay,
    Close(OperatorReason),
}

/// A plan that was read, and is as it was written.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) head: PlanHead,
    pub(crate) action: PlannedAction,
    pub(crate) items: Vec<PlannedItem>,
    pub(crate) summary: PlanSummary,
}

/// Why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanFault {
    #[error("it has version {0} of the format, and this svcctl knows version {SCHEMA_VERSION}")]
    Newer(u32),
    #[error("it is not a plan, or it was changed after it was written")]
    NotAPlan(#[source] serde_json::Error),
    #[error("it was changed after it was written")]
    Edited,
}

impl Plan {
    /// Reads a plan. `open` opens the file, and is called again only to find out which version of the format it has.
    pub(crate) fn read<R: Read>(
        open: impl Fn() -> io::Result<R>,
    ) -> io::Result<Result<Self, PlanFault>> {
        let document: Document = match parse(open()?) {
            Ok(document) => document,
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => {
                let version = parse::<Versioned>(open()?).ok().map(|found| found.schema_version);
                return Ok(Err(match version {
                    Some(version) if version > SCHEMA_VERSION => PlanFault::Newer(version),
                    _ => PlanFault::NotAPlan(error),
                }));
            }
        };
        Ok(document.checked())
    }

    /// Returns the idempotency key of an item: always the same, so that nothing happens twice. It has the plan's id, so that
    /// the audit event has it too.
    pub(crate) fn key(&self, item: ItemId) -> OperationId {
        let key = format!("{}/{}/{item}", self.head.plan_id, item.item_type());
        OperationId::new(&key).expect("two UUIDs and a word are short visible ASCII")
    }
}

fn parse<T: DeserializeOwned>(file: impl Read) -> Result<T, serde_json::Error> {
    serde_json::from_reader(io::BufReader::new(file.take(BYTES_MAX)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Versioned {
    schema_version: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    schema_version: u32,
    plan: PlanHead,
    items: Items,
    summary: PlanSummary,
    sha256: String,
}

impl Document {
    fn checked(self) -> Result<Plan, PlanFault> {
        if self.schema_version != SCHEMA_VERSION {
            return Err(PlanFault::Newer(self.schema_version));
        }
        let Items { kept, counts, digest: items } = self.items;
        let is_as_written = digest(&self.plan, &self.summary, items).to_string() == self.sha256;
        let plan = self.plan;
        let is_id = Uuid::parse_str(&plan.plan_id).is_ok_and(|id| id.to_string() == plan.plan_id);
        let named: BTreeSet<_> = plan.installation_ids.iter().collect();
        let names = |item: &PlannedItem| named.contains(&item.installation);
        let is_whole = is_id && counts.has_counts_of(&self.summary) && kept.iter().all(names);
        let action = match (plan.action, plan.reason.as_deref()) {
            (PlanAction::Replay, None) => Some(PlannedAction::Replay),
            (PlanAction::Close, Some(reason)) => {
                OperatorReason::new(reason).map(PlannedAction::Close)
            }
            _ => None,
        };
        match action.filter(|_| is_as_written && is_whole) {
            Some(action) => Ok(Plan { head: plan, action, items: kept, summary: self.summary }),
            None => Err(PlanFault::Edited),
        }
    }
}

/// The items, each checked, counted and made small while it is read.
struct Items {
    kept: Vec<PlannedItem>,
    counts: PlanSummary,
    digest: Context,
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Items;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the items of a plan")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items, A::Error> {
        let mut read = Items {
            kept: Vec::new(),
            counts: PlanSummary::default(),
            digest: Context::new(&SHA256),
        };
        let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
        while read.kept.len() < ITEMS_MAX {
            let Some(item) = items.next_element::<PlanItem>()? else { return Ok(read) };
            read.digest.update(&serde_json::to_vec(&item).map_err(de::Error::custom)?);
            read.counts.count(&item);
            let id = ItemType::from_word(&item.item_type)
                .and_then(|item_type| ItemId::parse(item_type, &item.item_id));
            let id = id.ok_or_else(|| de::Error::custom("an item has no valid type and id"))?;
            let next = u32::try_from(reasons.len()).unwrap_or(u32::MAX);
            let reason = *reasons.entry(item.reason_code).or_insert(next);
            read.kept.push(PlannedItem {
                installation: item.installation_id,
                item: id,
                failed_at: item.failed_at,
                reason,
            });
        }
        match items.next_element::<IgnoredAny>()? {
            None => Ok(read),
            Some(_) => Err(de::Error::custom("it has too many items")),
        }
    }
}

#[cfg(test)]
mod tests;
