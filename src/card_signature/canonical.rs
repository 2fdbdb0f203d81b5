//! The canonical form of a card: what signatures are made over.

use serde_json::{Map, Value};

use crate::card::Valid;
use crate::json::canonical;

/// Returns the card without its signatures, as RFC 8785 writes it. Being valid, it has no property
/// twice, no half of a character and no number, so that there is one such form.
pub(super) fn payload(card: &Valid<'_>) -> Vec<u8> {
    let mut members: Map<String, Value> =
        serde_json::from_str(card.text()).expect("a valid card is a JSON object");
    members.remove("signatures");
    canonical(&Value::Object(members))
}

/// Returns a pointer to the first thing in which a payload differs from that of the card; nothing
/// when it says the same in another form, or is no JSON.
pub(super) fn difference(card: &[u8], payload: &[u8]) -> Option<String> {
    let card: Value = serde_json::from_slice(card).ok()?;
    let payload: Value = serde_json::from_slice(payload).ok()?;
    let mut pointer = String::new();
    differs(&card, &payload, &mut pointer).then_some(pointer)
}

fn differs(a: &Value, b: &Value, pointer: &mut String) -> bool {
    let length = pointer.len();
    let mut part = |step: &str, a: Option<&Value>, b: Option<&Value>| {
        pointer.push('/');
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        let found = match (a, b) {
            (Some(a), Some(b)) => differs(a, b, pointer),
            (None, None) => false,
            _ => true,
        };
        if !found {
            pointer.truncate(length);
        }
        found
    };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().any(|name| part(name, a.get(name), b.get(name)))
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len()))
            .any(|place| part(&place.to_string(), a.get(place), b.get(place))),
        _ => a != b,
    }
}

#[cfg(test)]
mod tests;
