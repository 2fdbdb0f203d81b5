//! The arguments of a tool, checked with the very schema that is listed.

use serde_json::{Map, Value};

use crate::json::schema::{Mismatch, Schema};

/// What a tool takes.
pub(super) struct Arguments(Schema);

impl Arguments {
    /// Compiles a schema.
    pub(super) fn new(schema: Value) -> Self {
        Self(Schema::new(schema))
    }

    /// Checks arguments, and gives them back.
    ///
    /// # Errors
    /// Where the first fault is and what is allowed there, as the schema says it. Nothing of the arguments is repeated
    /// but names that are in the schema.
    pub(super) fn check(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let arguments = Value::from(arguments);
        match (self.0.check(&arguments), arguments) {
            (Ok(()), Value::Object(arguments)) => Ok(arguments),
            (Err(mismatch), _) => Err(refusal(&mismatch)),
            (Ok(()), _) => Err(String::new()),
        }
    }
}

fn refusal(Mismatch { place, allowed }: &Mismatch) -> String {
    let place = if place.is_empty() { "the arguments" } else { place };
    format!(
        "The arguments do not match the input schema of this tool. At {place} it requires {allowed}."
    )
}
