//! JSON objects, read strictly.
//!
//! Most readers silently keep the last of two members of one name, so that the code that checks a document and the
//! code that acts on it can see different values. Here a repeated name is a fault, names are compared after their escapes are
//! undone, and values stay text until they are asked for.

mod canonical;
pub mod schema;
mod strict;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::str::FromStr;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer as _, Error as _, IgnoredAny, MapAccess,
    Visitor,
};
use serde_json::value::RawValue;

pub use canonical::canonical;
pub use strict::read;

/// Most members of an object of which all are read. Repeated names are looked for by comparing all pairs.
const MEMBERS_MAX: usize = 128;

/// Why a text is not an object that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is another value, or no JSON, or something follows it.
    Malformed,
    /// A name is repeated.
    Duplicate,
    /// An object has more than 128 members, or a document more values than its reader allows.
    TooMany,
}

/// An object and its members, each as it was written.
pub struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Reads an object with all of its members.
    ///
    /// # Errors
    /// By what is wrong with it.
    pub fn read(json: &'a [u8]) -> Result<Self, Fault> {
        Self::read_where(json, None)
    }

    /// Reads an object with the members of these names. All others are skipped where they stand, however
    /// many they are; only a wanted name that is repeated is a fault.
    ///
    /// # Errors
    /// By what is wrong with it.
    pub fn read_members(json: &'a [u8], wanted: &[&str]) -> Result<Self, Fault> {
        Self::read_where(json, Some(wanted))
    }

    fn read_where(json: &'a [u8], wanted: Option<&[&str]>) -> Result<Self, Fault> {
        // serde errors carry a text only, so the kind of fault goes around them.
        let fault = Cell::new(Fault::Malformed);
        let mut document = serde_json::Deserializer::from_slice(json);
        let members = document.deserialize_map(Members { wanted, fault: &fault });
        let whole = members.and_then(|members| document.end().map(|()| Self(members)));
        whole.map_err(|_| fault.get())
    }

    /// Says whether there is a member of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// Says whether there are no members but of these names.
    #[must_use]
    pub fn has_only(&self, names: &[&str]) -> bool {
        self.0.iter().all(|(name, _)| names.contains(&name.as_ref()))
    }

    /// Returns a member as it was written.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Returns a member if it is of the wanted type.
    #[must_use]
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// Returns a member if it is text of 1 to `max` bytes.
    #[must_use]
    pub fn text(&self, name: &str, max: usize) -> Option<String> {
        self.member::<String>(name).filter(|text| (1..=max).contains(&text.len()))
    }

    /// Returns what a member stands for if it is text of 1 to `max` bytes.
    #[must_use]
    pub fn parsed<T: FromStr>(&self, name: &str, max: usize) -> Option<T> {
        self.text(name, max)?.parse().ok()
    }

    /// Says whether a member is this text.
    #[must_use]
    pub fn is(&self, name: &str, text: &str) -> bool {
        self.member::<String>(name).as_deref() == Some(text)
    }

    /// Returns a member that is an object, with all of its members.
    ///
    /// # Errors
    /// [`Fault::Malformed`] when there is none or it is something else, otherwise as [`Object::read`].
    pub fn object(&self, name: &str) -> Result<Self, Fault> {
        Self::read(self.raw(name).ok_or(Fault::Malformed)?.get().as_bytes())
    }
}

/// Returns how deep the arrays and objects of a document are nested; of one that is not JSON, any number.
#[must_use]
pub fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            // Outside a text a backslash is no JSON, so it does not matter what is counted there.
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Reads members, all of them or the wanted ones, and notes a fault that is not one of syntax.
struct Members<'w> {
    wanted: Option<&'w [&'w str]>,
    fault: &'w Cell<Fault>,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Self::Value::new();
        while let Some(name) = map.next_key_seed(Name)? {
            if self.wanted.is_some_and(|wanted| !wanted.contains(&name.as_ref())) {
                // `IgnoredAny` still checks the syntax of what it skips.
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let fault = if members.iter().any(|(known, _)| *known == name) {
                Some(Fault::Duplicate)
            } else if members.len() == MEMBERS_MAX {
                Some(Fault::TooMany)
            } else {
                None
            };
            if let Some(fault) = fault {
                self.fault.set(fault);
                return Err(A::Error::custom("a repeated name, or too many members"));
            }
            members.push((name, map.next_value()?));
        }
        Ok(members)
    }
}

/// Reads a name, without a copy unless it has escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> Option<Fault> {
        Object::read(json.as_bytes()).err()
    }

    #[test]
    fn a_repeated_name_is_a_fault_in_any_spelling() {
        assert_eq!(fault(r#"{"a":1,"b":{"a":2}}"#), None);
        assert_eq!(fault(r#"{"a":1,"a":1}"#), Some(Fault::Duplicate));
        assert_eq!(fault(r#"{"a":1,"\u0061":1}"#), Some(Fault::Duplicate));
    }

    #[test]
    fn anything_but_one_object_is_malformed() {
        for json in
            ["", "[]", "null", "\"{}\"", "{", "{}}", "{} x", "{\"a\"}", "{\"a\":}", "\u{feff}{}"]
        {
            assert_eq!(fault(json), Some(Fault::Malformed), "{json}");
        }
        assert_eq!(Object::read(b"{\"\xff\":1}").err(), Some(Fault::Malformed));
    }

    #[test]
    fn members_are_limited_unless_they_are_skipped() {
        let wide = |count: usize| {
            let members: Vec<String> = (0..count).map(|n| format!("\"m{n}\":{n}")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert_eq!(fault(&wide(MEMBERS_MAX)), None);
        assert_eq!(fault(&wide(MEMBERS_MAX + 1)), Some(Fault::TooMany));
        let json = wide(1_000);
        let some = Object::read_members(json.as_bytes(), &["m999", "absent"]).ok().unwrap();
        assert_eq!(some.member::<u32>("m999"), Some(999));
        assert!(!some.has("absent") && !some.has("m1"));
    }

    #[test]
    fn only_a_wanted_name_may_not_be_repeated() {
        let json = br#"{"a":1,"b":1,"b":2}"#;
        assert!(Object::read_members(json, &["a"]).is_ok());
        assert_eq!(Object::read_members(json, &["b"]).err(), Some(Fault::Duplicate));
    }

    #[test]
    fn brackets_in_text_are_not_depth() {
        assert_eq!(depth(br#"{"a":["[[{",{}]}"#), 3);
        assert_eq!(depth(br#"{"a":"\"[[[["}"#), 1);
    }
}
