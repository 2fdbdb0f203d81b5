//! Cards: what a person is shown, made from the arguments and the file alone, and the digest of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::crypto::sha256;
use crate::demo::plugin::document::{Document, Kind, Node};
use crate::demo::plugin::heard::{Propose, Step};
use crate::domain::digest::Digest;
use crate::domain::id::ProposalId;
use crate::domain::relay::ActionEffect;
use crate::domain::time::Timestamp;
use crate::json::canonical;
use crate::relay::action::{CheckedAction, DesignAction};

/// A proposal on the screen.
#[derive(Clone)]
pub struct Card {
    pub proposal: ProposalId,
    /// The client that asks.
    pub client: String,
    /// Until when it can be decided.
    pub expires_at: Timestamp,
    /// What it says, one for each step.
    pub lines: Vec<CardStep>,
    /// The digest of its text and the fingerprints.
    pub preview: Digest,
    pub(super) steps: Vec<Step>,
    /// Fingerprints of the nodes, as they were shown.
    pub(super) prints: BTreeMap<String, Value>,
    /// The nodes that its steps have made so far; `None` for a step that makes none.
    pub(super) made: Vec<Option<String>>,
    pub(super) is_approved: bool,
}

/// What a card says of one step.
#[derive(Clone, PartialEq, Eq)]
pub struct CardStep {
    /// What is to be done.
    pub title: String,
    pub effect: ActionEffect,
    /// Label, old value and new value.
    pub rows: Vec<(String, Option<String>, String)>,
}

/// Why there is no card.
pub(super) enum NoCard {
    /// The daemon broke the protocol: a word for the reason.
    Broken(&'static str),
    /// The plugin says so in a decision: a word for the reason, and the digest that stands for no card.
    Refused(&'static str, Digest),
}

impl Card {
    /// Checks a proposal and looks at the file.
    pub(super) fn make(propose: &Propose, document: &Document) -> Result<Self, NoCard> {
        let steps = &propose.steps;
        let given: Vec<(&str, Map<String, Value>)> =
            steps.iter().map(|step| (step.action.as_str(), step.arguments.clone())).collect();
        let refused = |word: &'static str| {
            NoCard::Refused(word, sha256::of(&canonical(&json!({"refused": word, "v": 1}))))
        };
        let checked = CheckedAction::steps(&given).map_err(|_| refused("bad_arguments"))?;
        // The daemon makes both from the same arguments, so a difference is its fault and not one of the proposal.
        if checked.iter().zip(steps).any(|(own, step)| own.sha256() != step.arguments_sha256) {
            return Err(NoCard::Broken("bad_digest"));
        }
        if checked.iter().zip(steps).any(|(own, step)| own.action().effect() != step.effect) {
            return Err(NoCard::Broken("bad_effect"));
        }
        let mut prints = BTreeMap::new();
        let mut lines = Vec::new();
        for step in &checked {
            let seen = document.targets(step.action(), step.arguments()).map_err(refused)?;
            prints
                .extend(seen.iter().filter_map(|id| Some((id.clone(), document.fingerprint(id)?))));
            lines.push(line(step, document));
        }
        let preview = digest(&propose.client, &lines, &prints);
        Ok(Self {
            proposal: propose.proposal,
            client: propose.client.clone(),
            expires_at: propose.expires_at,
            lines,
            preview,
            steps: steps.clone(),
            prints,
            made: Vec::new(),
            is_approved: false,
        })
    }

    /// Returns the arguments of a step with the ids of the nodes that earlier steps have made.
    pub(super) fn resolved(&self, position: usize) -> Map<String, Value> {
        let step = self.steps.get(position);
        let resolve = |value: &Value| match value.get("step").and_then(Value::as_f64) {
            Some(step) => {
                let step = format!("{step:.0}").parse::<usize>().ok();
                json!(step.and_then(|step| self.made.get(step)).cloned().flatten())
            }
            None => value.clone(),
        };
        let arguments = step.into_iter().flat_map(|step| &step.arguments);
        arguments.map(|(name, value)| (name.clone(), resolve(value))).collect()
    }
}

fn digest(client: &str, lines: &[CardStep], prints: &BTreeMap<String, Value>) -> Digest {
    let steps: Vec<Value> = lines
        .iter()
        .map(|line| json!({"title": line.title, "effect": line.effect.as_str(), "rows": line.rows}))
        .collect();
    let prints: Vec<&Value> = prints.values().collect();
    sha256::of(&canonical(&json!({"client": client, "steps": steps, "targets": prints, "v": 1})))
}

fn line(step: &CheckedAction, document: &Document) -> CardStep {
    let (action, arguments) = (step.action(), step.arguments());
    let node = arguments.get("node").and_then(Value::as_str).and_then(|id| document.node(id));
    let named = |name: &str| match arguments.get(name) {
        Some(Value::String(id)) => document.node(id).map_or_else(|| "a node".to_owned(), called),
        Some(value) => match value.get("step").and_then(Value::as_u64) {
            Some(step) => format!("what step {} makes", step + 1),
            None => "a node".to_owned(),
        },
        None => String::new(),
    };
    let mut rows = Vec::new();
    for (name, value) in arguments {
        let value = match name.as_str() {
            "node" => continue,
            "parent" => named("parent"),
            _ => shown(value),
        };
        let old = node.and_then(|node| old(action, node, name));
        rows.push((name.clone(), old, value));
    }
    if action == DesignAction::DeleteNode
        && let Some(id) = arguments.get("node").and_then(Value::as_str)
    {
        rows.push(("goes with it".to_owned(), None, format!("{} nodes", document.below(id).len())));
    }
    let title = match named("node") {
        node if node.is_empty() => action.title().to_owned(),
        node => format!("{}: {node}", action.title()),
    };
    CardStep { title, effect: action.effect(), rows }
}

fn called(node: &Node) -> String {
    format!("{} \"{}\"", node.kind, node.name)
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// The value in the file that an argument replaces.
fn old(action: DesignAction, node: &Node, argument: &str) -> Option<String> {
    match (action, argument) {
        (DesignAction::SetText, "text") if node.kind == Kind::Text => node.text.clone(),
        (DesignAction::SetFill, "color") => node.fill.clone(),
        (DesignAction::RenameNode, "name") => Some(node.name.clone()),
        (DesignAction::MoveNode, "x") => Some(node.x.to_string()),
        (DesignAction::MoveNode, "y") => Some(node.y.to_string()),
        (DesignAction::ResizeNode, "width") => Some(node.width.to_string()),
        (DesignAction::ResizeNode, "height") => Some(node.height.to_string()),
        _ => None,
    }
}
