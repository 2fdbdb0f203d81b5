//! A few fields of a JSON object, by name, without building the rest: what is not asked for is
//! skipped where it stands, however deep, and nested values stay text until they are read.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::Unusable;
use crate::domain::id::InvalidId;

/// The text of one value; nothing when the field is absent.
#[derive(Clone, Copy)]
pub(super) struct Field<'a>(Option<&'a str>);

impl<'a> Field<'a> {
    const ABSENT: Self = Self(None);

    /// Returns the text of an object; it is read, and found malformed, by [`Field::fields`].
    pub(super) fn object(text: &'a str) -> Result<Self, Unusable> {
        let text = text.trim_ascii_start();
        if text.starts_with('{') { Ok(Self(Some(text))) } else { Err(Unusable::NotAnObject) }
    }

    /// Returns its fields; all absent when it is no object.
    pub(super) fn fields<const N: usize>(
        self,
        names: [&'static str; N],
    ) -> Result<[Self; N], Unusable> {
        let Some(text) = self.0.filter(|text| text.starts_with('{')) else {
            return Ok([Self::ABSENT; N]);
        };
        let mut json = serde_json::Deserializer::from_str(text);
        let read = json.deserialize_map(Object(names)).and_then(|read| json.end().map(|()| read));
        read.map_err(|error| match error.classify() {
            Category::Data => Unusable::DuplicateField,
            Category::Io | Category::Syntax | Category::Eof => Unusable::Malformed,
        })
    }

    /// Visits its elements in order; none when it is no list.
    pub(super) fn each(
        self,
        visit: impl FnMut(Self) -> Result<(), Unusable>,
    ) -> Result<(), Unusable> {
        let Some(text) = self.0.filter(|text| text.starts_with('[')) else { return Ok(()) };
        let mut json = serde_json::Deserializer::from_str(text);
        json.deserialize_seq(List(visit)).map_err(|_| Unusable::Malformed)?
    }

    pub(super) fn text(self) -> Option<String> {
        serde_json::from_str(self.0?).ok()
    }

    pub(super) fn id<T: TryFrom<i64, Error = InvalidId>>(self) -> Option<T> {
        T::try_from(serde_json::from_str::<i64>(self.0?).ok()?).ok()
    }

    pub(super) fn is_true(self) -> bool {
        self.0 == Some("true")
    }
}

/// Reads an object, keeping the named fields.
struct Object<const N: usize>([&'static str; N]);

impl<'de, const N: usize> Visitor<'de> for Object<N> {
    type Value = [Field<'de>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [Field::ABSENT; N];
        while let Some(place) = map.next_key_seed(Name(&self.0))? {
            match place.and_then(|place| found.get_mut(place)) {
                Some(Field(Some(_))) => return Err(A::Error::custom("duplicate field")),
                Some(field) => *field = Field(Some(map.next_value::<&RawValue>()?.get())),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

/// Reads a name, and returns its place among the names asked for. Escapes in it are undone first,
/// so that another spelling of a name is the same name.
struct Name<'a>(&'a [&'static str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|wanted| *wanted == name))
    }
}

/// Reads a list, handing over each element as text.
struct List<F>(F);

impl<'de, F: FnMut(Field<'de>) -> Result<(), Unusable>> Visitor<'de> for List<F> {
    type Value = Result<(), Unusable>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut outcome = Ok(());
        while let Some(element) = list.next_element::<&RawValue>()? {
            outcome = outcome.and_then(|()| (self.0)(Field(Some(element.get()))));
        }
        Ok(outcome)
    }
}
