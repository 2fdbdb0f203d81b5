//! One JSON object, read strictly: no name stands twice, and members are looked into only when asked.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How deep a document may be nested; what is real has three levels.
const DEPTH_MAX: usize = 8;
/// Members an object may have.
const MEMBERS_MAX: usize = 128;

/// An object and its members, each as it was written.
pub(super) struct Object<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Object<'a> {
    /// Reads an object; nothing when it is none, or a name stands twice.
    pub(super) fn read(json: &'a [u8]) -> Option<Self> {
        if depth(json) > DEPTH_MAX {
            return None;
        }
        serde_json::from_slice::<Members<'a>>(json).ok().map(|members| Self(members.0))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns a member that is of the wanted type.
    pub(super) fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// Returns a member as it was written.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied()
    }

    /// Returns text of at most `max` bytes, and not empty.
    pub(super) fn text(&self, name: &str, max: usize) -> Option<String> {
        self.member::<String>(name).filter(|text| (1..=max).contains(&text.len()))
    }

    /// Returns what a text stands for: the forge writes its numbers as text.
    pub(super) fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name, 32)?.parse().ok()
    }
}

/// Returns how deep a document is nested; of one that is not well-formed, anything.
fn depth(json: &[u8]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => now += 1,
            b'}' | b']' if !in_text => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}

struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Unique).map(Members)
    }
}

struct Unique;

impl<'de> Visitor<'de> for Unique {
    type Value = BTreeMap<String, &'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object in which no name stands twice")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            if members.insert(name, value).is_some() || members.len() > MEMBERS_MAX {
                return Err(A::Error::custom("a name stands twice, or there are too many"));
            }
        }
        Ok(members)
    }
}
