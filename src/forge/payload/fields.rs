//! A few fields of a JSON object, by name, without building the rest: what is not asked for is
//! skipped where it stands, however deep, and nested values stay text until they are read.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Unusable;
use crate::domain::id::InvalidId;
use crate::json::{self, Object};

/// The text of one value; `None` when the field is absent.
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
        let object =
            Object::read_members(text.as_bytes(), &names).map_err(|fault| match fault {
                json::Fault::Duplicate => Unusable::DuplicateField,
                json::Fault::Malformed | json::Fault::TooMany => Unusable::Malformed,
            })?;
        Ok(names.map(|name| Self(object.raw(name).map(RawValue::get))))
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
            // Read to the end even after a failure: serde demands that a visitor consumes the whole list.
            outcome = outcome.and_then(|()| (self.0)(Field(Some(element.get()))));
        }
        Ok(outcome)
    }
}
