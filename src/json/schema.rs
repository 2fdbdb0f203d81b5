//! JSON Schemas of this program: values are checked with the very schema that is published.

use std::collections::BTreeSet;
use std::fmt;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// Longest description of what a schema allows, in bytes: a schema may allow a lot.
const ALLOWED_BYTES_MAX: usize = 900;

/// What schemas are written in.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema that was compiled once. Formats such as `date-time` are not asserted.
pub struct Schema {
    document: Value,
    validator: Validator,
}

/// Where a value does not fit its schema, and what the schema allows there. It repeats nothing of the value but names
/// that are in the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// A JSON pointer into the value; empty for the value itself.
    pub place: String,
    /// The part of the schema that refused it, at most 900 bytes.
    pub allowed: String,
}

impl Schema {
    /// Compiles a schema. Nothing is fetched for it.
    ///
    /// # Panics
    /// When it is no schema: schemas are part of the program.
    #[must_use]
    pub fn new(document: Value) -> Self {
        let validator = jsonschema::draft202012::new(&document);
        let validator = validator.expect("the schemas are part of the program");
        Self { document, validator }
    }

    /// Returns the schema as it is published.
    #[must_use]
    pub const fn document(&self) -> &Value {
        &self.document
    }

    /// Checks a value.
    ///
    /// # Errors
    /// With the first difference that is found.
    pub fn check(&self, value: &Value) -> Result<(), Mismatch> {
        let Some(error) = self.validator.iter_errors(value).next() else { return Ok(()) };
        let place = error.instance_path().to_string();
        Err(Mismatch { place, allowed: self.allowed(&error.schema_path().to_string()) })
    }

    fn allowed(&self, keyword_path: &str) -> String {
        let (parent, keyword) = keyword_path.rsplit_once('/').unwrap_or(("", keyword_path));
        let mut allowed = match (keyword, self.document.pointer(parent)) {
            // The keyword is only `false`, which tells the caller nothing; the names that are allowed do.
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
        allowed.truncate(allowed.floor_char_boundary(ALLOWED_BYTES_MAX));
        allowed
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, allowed } = self;
        let place = if place.is_empty() { "the top" } else { place };
        write!(f, "at {place} the schema asks for {allowed}")
    }
}

/// Returns one definition of a document as a schema that stands alone: with the definitions that it refers to, and no
/// others. `None` if the document has no definition of that name.
#[must_use]
pub fn definition(document: &Value, name: &str) -> Option<Value> {
    const PREFIX: &str = "#/$defs/";
    let definitions = document.get("$defs")?.as_object()?;
    let mut found = definitions.get(name)?;
    // A definition that is another one under a second name.
    while let Some(other) = found.get("$ref").and_then(Value::as_str) {
        found = definitions.get(other.strip_prefix(PREFIX)?)?;
    }
    let mut alone = found.as_object()?.clone();
    let mut needed = Map::new();
    let mut ahead = BTreeSet::new();
    references(found, PREFIX, &mut ahead);
    while let Some(next) = ahead.pop_first() {
        let definition = definitions.get(next)?;
        if needed.insert(next.to_owned(), definition.clone()).is_none() {
            references(definition, PREFIX, &mut ahead);
            // Definitions may refer to each other in a circle.
            ahead.retain(|name| !needed.contains_key(*name));
        }
    }
    alone.insert("$schema".to_owned(), json!(DIALECT));
    if !needed.is_empty() {
        alone.insert("$defs".to_owned(), Value::Object(needed));
    }
    Some(Value::Object(alone))
}

/// Notes the names of the definitions that a schema refers to.
fn references<'v>(schema: &'v Value, prefix: &str, names: &mut BTreeSet<&'v str>) {
    match schema {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str);
            names.extend(name.and_then(|name| name.strip_prefix(prefix)));
            members.values().for_each(|value| references(value, prefix, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, prefix, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_stands_alone() {
        let document = json!({"$defs": {
            "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}},
            "b": {"type": "array", "items": {"$ref": "#/$defs/b"}, "maxItems": 1},
            "c": {"$ref": "#/$defs/a"},
            "d": {"type": "string"},
        }});
        let alone = definition(&document, "c").unwrap();
        let names: Vec<&String> = alone["$defs"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["b"]);
        let schema = Schema::new(alone);
        assert_eq!(schema.check(&json!({"b": [[[]]]})), Ok(()));
        let mismatch = schema.check(&json!({"b": [[[], []]]})).unwrap_err();
        assert_eq!(mismatch.to_string(), "at /b/0 the schema asks for \"maxItems\": 1");
        assert_eq!(definition(&document, "d").unwrap().get("$defs"), None);
        assert_eq!(definition(&document, "e"), None);
    }

    #[test]
    fn a_mismatch_repeats_nothing_of_the_value() {
        let schema = Schema::new(json!({
            "type": "object", "additionalProperties": false, "properties": {"a": {"const": 1}},
        }));
        for value in [json!({"cafe": 1}), json!({"a": "cafe"}), json!("cafe"), json!(["cafe"])] {
            let mismatch = schema.check(&value).unwrap_err().to_string();
            assert!(!mismatch.contains("cafe"), "{mismatch}");
        }
    }
}
