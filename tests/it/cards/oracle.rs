//! The second opinion: the published JSON Schemas, run by a crate that shares nothing with the checker,
//! behind a parser that shares nothing with it either.

use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use svc::card::{Variant, schema};

static VALIDATORS: LazyLock<Vec<(Variant, Validator)>> =
    LazyLock::new(|| Variant::ALL.iter().map(|variant| (*variant, validator(*variant))).collect());

fn validator(variant: Variant) -> Validator {
    let schema = serde_json::from_str(schema(variant)).unwrap();
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap()
}

/// Returns the variant a text is a valid card of.
pub(crate) fn verdict(text: &[u8]) -> Option<Variant> {
    serde_json::from_slice::<Unique>(text).ok()?;
    let card = serde_json::from_slice(text).ok()?;
    let valid: Vec<Variant> = VALIDATORS
        .iter()
        .filter(|(_, validator)| validator.is_valid(&card))
        .map(|(variant, _)| *variant)
        .collect();
    assert!(valid.len() < 2, "the variants overlap");
    valid.first().copied()
}

/// JSON in which no property is repeated.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Unique;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut names = HashSet::new();
        while let Some((name, _)) = members.next_entry::<String, Unique>()? {
            if !names.insert(name) {
                return Err(serde::de::Error::custom("a property is repeated"));
            }
        }
        Ok(Unique)
    }
}
