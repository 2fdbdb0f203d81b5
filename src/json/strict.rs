//! JSON values, read strictly at every depth, with a limit on what reading them may cost.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Fault;

/// Reads one value and nothing after it. A name that is repeated in any object is a fault.
///
/// A value in memory takes far more than its text: `[[],[],…]` some twenty times as much. So at most `values_max`
/// values are made, arrays and objects included.
///
/// # Errors
/// By what is wrong with the text; [`Fault::TooMany`] when it has more values. A number that is larger than any
/// double is malformed, and so is a text that is nested deeper than 128.
pub fn read(json: &[u8], values_max: usize) -> Result<Value, Fault> {
    let state = State { left: Cell::new(values_max), fault: Cell::new(Fault::Malformed) };
    let mut document = serde_json::Deserializer::from_slice(json);
    let value = Strict(&state).deserialize(&mut document);
    value.and_then(|value| document.end().map(|()| value)).map_err(|_| state.fault.get())
}

struct State {
    left: Cell<usize>,
    fault: Cell<Fault>,
}

#[derive(Clone, Copy)]
struct Strict<'s>(&'s State);

impl Strict<'_> {
    fn fail<E: Error>(self, fault: Fault) -> E {
        self.0.fault.set(fault);
        E::custom("a repeated name, or too many values")
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        // Counted before the value is made: the limit is on memory.
        let left = self.0.left.get().checked_sub(1);
        let left = left.ok_or_else(|| self.fail::<D::Error>(Fault::TooMany))?;
        self.0.left.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number =
            Number::from_f64(value).ok_or_else(|| E::custom("a number without a value"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(self)?;
            if object.insert(name, value).is_some() {
                return Err(self.fail(Fault::Duplicate));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(json: &str) -> Result<Value, Fault> {
        read(json.as_bytes(), 10_000)
    }

    #[test]
    fn values_are_read_as_they_are() {
        let text = r#"{"a":[null,true,-1,18446744073709551615,2.5,"\u00e9\ud83d\ude00"],"":{}}"#;
        assert_eq!(value(text), Ok(serde_json::from_str(text).unwrap()));
        assert_eq!(value(" [ ] "), Ok(json!([])));
    }

    #[test]
    fn a_repeated_name_is_a_fault_at_every_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#] {
            assert_eq!(value(text), Err(Fault::Duplicate), "{text}");
        }
        assert_eq!(
            value(r#"{"a":{"a":1},"b":{"a":1}}"#),
            Ok(json!({"a": {"a": 1}, "b": {"a": 1}}))
        );
    }

    #[test]
    fn what_is_no_json_is_malformed() {
        let deep = "[".repeat(1_000);
        for text in ["", "{", "1 2", "NaN", "1e999", "'a'", r#""\ud800""#, "\u{feff}{}", &deep] {
            assert_eq!(value(text), Err(Fault::Malformed), "{text}");
        }
        assert_eq!(read(b"\"\xff\"", 100), Err(Fault::Malformed));
    }

    #[test]
    fn values_are_limited() {
        let text = r#"{"a":[1,2],"b":{}}"#;
        assert!(read(text.as_bytes(), 5).is_ok());
        assert_eq!(read(text.as_bytes(), 4), Err(Fault::TooMany));
    }
}
