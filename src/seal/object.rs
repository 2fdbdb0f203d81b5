//! JSON objects read strictly: that a name stands twice is not lost.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// The members of an object, in their order.
#[derive(Debug)]
pub(super) struct Object<T = Value> {
    members: Vec<(String, T)>,
    /// A name stands twice.
    pub(super) has_twice: bool,
}

impl<T> Object<T> {
    /// Returns the value of a name.
    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl Object {
    /// Returns the string of a name.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Members(PhantomData))
    }
}

struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = Object { members: Vec::new(), has_twice: false };
        while let Some((name, value)) = map.next_entry::<String, T>()? {
            object.has_twice |= object.get(&name).is_some();
            object.members.push((name, value));
        }
        Ok(object)
    }
}
