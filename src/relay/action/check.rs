//! Arguments and results, checked.

use std::fmt;

use serde_json::{Map, Value};

use super::DesignAction;
use crate::domain::digest::Digest;
use crate::domain::relay::ActionEffect;
use crate::json;
use crate::relay::digest;

/// Most bytes of the arguments of a proposal, as JSON without blanks.
pub const ARGUMENTS_BYTES_MAX: usize = 64 << 10;
/// How deep arguments may be nested, the arguments themselves included.
pub const DEPTH_MAX: usize = 8;
/// Most steps of a proposal.
pub const STEPS_MAX: usize = 20;
/// Most bytes of a result other than an image, as JSON without blanks. An image is bounded by its schema.
pub const RESULT_BYTES_MAX: usize = 256 << 10;

/// An action with arguments that it takes, every number rounded to three decimals.
///
/// Only [`DesignAction::check`] and [`CheckedAction::steps`] make one. It has no `Debug`, because arguments are what people write.
#[derive(Clone, PartialEq)]
pub struct CheckedAction {
    action: DesignAction,
    arguments: Map<String, Value>,
    sha256: Digest,
}

/// Why arguments are refused: which step, which place in it, and what is allowed there. It repeats nothing of the
/// arguments but names that are in the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The step, from 0; `None` when it is the whole proposal.
    pub step: Option<usize>,
    /// What is wrong and what is allowed.
    pub message: String,
}

words! {
    /// Why a result is not passed on. The invocation has then failed, although something may have been done: the
    /// plugin is broken.
    ResultFault {
        /// It is not what the action gives.
        Bad => "bad_result",
        /// It is larger than results may be.
        TooLarge => "result_too_large",
    }
}

impl CheckedAction {
    /// Checks the steps of a proposal, in order.
    ///
    /// # Errors
    /// With the first step that is refused.
    pub fn steps(steps: &[(&str, Map<String, Value>)]) -> Result<Vec<Self>, Refusal> {
        if steps.is_empty() || steps.len() > STEPS_MAX {
            return Err(Refusal::whole(format!("a proposal must have 1 to {STEPS_MAX} steps")));
        }
        let mut checked = Vec::with_capacity(steps.len());
        let mut bytes = 0;
        for (place, (name, arguments)) in steps.iter().enumerate() {
            let of_step = |message| Refusal { step: Some(place), message };
            let action = DesignAction::from_word(name).ok_or_else(|| of_step(unknown_action()))?;
            let step = action.admit(arguments).map_err(of_step)?;
            bytes += size(&Value::Object(step.arguments.clone()));
            // Of all steps together: they are stored, sent and shown as one card.
            if bytes > ARGUMENTS_BYTES_MAX {
                return Err(Refusal::whole(too_large()));
            }
            step.check_references(&checked).map_err(of_step)?;
            checked.push(step);
        }
        Ok(checked)
    }

    /// Returns the action.
    #[must_use]
    pub const fn action(&self) -> DesignAction {
        self.action
    }

    /// Returns the arguments, rounded: what is stored, sent and shown.
    #[must_use]
    pub const fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// Returns `argumentsSha256`.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// A step names only nodes that earlier steps make.
    fn check_references(&self, earlier: &[Self]) -> Result<(), String> {
        for (name, value) in &self.arguments {
            let Some(step) = value.get("step") else { continue };
            let step = step.as_u64().and_then(|step| usize::try_from(step).ok());
            let made = step.and_then(|step| earlier.get(step));
            if !made.is_some_and(|made| made.action.makes_node()) {
                return Err(format!(
                    "at /{name}/step only the number of an earlier step that creates a node is allowed"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the highest effect of some steps: that of their proposal.
#[must_use]
pub fn highest_effect(steps: &[CheckedAction]) -> Option<ActionEffect> {
    steps.iter().map(|step| step.action.effect()).max()
}

impl DesignAction {
    /// Checks the arguments of a call that is a proposal of its own.
    ///
    /// # Errors
    /// With the place of the first fault and what is allowed there.
    pub fn check(self, arguments: &Map<String, Value>) -> Result<CheckedAction, Refusal> {
        let checked = self.admit(arguments).map_err(Refusal::whole)?;
        checked.check_references(&[]).map_err(Refusal::whole)?;
        Ok(checked)
    }

    /// Checks a result.
    ///
    /// # Errors
    /// By what is wrong with it.
    pub fn check_result(self, value: &Value) -> Result<(), ResultFault> {
        if self != Self::ExportImage && size(value) > RESULT_BYTES_MAX {
            return Err(ResultFault::TooLarge);
        }
        self.schemas().result.check(value).map_err(|_| ResultFault::Bad)
    }

    fn admit(self, arguments: &Map<String, Value>) -> Result<CheckedAction, String> {
        let given = Value::Object(arguments.clone());
        let text = given.to_string();
        if text.len() > ARGUMENTS_BYTES_MAX {
            return Err(too_large());
        }
        if json::depth(text.as_bytes()) > DEPTH_MAX {
            return Err(format!("arguments can be nested at most {DEPTH_MAX} levels deep"));
        }
        let schema = &self.schemas().arguments;
        let check = |value: &Value| schema.check(value).map_err(|mismatch| mismatch.to_string());
        check(&given)?;
        let arguments = digest::rounded_members(arguments);
        // Rounding can lead out of what is allowed: a width of 0.0004 becomes 0.
        check(&Value::Object(arguments.clone()))?;
        let sha256 = digest::arguments(self.as_str(), &arguments);
        Ok(CheckedAction { action: self, arguments, sha256 })
    }
}

impl Refusal {
    const fn whole(message: String) -> Self {
        Self { step: None, message }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "step {step}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn too_large() -> String {
    format!("the arguments of a proposal can have at most {ARGUMENTS_BYTES_MAX} bytes as JSON")
}

fn unknown_action() -> String {
    let names: Vec<&str> = DesignAction::ALL.iter().map(|action| action.as_str()).collect();
    format!("at /action only these actions are allowed: {}", names.join(", "))
}
