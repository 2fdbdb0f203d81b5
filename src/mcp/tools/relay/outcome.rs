//! What a caller is told about an invocation: how it ended, or that it has not, and what to do next. What has not been
//! carried out is an error, because models take anything else as done.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::api::relay::{Invocation, RelayRefusal};
use crate::domain::id::InvocationId;
use crate::domain::relay::RelayReason;
use crate::domain::relay::invocation;
use crate::mcp::result::ToolResult;
use crate::relay::action::{self, DesignAction};

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The only step of a proposal that the call made.
    Action,
    /// All steps of a proposal that the call made.
    Steps,
    /// An invocation that was proposed before.
    Invocation(InvocationId),
}

/// Returns the result of a call about these invocations.
pub(super) fn of(about: About, steps: &[Invocation]) -> ToolResult {
    match (about, steps) {
        (About::Action | About::Invocation(_), [one]) => of_one(one),
        _ => of_steps(steps),
    }
}

/// Returns the result of a call about one invocation.
pub(super) fn of_one(invocation: &Invocation) -> ToolResult {
    let mut structured = described(invocation);
    if !invocation.has_ended() {
        add_pending(&mut structured, invocation);
    }
    with_images(judged(ToolResult::of(&structured), invocation), &[invocation])
}

/// Returns the result of taking an invocation back.
pub(super) fn of_cancelled(invocation: &Invocation) -> ToolResult {
    let result = of_one(invocation);
    match state(invocation) {
        // What this call asked for, although it is an error to the call that proposed the invocation.
        invocation::State::Cancelled => ToolResult { is_error: false, ..result },
        invocation::State::Succeeded => {
            let sentence = "It was carried out before it could be cancelled.";
            ToolResult { is_error: true, ..with_sentence(result, sentence) }
        }
        _ => result,
    }
}

/// Returns the result of a call about all steps of a proposal.
fn of_steps(steps: &[Invocation]) -> ToolResult {
    let Some(first) = steps.first() else { return refused(&no_such_invocation()) };
    let deciding = deciding(steps).unwrap_or(first);
    let mut structured = Map::from_iter([
        ("proposal".to_owned(), json!(first.proposal.to_string())),
        ("session".to_owned(), json!(first.session.to_string())),
        ("file".to_owned(), json!(first.file)),
        ("steps".to_owned(), steps.iter().map(|step| Value::from(of_step(step))).collect()),
    ]);
    if !deciding.has_ended() {
        structured.insert("invocation".to_owned(), json!(deciding.invocation.to_string()));
        add_pending(&mut structured, deciding);
    }
    let result = judged(ToolResult::of(&structured), deciding);
    let all: Vec<&Invocation> = steps.iter().collect();
    with_images(result, &all)
}

/// Returns the step whose state is that of the proposal: the first that has not succeeded, or the last.
pub(super) fn deciding(steps: &[Invocation]) -> Option<&Invocation> {
    steps.iter().find(|step| state(step) != invocation::State::Succeeded).or(steps.last())
}

/// Returns the status of an invocation that is a task, as a sentence.
pub(super) fn status_message(invocation: &Invocation) -> String {
    match state(invocation) {
        invocation::State::Proposed | invocation::State::Shown => format!(
            "A person must decide in the plugin of the design tool, until {}.",
            invocation.expires_at
        ),
        invocation::State::Approved | invocation::State::Running => {
            "The person has approved it, and it is being carried out.".to_owned()
        }
        _ => sentence(invocation),
    }
}

/// Returns the result for a refusal of the relay.
pub(super) fn refused(refusal: &RelayRefusal) -> ToolResult {
    let result = with_sentence(ToolResult::of(refusal), &refusal.message);
    ToolResult { is_error: true, ..result }
}

/// Returns the result for arguments that the action does not accept.
pub(super) fn not_a_call(refusal: &action::Refusal) -> ToolResult {
    let message = match refusal.step {
        Some(step) => format!("In /steps/{step}/arguments: {}", refusal.message),
        None => refusal.message.clone(),
    };
    ToolResult::failure(&format!("Nothing was proposed. {message}."))
}

/// Returns the refusal for an unknown invocation, which is also that for another subject's.
pub(super) fn no_such_invocation() -> RelayRefusal {
    RelayRefusal {
        code: Cow::Borrowed("no_such_invocation"),
        message:
            "There is no such invocation. Use the id that was returned by the call that proposed it."
                .to_owned(),
        sessions: Vec::new(),
        retry_after_seconds: None,
    }
}

/// Returns a result whose first content is a sentence.
pub(super) fn with_sentence(mut result: ToolResult, sentence: &str) -> ToolResult {
    result.content.insert(0, json!({ "type": "text", "text": sentence }));
    result
}

/// Makes a result an error or not, by the state of this invocation.
fn judged(result: ToolResult, invocation: &Invocation) -> ToolResult {
    let sentence = sentence(invocation);
    match state(invocation) {
        invocation::State::Succeeded if invocation.value_gone => with_sentence(result, &sentence),
        invocation::State::Succeeded => result,
        _ => ToolResult { is_error: true, ..with_sentence(result, &sentence) },
    }
}

/// Reads the state; an unknown word counts as the state after which nothing is sent again.
fn state(invocation: &Invocation) -> invocation::State {
    invocation::State::from_word(&invocation.state).unwrap_or(invocation::State::Unknown)
}

/// Says what an invocation's state means, and what to do next.
fn sentence(invocation: &Invocation) -> String {
    let Invocation { invocation: id, expires_at, .. } = invocation;
    let reason = invocation.reason.as_deref().and_then(RelayReason::from_word);
    match state(invocation) {
        invocation::State::Proposed | invocation::State::Shown => format!(
            "Nothing has happened yet: a person must decide in the plugin of the design tool, until {expires_at}. Ask the \
             person who has the file open to look there, and call get_invocation with {id}. Do not propose it again."
        ),
        invocation::State::Approved | invocation::State::Running => format!(
            "The person has approved it, and it is being carried out. Call get_invocation with {id} to see how it ended. Do \
             not propose it again."
        ),
        invocation::State::Succeeded => "It was carried out, but its result is no longer \
        available: a result is kept for at most ten minutes, and only by the process of svcd that \
        received it from the plugin. A tool that only reads can be called again."
            .to_owned(),
        invocation::State::Failed => format!("It failed, and nothing was changed. {}", after_failure(reason)),
        invocation::State::Stale => "Nothing was done: the document has changed since the person saw the card. Read the nodes again, and \
                         propose what fits them."
            .to_owned(),
        invocation::State::Denied => "The person has denied it, and nothing was changed. Ask the person what they want instead before \
                          you propose anything else."
            .to_owned(),
        invocation::State::Expired => format!("Nothing was changed: {}", after_expiry(reason)),
        invocation::State::Cancelled => format!("Nothing was changed: {}", after_cancellation(reason)),
        invocation::State::Unknown => "It is not known whether it was carried out. Read the nodes or ask the person before you propose \
                           anything like it; nothing is sent again by itself. If it becomes known, get_invocation returns it."
            .to_owned(),
    }
}

fn after_failure(reason: Option<RelayReason>) -> &'static str {
    match reason {
        Some(RelayReason::NoSuchNode) => {
            "The file has no such node: find it with find_nodes, and propose again."
        }
        Some(RelayReason::PageNotActive) => {
            "The page is not the open one: ask the person to open it, and propose again."
        }
        Some(RelayReason::ResultTooLarge) => {
            "What it returned is too large: ask for less, with a smaller depth, limit or scale."
        }
        Some(RelayReason::NotDelivered) => "The plugin did not receive it: propose it again.",
        Some(RelayReason::WithdrawnByPerson) => {
            "The person stopped it. Ask them what they want instead."
        }
        _ => "The plugin could not do it: check the arguments, and propose again.",
    }
}

fn after_expiry(reason: Option<RelayReason>) -> &'static str {
    match reason {
        Some(RelayReason::FileChanged) => {
            "another file was opened in the plugin. Call list_design_sessions before you propose it again."
        }
        Some(RelayReason::Disconnected) => {
            "the plugin was disconnected before it was carried out. Ask the person to open it, and propose again."
        }
        Some(RelayReason::GrantExpired) => {
            "it was approved, but could not begin in time. Propose it again."
        }
        _ => "it was not decided in time. Ask the person to look at the plugin, and propose again.",
    }
}

fn after_cancellation(reason: Option<RelayReason>) -> &'static str {
    match reason {
        Some(RelayReason::StepFailed) => {
            "an earlier step did not succeed. See how that step ended, and propose the rest again."
        }
        Some(RelayReason::Revoked) => {
            "the pairing was revoked. Ask the person to pair again if they want to go on."
        }
        Some(RelayReason::WithdrawnByPerson) => {
            "the person has withdrawn the approval. Ask them what they want instead."
        }
        Some(RelayReason::DeniedByOperator) => {
            "an operator of the service has denied it. Ask the person before you propose it again."
        }
        _ => "it was cancelled before it began. It can be proposed again.",
    }
}

/// Returns an invocation as structured content.
fn described(invocation: &Invocation) -> Map<String, Value> {
    let mut members = of_step(invocation);
    members.insert("session".to_owned(), json!(invocation.session.to_string()));
    members.insert("file".to_owned(), json!(invocation.file));
    members
}

/// Returns an invocation as one of several that ran in the same session.
fn of_step(invocation: &Invocation) -> Map<String, Value> {
    Map::from_iter([
        ("invocation".to_owned(), json!(invocation.invocation.to_string())),
        ("action".to_owned(), json!(invocation.action)),
        ("state".to_owned(), json!(invocation.state)),
        ("reason".to_owned(), json!(invocation.reason)),
        ("settledLate".to_owned(), json!(invocation.settled_late)),
        ("value".to_owned(), value(invocation)),
        ("valueGone".to_owned(), json!(invocation.value_gone)),
    ])
}

/// Returns its value without the bytes of an image, which are separate content.
fn value(invocation: &Invocation) -> Value {
    let mut value = invocation.value.clone().unwrap_or_default();
    if is_image(invocation)
        && let Some(members) = value.as_object_mut()
    {
        members.remove("data");
    }
    value
}

fn is_image(invocation: &Invocation) -> bool {
    DesignAction::from_word(&invocation.action) == Some(DesignAction::ExportImage)
}

/// Adds the state of an invocation that has not ended.
fn add_pending(structured: &mut Map<String, Value>, invocation: &Invocation) {
    let status = match state(invocation) {
        invocation::State::Approved | invocation::State::Running => "running",
        _ => "approval_pending",
    };
    structured.insert("status".to_owned(), status.into());
    structured.insert("expiresAt".to_owned(), json!(invocation.expires_at));
}

/// Returns a result with the images that its invocations returned.
fn with_images(mut result: ToolResult, invocations: &[&Invocation]) -> ToolResult {
    for invocation in invocations.iter().filter(|it| is_image(it)) {
        let Some(value) = &invocation.value else { continue };
        let (Some(data), Some(media_type)) = (value.get("data"), value.get("mimeType")) else {
            continue;
        };
        result.content.push(json!({ "type": "image", "data": data, "mimeType": media_type }));
    }
    result
}
