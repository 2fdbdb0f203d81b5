//! The arguments of a tool, checked with the very schema that is listed.

use jsonschema::Validator;
use serde_json::{Map, Value};

/// Longest refusal, in bytes: a schema may allow a lot.
const REFUSAL_BYTES_MAX: usize = 1_024;

/// What a tool takes.
pub(super) struct Arguments {
    schema: Value,
    validator: Validator,
}

impl Arguments {
    /// Compiles a schema. Nothing is fetched for it.
    pub(super) fn new(schema: Value) -> Self {
        let validator = jsonschema::draft202012::new(&schema);
        let validator = validator.expect("the schemas of tools are part of the program");
        Self { schema, validator }
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
        let refusal = self.validator.iter_errors(&arguments).next().map(|error| {
            let keyword = error.schema_path().to_string();
            self.refuse(&error.instance_path().to_string(), &keyword)
        });
        match (refusal, arguments) {
            (None, Value::Object(arguments)) => Ok(arguments),
            (refusal, _) => Err(refusal.unwrap_or_default()),
        }
    }

    fn refuse(&self, place: &str, keyword_path: &str) -> String {
        let place = if place.is_empty() { "the arguments" } else { place };
        let (parent, keyword) = keyword_path.rsplit_once('/').unwrap_or(("", keyword_path));
        let allowed = match (keyword, self.schema.pointer(parent)) {
            ("additionalProperties", Some(parent)) => {
                let names = parent.get("properties").and_then(Value::as_object);
                let names: Vec<&str> =
                    names.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                format!("no members but: {}", names.join(", "))
            }
            (_, Some(parent)) => {
                let allowed = parent.get(keyword).unwrap_or(&Value::Null);
                format!("\"{keyword}\": {allowed}")
            }
            (_, None) => format!("\"{keyword}\""),
        };
        let mut refusal =
            format!("Not a call of this tool. At {place} its input schema asks for {allowed}.");
        refusal.truncate(refusal.floor_char_boundary(REFUSAL_BYTES_MAX));
        refusal
    }
}
