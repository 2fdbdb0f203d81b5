//! What a plugin says.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::text::{ByeReason, DecidedInPlugin, Nonce, Outcome, PublicJwk, Signature, whole};
use crate::domain::digest::Digest;
use crate::domain::id::{GrantId, PageInstanceId, PairingId, ProposalId, RelaySessionId};
use crate::domain::relay::{self as rules, DesignTool, invocation};
use crate::relay::action::DesignAction;

words! {
    /// The types of frames that a plugin sends.
    PluginFrame {
        Hello => "hello",
        Proof => "proof",
        Confirm => "confirm",
        Context => "context",
        Shown => "shown",
        Decision => "decision",
        Allowance => "allowance",
        /// [`ActionResult`].
        Result => "result",
        Pong => "pong",
        /// [`Bye`].
        Bye => "bye",
    }
}

/// A frame of a plugin. It has no `Debug`, because it holds what people wrote.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromPlugin {
    /// The first frame.
    Hello(Box<Hello>),
    /// The answer to `challenge`.
    Proof(Proof),
    /// A person's answer to `claimed`.
    Confirm(Confirm),
    /// File or page have changed.
    Context(Context),
    /// A proposal stands on the screen.
    Shown(Shown),
    /// What was decided about a proposal.
    Decision(Decision),
    /// Leave to read for a while.
    Allowance(Allowance),
    /// How an action ended.
    Result(ActionResult),
    /// The answer to `ping`.
    Pong(Pong),
    /// The plugin leaves.
    Bye(Bye),
}

impl FromPlugin {
    /// Returns its type.
    #[must_use]
    pub const fn kind(&self) -> PluginFrame {
        match self {
            Self::Hello(_) => PluginFrame::Hello,
            Self::Proof(_) => PluginFrame::Proof,
            Self::Confirm(_) => PluginFrame::Confirm,
            Self::Context(_) => PluginFrame::Context,
            Self::Shown(_) => PluginFrame::Shown,
            Self::Decision(_) => PluginFrame::Decision,
            Self::Allowance(_) => PluginFrame::Allowance,
            Self::Result(_) => PluginFrame::Result,
            Self::Pong(_) => PluginFrame::Pong,
            Self::Bye(_) => PluginFrame::Bye,
        }
    }
}

/// Who connects, with which file.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// New with each socket.
    pub nonce: Nonce,
    /// New with each load of the page.
    pub instance: PageInstanceId,
    /// The tool it runs in.
    pub tool: DesignTool,
    /// Name and version of the plugin, at most 200 characters.
    pub plugin: String,
    /// The device's public key.
    pub key: PublicJwk,
    /// The session it remembers.
    pub session: Option<RelaySessionId>,
    /// The open file.
    pub file: File,
    /// The names of the actions it can carry out, at most 64; some may be of another version.
    pub actions: Vec<String>,
}

impl Hello {
    /// Returns the actions that both sides know.
    #[must_use]
    pub fn known_actions(&self) -> BTreeSet<DesignAction> {
        self.actions.iter().filter_map(|name| DesignAction::from_word(name)).collect()
    }
}

/// An open file. Texts are those of the document, at most 200 characters each.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What the tool calls it; `None` when the tool does not say.
    pub key: Option<String>,
    /// Its name, for people.
    pub name: String,
    /// The name of the open page.
    pub page: String,
}

/// The proof that the plugin has the private half of its key.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Over [`crate::relay::proof::proof_text`].
    pub signature: Signature,
    /// What the host's storage kept of earlier grants, at most 64.
    pub journal: Vec<Entry>,
}

/// One entry of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub grant: GrantId,
    /// How far it came.
    pub outcome: invocation::Entry,
}

/// A person's answer to `claimed`.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    pub pairing: PairingId,
    /// Whether the account may work on this file.
    pub accept: bool,
    /// Over [`crate::relay::proof::confirm_text`].
    pub signature: Signature,
}

/// File or page have changed.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// What is open now.
    pub file: File,
}

/// A proposal stands on the screen.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Shown {
    /// Which one.
    pub proposal: ProposalId,
    /// Of what the card shows.
    pub preview_sha256: Digest,
}

/// What was decided about a proposal.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    /// Which one.
    pub proposal: ProposalId,
    /// Of what the card showed.
    pub preview_sha256: Digest,
    /// What was decided.
    pub decision: rules::CardDecision,
    /// By whom.
    pub by: DecidedInPlugin,
    /// Why, as a word of the plugin: at most 64 characters `a-z0-9_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Over [`crate::relay::proof::DecisionText`].
    pub signature: Signature,
}

/// Leave to read for a while.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// For how long: 15 or 60; 0 ends it.
    #[serde(deserialize_with = "whole")]
    pub minutes: u64,
    /// Over [`crate::relay::proof::allowance_text`].
    pub signature: Signature,
}

/// How an action ended.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionResult {
    /// By which right it was carried out.
    pub grant: GrantId,
    /// How it ended.
    pub outcome: Outcome,
    /// What it gives, to be checked with [`DesignAction::check_result`]. `null` is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Why an action was not done, in the plugin's words.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// A word: at most 64 characters `a-z0-9_`.
    pub code: String,
    /// For people, at most 500 characters. It may repeat the document, so it is never logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The answer to `ping`.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pong {
    /// The number of the `ping`.
    #[serde(deserialize_with = "whole")]
    pub n: u64,
    /// Whether the page can be seen.
    pub visible: bool,
}

/// The plugin leaves.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bye {
    /// Why.
    pub reason: ByeReason,
}
